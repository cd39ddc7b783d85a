"""Who is answering, on PostgreSQL: one advisory lock for each open store.

A turn that runs carries the token of the store that began it, and that store holds the session lock of its token on a
connection of its own for as long as it is open. The server drops the lock when the connection ends, however it ends, so
a free lock means that nobody is answering any more. No clock, heartbeat or process id is involved.

A connection can also end while its process lives (a network that was cut, a server that was started again). The lock is
then taken again before the next write. Whoever has found it free meanwhile may have ended the turn; what the old owner
goes on writing to it is refused (`lumina.stores.sql.fence`).
"""

import hashlib
import secrets
import threading
import time
from contextlib import suppress

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from lumina.stores.postgresql_connect import connect, patiently

LOOK_AGAIN = 5.0  # seconds after which the lock's connection is looked at before a write
TAKE = text("SELECT pg_advisory_lock(:key)")
TRY = text("SELECT pg_try_advisory_lock_shared(:key)")
GIVE_BACK = text("SELECT pg_advisory_unlock_shared(:key)")
STAY = text("SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'")


def _key(token: str) -> int:
    return int.from_bytes(hashlib.sha256(token.encode("utf-8", "replace")).digest()[:8], signed=True)


class PostgreSQLRuns:
    """The lock of one open store, taken when its first turn begins."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self._engine = connect(url).execution_options(isolation_level="AUTOCOMMIT")
        self._connection: Connection | None = None
        self._token = ""
        self._taken = False
        self._looked = 0.0
        self._one = threading.Lock()

    @property
    def held(self) -> str:
        """The token of this store, or "" as long as it has begun no turn."""
        return self._token

    def token(self) -> str:
        """The token of this store; its lock is held once this returns."""
        self._token = self._token or secrets.token_hex(16)
        with self._one:
            patiently(self._url, self._hold)
        return self._token

    def keep(self) -> None:
        """Takes the lock again if its connection was lost. Asks the server only now and then."""
        if self._token and time.monotonic() - self._looked > LOOK_AGAIN:
            self.token()

    def alive(self, token: str) -> bool:
        """Whether the store with this token is still open, in any process on any machine."""
        if not token or token == self._token:
            return bool(token)

        def asked() -> bool:
            connection = self._hold()
            # A shared lock, so that two stores asking at once do not take each other for the owner.
            free = connection.execute(TRY, {"key": _key(token)}).scalar_one()
            if free:
                connection.execute(GIVE_BACK, {"key": _key(token)})
            return not free

        with self._one:
            return patiently(self._url, asked)

    def release(self) -> None:
        """Gives the lock up; turns that this store left running can then be ended by others."""
        with self._one:
            if self._connection is not None:
                with suppress(SQLAlchemyError):
                    self._connection.close()
            self._connection, self._token = None, ""
            self._engine.dispose()

    def _hold(self) -> Connection:
        """The lock's own connection, alive, with the lock of this store's token if it has one."""
        if self._connection is not None:
            try:
                self._connection.execute(text("SELECT 1"))
            except SQLAlchemyError:
                with suppress(SQLAlchemyError):
                    self._connection.invalidate()
                    self._connection.close()
                self._connection = None
        if self._connection is None:
            self._connection = self._engine.connect()
            self._connection.execute(STAY)
            self._taken = False
        if self._token and not self._taken:
            self._connection.execute(TAKE, {"key": _key(self._token)})
            self._taken = True
        self._looked = time.monotonic()
        return self._connection
