"""A person's statements about themselves as a profile of the library: each said once, in a thread of its own, and noted
by a delta about the subject that quotes it."""

from collections.abc import Mapping

from lumina.evals.replay import Replay
from lumina.memory.scope import SubjectScope
from lumina.memory.store import Store

SUBJECT = SubjectScope(tenant="local", subject="me")
ANSWER = "Noted."


def key_of(number: str) -> str:
    """The key of a numbered statement. Digits tell keys apart for good; near keys are never digits alone."""
    return f"about.s{number}"


async def tell_profile(store: Store, statements: Mapping[str, str]) -> None:
    """Makes the profile of SUBJECT from numbered statements."""
    replay = await Replay.open(store, SUBJECT.thread("profile"), deltas=True)
    for number, said in statements.items():
        turn = await replay.record(said, ANSWER)
        reply = {
            "ops": [{"op": "set", "key": key_of(number), "value": said.strip(), "quote": said, "about": "subject"}]
        }
        if (await replay.thread.apply(reply, seq=turn.seq)).again:
            await replay.thread.apply(reply, seq=turn.seq)
