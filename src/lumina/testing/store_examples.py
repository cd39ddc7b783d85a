"""Small values to fill a store with, for its suite and for whoever tests on top of one."""

from datetime import UTC, datetime

from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.memory.store import AppliedDelta, Snapshot, Store
from lumina.memory.turns import Citation, IndexedPassage, NewSource, NewTurn, ToolRecord, Turn, TurnEnd
from lumina.memory.words import forms

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)

# Ids that a careless key, pattern or fold would take for one another, and for the plain ones among them.
HOSTILE = (
    "a", "A", "a:b", "a::b", "a%", "%", "a_", "_", "a&run_id=b", "a&b", "a/b", "a'b", 'a"b', "a;--", "a*", "a b", "ab",
    "Jose\u0301", "Jos\u00e9", "jos\u00e9", "\u212b", "\u00c5", "ﬁ", "fi", "天気", "👩‍👩‍👧", "\u202eba",
    "0", "00", "a" * 200,
)  # fmt: skip

# Text that breaks what is careless about it, and comes back to the code point.
ODD = (
    "", " ", "\n\r\n\t", "a\u0301 á", "👩‍👩‍👧‍👦 🇩🇪", "天気はどう？", "שלום ‏ עולם",
    "<!--SOURCES:[1]-->", "'; DROP TABLE turns; --",
    '"quoted" NEAR(a b) NOT c*', "\x01\x1b[31m\x7f\x85", "\ufeff\ufffe\uffff", "\U0010ffff", "a\u2028b\u2029c",
    "%s {x} $1",
    "\\ud800 \\u0000",
)  # fmt: skip


def thread_of(subject: str = "me", thread: str = "main", tenant: str = "local") -> ThreadScope:
    return ThreadScope(tenant=tenant, subject=subject, thread=thread)


def subject_of(subject: str = "me", tenant: str = "local") -> SubjectScope:
    return SubjectScope(tenant=tenant, subject=subject)


def asked(client_id: str, question: str = "What is it?") -> NewTurn:
    return NewTurn(client_id=client_id, question=question, asked_at=NOON, zone="Europe/Berlin", day="2026-11-30")


def whole(part: str, text: str) -> IndexedPassage:
    return IndexedPassage(
        part="answer" if part == "answer" else "question", start=0, end=len(text), words=words_of(text)
    )


def words_of(text: str) -> tuple[str, ...]:
    return tuple(forms(text))


def ended(turn: Turn | None = None, answer: str = "It is.", *, delta: bool = False, **fields: object) -> TurnEnd:
    """The end of `turn`, with both of its parts as passages."""
    parts = (("question", turn.question if turn else ""), ("answer", answer))
    values: dict[str, object] = {
        "seq": turn.seq if turn else 0,
        "attempt": turn.attempt if turn else 0,
        "answer": answer,
        "status": "complete",
        "delta": "waiting" if delta else "none",
    }
    if "passages" not in fields:
        values["passages"] = tuple(whole(part, text) for part, text in parts if text)
    return TurnEnd(**{**values, **fields})  # type: ignore[arg-type]


def cited(n: int = 1, text: str = "It is [1].") -> Citation:
    return Citation(
        n=n, position=text.index("["), sentence_start=0, sentence_end=len(text), digest="0" * 64,
        passage=((0, 4), (9, 12)), score=0.75, checkable=True, missing=(("number", "17"), ("name", "Zoë")),
    )  # fmt: skip


def page_about(text: str, locator: str = "https://example.org/a") -> NewSource:
    return NewSource(locator=locator, url=locator, title="A page", host="example.org", depth="page", text=text)


def looked_up(index: int = 0, **fields: str) -> ToolRecord:
    values = {"id": f"call-{index}", "name": "web_search", "arguments": '{"query": "x"}', "result": "none", "said": ""}
    return ToolRecord(index=index, call=1, **{**values, **fields})


def noted(turn: Turn, changes: str = "[]", *, correction: int = 0) -> AppliedDelta:
    return AppliedDelta(
        seq=turn.seq, attempt=turn.attempt, correction=correction, number=turn.number, changes=changes
    )  # fmt: skip


def next_of(known: Snapshot, body: str = "{}") -> Snapshot:
    return Snapshot(version=known.version + 1, body=body)


async def told(store: Store, scope: ThreadScope, question: str, answer: str = "It is.", *, delta: bool = False) -> Turn:
    """One whole turn, begun and finished. The thread is opened when it is missing."""
    await store.open_thread(scope, deltas=delta)
    seq = (await store.thread_info(scope)).turns + 1
    turn, _ = await store.begin_turn(scope, asked(f"turn-{seq}", question))
    return await store.finish_turn(scope, ended(turn, answer, delta=delta))
