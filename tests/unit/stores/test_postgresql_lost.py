"""Case C6: a connection that drops around a commit. What is said afterwards is true, and nothing happens twice.

A proxy stands between the store and a real server and cuts the connection at a COMMIT: before the server has it, or
when it has answered and the answer has not arrived.
"""

import asyncio
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.engine import make_url

from lumina.memory.errors import StoreError
from lumina.stores import postgresql
from lumina.stores.opening import open_store
from lumina.testing.store_examples import asked, ended, thread_of, told

HERE = thread_of()


class Proxy:
    """Passes everything on. `cuts` is what becomes of the next commits: "before", "after" or "pass"."""

    def __init__(self, folder: str, server: str) -> None:
        self.cuts: list[str] = []
        self.cut = 0
        self._server = server
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(f"{folder}/.s.PGSQL.5432")
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(self._server)
            swallow = threading.Event()
            back = threading.Thread(target=self._back, args=(server, client, swallow), daemon=True)
            back.start()
            while data := client.recv(65536):
                how = self.cuts.pop(0) if b"COMMIT\0" in data and self.cuts else "pass"
                self.cut += how != "pass"
                if how == "before":
                    break
                if how == "after":
                    swallow.set()
                server.sendall(data)
                if how == "after":
                    back.join()
                    break
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
                server.shutdown(socket.SHUT_RDWR)

    def _back(self, server: socket.socket, client: socket.socket, swallow: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if swallow.is_set():
                    return
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(postgresql_url: str) -> Iterator[tuple[Proxy, str]]:
    url = make_url(postgresql_url)
    with tempfile.TemporaryDirectory() as folder:
        proxy = Proxy(folder, str(Path(str(url.query["host"])) / ".s.PGSQL.5432"))
        yield proxy, url.update_query_dict({"host": folder}).render_as_string(hide_password=False)
        proxy.close()


@pytest.mark.parametrize("cuts", [["before"], ["after"], ["before", "before", "after"]], ids=" ".join)
async def test_c6_a_connection_cut_at_a_commit_neither_loses_nor_doubles_a_step(
    proxy: tuple[Proxy, str], cuts: list[str]
) -> None:
    between, url = proxy
    store = await open_store(url)
    elsewhere = thread_of(thread="b")
    for scope in (HERE, elsewhere):
        await store.open_thread(scope, deltas=True)
    for n in range(1, 4):
        between.cuts = list(cuts)
        turn, new = await store.begin_turn(HERE, asked(str(n), f"question {n}"))
        assert (turn.seq, new) == (n, True)
        between.cuts = list(cuts)
        assert await store.append_events(HERE, n, 1, ['{"kind": "text", "text": "a"}', '{"a": 2}']) == 1
        between.cuts = list(cuts)
        done = await store.finish_turn(HERE, ended(turn, "Yes.", delta=True, events=('{"last": 1}',)))
        assert (done.status, done.answer) == ("complete", "Yes.")
        between.cuts = list(cuts)
        assert (await store.record_turn(elsewhere, asked(str(n)), ended(), "{}")).seq == n
    assert between.cut == 12 * len(cuts)
    assert [turn.seq for turn in (await store.recent_turns(HERE, limit=99)).turns] == [1, 2, 3]
    assert [[number for number, _ in await store.events(HERE, n, 1)] for n in (1, 2, 3)] == [[1, 2, 3]] * 3
    assert [job.tries for job in await store.delta_jobs(HERE, "waiting")] == [0, 0, 0]
    await store.close()


async def test_c6_an_outcome_that_cannot_be_asked_for_is_not_guessed(
    proxy: tuple[Proxy, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    between, url = proxy
    store = await open_store(url)
    await store.open_thread(HERE, deltas=False)
    monkeypatch.setattr(postgresql, "PATIENCE", -1.0)  # as if the server stayed away
    between.cuts = ["after"]
    with pytest.raises(StoreError, match="same client_id is never stored twice"):
        await store.begin_turn(HERE, asked("1", "Why?"))
    monkeypatch.undo()
    turn, new = await store.begin_turn(HERE, asked("1", "Why?"))
    assert (turn.seq, new) == (1, False), "it was stored, and is found by its client_id"
    await store.close()


async def test_c6_a_server_that_drops_every_connection_is_reached_again(postgresql_url: str) -> None:
    store = await open_store(postgresql_url)
    await told(store, HERE, "one")

    def drop() -> None:
        with psycopg.connect(postgresql_url) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid()"
            )

    for n in range(2, 6):
        await asyncio.to_thread(drop)
        assert len((await store.recent_turns(HERE, limit=99)).turns) == n - 1
        await asyncio.to_thread(drop)
        assert (await told(store, HERE, f"question {n}")).seq == n
    await store.close()
