"""The tables, once, for every database.

Three types, so that the same tables stand on SQLite and on PostgreSQL: TEXT, compared and put in order by code point on
both; WHOLE, up to 2**53 on both; bytes. What a database needs on top (the word index of turns) is made by its
migration. Keys of a person's rows start (tenant, subject), keys of a
thread's rows (tenant, subject, thread), in columns of their own. Times are stored to be shown; no query orders by one.
Lists inside a row are JSON text, so that a row can be read, or found unreadable, on its own.

A column marked "page" is never read by code that builds a context.
"""

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import BigInteger

# Revisions of the schema that this program can bring up to date, oldest first; the last one is what it works with.
REVISIONS = ("0001", "0002", "0003")

TEXT = Text().with_variant(Text(collation="C"), "postgresql")
WHOLE = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _text(name: str) -> Column[str]:
    return Column(name, TEXT, nullable=False)


def _whole(name: str) -> Column[int]:
    return Column(name, WHOLE, nullable=False, autoincrement=False)


def _subject() -> list[Column[str]]:
    return [_text("tenant"), _text("subject")]


def _thread() -> list[Column[str]]:
    return [_text("tenant"), _text("subject"), _text("thread")]


def _turn() -> list[Column[str] | Column[int]]:
    return [*_thread(), _whole("seq"), _whole("attempt")]


SUBJECT = ("tenant", "subject")
THREAD = ("tenant", "subject", "thread")
TURN = ("tenant", "subject", "thread", "seq", "attempt")


def _of(parent: str, key: tuple[str, ...]) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(key, [f"{parent}.{column}" for column in key])


# What belongs to the database as a whole: name -> bytes. `secret` is 32 bytes made with it.
meta = Table(
    "meta", metadata, _text("name"), Column("value", LargeBinary, nullable=False), PrimaryKeyConstraint("name")
)

# Numbers given out once and never again: `thread`, `owner`, `document`.
counters = Table("counters", metadata, _text("name"), _whole("last"), PrimaryKeyConstraint("name"))

# `number` counts the subject's turns over all threads: the order of the profile's fold.
subjects = Table("subjects", metadata, *_subject(), _whole("number"), PrimaryKeyConstraint(*SUBJECT))

threads = Table(
    "threads",
    metadata,
    *_thread(),
    _whole("handle"),  # stands for the thread in the full-text index
    _text("title"),  # page
    _whole("deltas"),  # 0 or 1
    _whole("turns"),  # seq of the last turn
    _whole("sources"),  # the last source number given out
    _whole("number"),  # the subject's number of the last turn; 0 when there is none
    _whole("running"),  # seq of the turn being answered, or 0
    _whole("running_attempt"),
    _text("owner"),  # page: token of the store that is answering it
    _text("asked_at"),  # page
    _text("expires_at"),  # when a temporary thread is deleted, ISO 8601 in UTC; empty for all others
    PrimaryKeyConstraint(*THREAD),
    _of("subjects", SUBJECT),
    UniqueConstraint("handle"),
    CheckConstraint("deltas in (0, 1)", name="deltas"),
    Index(None, "tenant", "subject", "number"),
)

turns = Table(
    "turns",
    metadata,
    *_turn(),
    _text("client_id"),  # page
    _whole("number"),
    _text("status"),
    _text("reason"),
    _text("searched"),  # page
    _text("asked_at"),  # page
    _text("zone"),  # page
    _text("day"),
    _whole("superseded"),  # 0 or 1
    _whole("window_start"),
    _text("forgotten"),  # a day, or empty
    _text("cited"),  # JSON: [n, ...]
    _text("followups"),  # page; JSON: [text, ...]
    _text("usage"),  # page; JSON object
    _text("question"),
    _text("answer"),
    _text("exchanges"),  # JSON: [{role, content, tool_calls, tool_call_id}, ...]
    PrimaryKeyConstraint(*TURN),
    _of("threads", THREAD),
    UniqueConstraint("tenant", "subject", "thread", "client_id"),
)

tool_calls = Table(
    "tool_calls",
    metadata,
    *_turn(),
    _whole("place"),  # from 0
    _whole("call"),
    _text("id"),
    _text("name"),
    _text("arguments"),
    _text("result"),
    _text("said"),
    PrimaryKeyConstraint(*TURN, "place"),
    _of("turns", TURN),
)

# Text by what it is: stored sources, instructions.
texts = Table("texts", metadata, *_subject(), _text("digest"), _text("text"), PrimaryKeyConstraint(*SUBJECT, "digest"))

sources = Table(
    "sources",
    metadata,
    *_thread(),
    _whole("n"),
    _text("locator"),  # page
    _text("url"),  # page
    _text("title"),
    _text("host"),
    _text("depth"),
    _text("digest"),
    PrimaryKeyConstraint(*THREAD, "n"),
    _of("threads", THREAD),
    _of("texts", ("tenant", "subject", "digest")),
    UniqueConstraint("tenant", "subject", "thread", "locator"),
)

# Which sources a turn has read; `place` is the order of the first reading.
turn_sources = Table(
    "turn_sources",
    metadata,
    *_turn(),
    _whole("n"),
    _whole("place"),
    PrimaryKeyConstraint(*TURN, "n"),
    _of("turns", TURN),
    _of("sources", (*THREAD, "n")),
)

# Page, all of it.
citations = Table(
    "citations",
    metadata,
    *_turn(),
    _whole("place"),  # order in the answer, from 0
    _whole("n"),
    _whole("position"),
    _whole("sentence_start"),
    _whole("sentence_end"),
    _text("digest"),
    _text("passage"),  # JSON: [[start, end], ...]
    Column("score", Float, nullable=False),
    _whole("checkable"),  # 0 or 1
    _text("missing"),  # JSON: [[kind, text], ...]
    PrimaryKeyConstraint(*TURN, "place"),
    _of("turns", TURN),
)

