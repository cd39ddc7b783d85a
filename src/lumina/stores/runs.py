"""Who is answering: one lock file for each open store.

A turn that runs carries the token of the store that began it, and that store holds an operating-system lock on
`<database>.runs/<token>` for as long as it is open. The system drops the lock when the process ends, however it ends,
so a free lock means that nobody is answering any more. No clock, heartbeat or process id is involved.
"""

import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path

from lumina.memory.errors import StoreError

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int, shared: bool) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int, shared: bool) -> bool:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


class Runs:
    """The lock of one open store, taken when its first turn begins."""

    def __init__(self, database: Path) -> None:
        self.folder = database.with_name(database.name + ".runs")
        self._token = ""
        self._handle = -1

    @property
    def held(self) -> str:
        """The token of this store, or "" as long as it has begun no turn."""
        return self._token

    def token(self) -> str:
        """The token of this store; its lock is held once this returns."""
        if not self._token:
            try:
                self.folder.mkdir(exist_ok=True)
                self._sweep()
                self._hold()
            except OSError as problem:
                raise StoreError(
                    f"No file can be made in {self.folder} ({problem.strerror}), so a turn cannot be marked as being "
                    "answered. Make the folder writable; nothing was stored."
                ) from None
        return self._token

    def alive(self, token: str) -> bool:
        """Whether the store with this token is still open, in any process of this machine."""
        if token == self._token:
            return bool(token)
        # A token is hexadecimal; anything else in the column is damage, and must not become a path.
        if not token or not all(letter in "0123456789abcdef" for letter in token):
            return False
        path = self.folder / token
        try:
            handle = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return False
        except OSError:
            return True  # the file is there and cannot be looked at: leave its turn alone
        try:
            # A shared lock, so that two stores asking at once do not take each other for the owner.
            free = _take(handle, shared=True)
            if free:
                _remove(path)
            return not free
        finally:
            os.close(handle)

    def release(self) -> None:
        """Gives the lock up; turns that this store left running can then be ended by others."""
        if self._handle >= 0:
            _remove(self.folder / self._token)
            os.close(self._handle)
            _remove(self.folder / self._token)  # Windows removes a file only once it is closed
            with suppress(OSError):
                self.folder.rmdir()  # goes only when it is empty
        self._token, self._handle = "", -1

    def _hold(self) -> None:
        while not self._token:
            self.folder.mkdir(exist_ok=True)
            name = secrets.token_hex(16)
            try:
                handle = os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            except FileNotFoundError:
                continue  # another store was the last to close and removed the folder
            # Between the two calls a sweep may have found the file unlocked and removed it: then take another name.
            if _take(handle, shared=False) and (self.folder / name).exists():
                self._token, self._handle = name, handle
            else:
                os.close(handle)

    def _sweep(self) -> None:
        for name in os.listdir(self.folder):
            self.alive(name)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
