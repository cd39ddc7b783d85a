"""Case M1 on PostgreSQL: the tables are made all at once or not at all, by one of those who open the database."""

import asyncio
from collections.abc import Callable

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import LargeBinary

from lumina.memory.errors import StoreError
from lumina.stores.migrations import upgrade as upgrading
from lumina.stores.opening import open_store
from lumina.stores.postgresql_connect import connect, parse
from lumina.stores.schema import REVISIONS, metadata
from lumina.testing.store_examples import thread_of, told

TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"


@pytest.fixture
def empty(fresh_database: Callable[..., str]) -> str:
    return fresh_database("")


def by_hand(url: str, statement: str) -> list[tuple]:
    with psycopg.connect(url) as connection:
        cursor = connection.execute(statement)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []


@pytest.mark.parametrize("where", ["postgresql_url", "plain_postgresql_url"])
def test_the_migrations_make_the_tables_of_the_schema(where: str, request: pytest.FixtureRequest) -> None:
    engine = connect(parse(request.getfixturevalue(where)))
    # pgvector's type stands for bytes, and is the only thing that differs with it.
    engine.dialect.ischema_names = {**engine.dialect.ischema_names, "vector": LargeBinary}  # type: ignore[attr-defined]
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
    engine.dispose()
    # The word index of turns, and locators that are unique by their MD5, are PostgreSQL's own.
    left = [change for change in found if not (change[0] == "remove_table" and change[1].name == "turn_words")]
    assert sorted(str(change[1].name) for change in left) == [
        "ix_documents_tenant_subject_md5_locator", "ix_sources_tenant_subject_thread_md5_locator",
        "uq_documents_tenant_subject_locator", "uq_sources_tenant_subject_thread_locator",
    ]  # fmt: skip


async def test_of_ten_that_open_a_new_database_at_once_one_migrates_and_the_others_wait(empty: str) -> None:
    stores = await asyncio.gather(*(open_store(empty) for _ in range(10)))
    secrets = await asyncio.gather(*(store.secret() for store in stores))
    assert len(set(secrets)) == 1, "one database, one secret"
    for store in stores:
        await store.close()
    assert by_hand(empty, "SELECT version_num FROM lumina.alembic_version") == [(REVISIONS[-1],)]


async def test_a_migration_that_fails_leaves_nothing_behind(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = upgrading.upgrade

    def breaks(connection: object) -> None:
        whole(connection)  # type: ignore[arg-type]
        raise StoreError("the power went out")

    monkeypatch.setattr(upgrading, "upgrade", breaks)
    with pytest.raises(StoreError, match="power"):
        await open_store(empty)
    assert by_hand(empty, TABLES) == [(0,)]
    assert by_hand(empty, "SELECT to_regnamespace('lumina')::text") == [(None,)]
    monkeypatch.undo()
    store = await open_store(empty)
    await told(store, thread_of(), "works")
    await store.close()


async def test_a_newer_schema_is_refused_and_left_untouched(postgresql_url: str) -> None:
    by_hand(postgresql_url, "UPDATE lumina.alembic_version SET version_num = '0999'")
    with pytest.raises(StoreError, match="newer version") as refusal:
        await open_store(postgresql_url)
    assert "'0999'" in str(refusal.value)
    assert by_hand(postgresql_url, "SELECT version_num FROM lumina.alembic_version") == [("0999",)]


async def test_tables_of_another_program_are_neither_seen_nor_touched(empty: str) -> None:
    by_hand(empty, "CREATE TABLE threads (theirs text); INSERT INTO threads VALUES ('kept')")
    by_hand(empty, "CREATE TABLE alembic_version (version_num text); INSERT INTO alembic_version VALUES ('theirs')")
    store = await open_store(empty)
    await told(store, thread_of(), "hello")
    await store.close()
    assert by_hand(empty, "SELECT theirs FROM public.threads") == [("kept",)]
    assert by_hand(empty, "SELECT version_num FROM public.alembic_version") == [("theirs",)]


async def test_a_schema_of_our_name_that_is_anothers_is_left_as_it_is(empty: str) -> None:
    by_hand(empty, "CREATE SCHEMA lumina; CREATE TABLE lumina.theirs (x int)")
    with pytest.raises(StoreError, match="another program"):
        await open_store(empty)
    assert by_hand(empty, TABLES) == [(1,)]


async def test_an_encoding_that_cannot_keep_every_text_is_refused(fresh_database: Callable[..., str]) -> None:
    url = fresh_database("TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    with pytest.raises(StoreError, match="LATIN1"):
        await open_store(url)


async def test_the_user_may_use_a_schema_that_was_made_for_them(empty: str) -> None:
    by_hand(
        empty,
        "CREATE ROLE plain LOGIN; REVOKE CREATE ON DATABASE "
        + empty.partition("?")[0].rpartition("/")[2]
        + " FROM PUBLIC",
    )
    theirs = empty.replace("postgres:@", "plain@").replace("postgres@", "plain@")
    assert theirs != empty
    try:
        with pytest.raises(StoreError, match="CREATE SCHEMA lumina AUTHORIZATION plain"):
            await open_store(theirs)
        by_hand(empty, "CREATE SCHEMA lumina AUTHORIZATION plain")
        store = await open_store(theirs)
        await told(store, thread_of(), "hello")
        await store.close()
    finally:
        by_hand(empty, "DROP OWNED BY plain CASCADE; DROP ROLE plain")


async def test_a_commit_is_on_the_disk_before_it_is_acknowledged(postgresql_url: str) -> None:
    name = postgresql_url.partition("?")[0].rpartition("/")[2]
    by_hand(postgresql_url, f"ALTER DATABASE {name} SET synchronous_commit = off")
    store = await open_store(postgresql_url)

    def setting(connection) -> str:  # type: ignore[no-untyped-def]
        return connection.exec_driver_sql("SHOW synchronous_commit").scalar()

    assert await store._write(setting) == "on"  # type: ignore[attr-defined]
    await store.close()