delta_jobs = Table(
    "delta_jobs",
    metadata,
    *_turn(),
    _text("status"),
    _text("answer"),
    _whole("tries"),
    _text("reason"),
    PrimaryKeyConstraint(*TURN),
    _of("turns", TURN),
    Index(None, "tenant", "subject", "thread", "status", "seq"),
)

deltas = Table(
    "deltas",
    metadata,
    *_turn(),
    _whole("correction"),
    _whole("number"),
    _text("changes"),  # JSON: [change, ...]
    PrimaryKeyConstraint(*TURN, "correction"),
    _of("turns", TURN),
    Index(None, "tenant", "subject", "number", "correction"),
)

states = Table(
    "states",
    metadata,
    *_thread(),
    _whole("version"),
    _text("body"),
    PrimaryKeyConstraint(*THREAD),
    _of("threads", THREAD),
)

profiles = Table(
    "profiles",
    metadata,
    *_subject(),
    _whole("version"),
    _text("body"),
    PrimaryKeyConstraint(*SUBJECT),
    _of("subjects", SUBJECT),
)

receipts = Table(
    "receipts",
    metadata,
    *_turn(),
    _whole("call"),
    _text("purpose"),
    _text("body"),
    PrimaryKeyConstraint(*TURN, "call"),
    _of("turns", TURN),
)

# What model calls took, in tokens. No content. Page.
usage = Table(
    "usage",
    metadata,
    *_turn(),
    _whole("number"),  # from 1 within the turn
    _text("purpose"),
    _text("model"),  # provider:model
    _text("day"),  # in UTC
    _whole("input"),
    _whole("output"),
    _whole("cached"),
    _whole("cache_written"),
    _whole("reasoning"),
    PrimaryKeyConstraint(*TURN, "number"),
    _of("turns", TURN),
    Index(None, "tenant", "subject", "day"),
)

# Logs. seq 0 and attempt 0 is the thread's own, so there is no foreign key to a turn.
events = Table(
    "events",
    metadata,
    *_turn(),
    _whole("number"),
    _text("body"),
    PrimaryKeyConstraint(*TURN, "number"),
    _of("threads", THREAD),
)

# What recall can find. `id` holds the turn's seq in its high bits (see lumina.stores.recall): ids go up with the turns.
passages = Table(
    "passages",
    metadata,
    *_thread(),
    Column("id", BigInteger, nullable=False, autoincrement=False),
    _whole("seq"),
    _whole("attempt"),
    _text("part"),
    _whole("start"),
    _whole("end"),
    PrimaryKeyConstraint(*THREAD, "id"),
    _of("turns", TURN),
)

# Embeddings of passages, when an embedder is set: float32, little endian, of length 1. One a passage, by one embedder.
vectors = Table(
    "vectors",
    metadata,
    *_thread(),
    Column("id", BigInteger, nullable=False, autoincrement=False),
    _text("embedder"),  # its name, which stands for model and dimensions
    Column("vector", LargeBinary, nullable=False),
    PrimaryKeyConstraint(*THREAD, "id"),
    _of("passages", (*THREAD, "id")),
)

# Who read, corrected, exported, forgot; never what. It outlives what it tells of, so it has no foreign key. Page.
audit = Table(
    "audit",
    metadata,
    *_subject(),
    _whole("number"),  # from 1 within the subject
    _text("thread"),  # empty when it was about the subject
    _text("action"),
    _text("by"),
    _text("at"),
    _text("detail"),  # JSON object: numbers of turns, counts; no content
    PrimaryKeyConstraint(*SUBJECT, "number"),
)

# Whose documents: a tenant's (subject '') or a subject's. `passages` and `words` are sums over them.
owners = Table(
    "owners",
    metadata,
    *_subject(),
    _whole("handle"),  # stands for the owner in document_words
    _whole("passages"),
    _whole("words"),
    PrimaryKeyConstraint(*SUBJECT),
    UniqueConstraint("handle"),
)

documents = Table(
    "documents",
    metadata,
    *_subject(),
    _whole("id"),
    _text("locator"),
    _text("url"),  # page
    _text("title"),
    _text("digest"),
    _whole("passages"),
    _whole("words"),
    _whole("size"),
    _text("added_at"),  # page
    _text("text"),
    PrimaryKeyConstraint(*SUBJECT, "id"),
    _of("owners", SUBJECT),
    UniqueConstraint("id"),
    UniqueConstraint("tenant", "subject", "locator"),
)

document_passages = Table(
    "document_passages",
    metadata,
    *_subject(),
    _whole("document"),
    _whole("ordinal"),
    _whole("start"),
    _whole("end"),
    _text("heading"),
    PrimaryKeyConstraint(*SUBJECT, "document", "ordinal"),
    ForeignKeyConstraint(["tenant", "subject", "document"], ["documents.tenant", "documents.subject", "documents.id"]),
)

# The word index of documents: which passages of a document hold a word (packed by lumina.stores.ranking).
document_words = Table(
    "document_words",
    metadata,
    _whole("owner"),
    _text("form"),
    _whole("document"),
    Column("postings", LargeBinary, nullable=False),
    PrimaryKeyConstraint("owner", "form", "document"),
    ForeignKeyConstraint(["document"], ["documents.id"]),
    Index(None, "document"),
    sqlite_with_rowid=False,
)
