"""The example of a support desk, over 300 turns: what each customer's agent would see."""

import subprocess
import sys
from pathlib import Path

import pytest

from lumina import Thread
from lumina.memory.scope import ThreadScope
from lumina.stores.in_memory import InMemoryStore
from support.cards import shows_card

DESK = Path(__file__).resolve().parents[2] / "examples" / "support_desk"
TURNS, CUSTOMERS = 300, 4
CARD = "4111 1111 1111 1111"


class KeptStore(InMemoryStore):
    """One store for all conversations: a thread that closes leaves it open."""

    async def close(self) -> None:
        return


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(DESK))
    import support_desk

    yield support_desk
    for name in ("support_desk", "conversations"):
        sys.modules.pop(name, None)


async def served(example, store):
    async def open_one(customer, which):
        scope = ThreadScope(tenant="desk", subject=customer.id, thread=which)
        info = await store.open_thread(scope, deltas=True)
        return Thread(store=store, scope=scope, info=info, schema=desk.schema)

    desk = example.Desk(open=open_one)
    everybody = example.customers(CUSTOMERS)
    return everybody, await desk.serve(everybody, TURNS)


async def test_a_support_desk_over_300_turns(example):
    """DEMAND Memory 1, 6 and 20; what was noted once is there when it is needed, and only for whom it is about."""
    store = KeptStore(secret=b"x" * 32)
    everybody, seen = await served(example, store)
    assert len(seen) == TURNS

    # No detail of one customer is in another's context.
    for turn in seen:
        others = [other for other in everybody if other is not turn.customer]
        assert not [other.id for other in others if other.secret in turn.text or other.reason in turn.text]
    assert all(any(customer.secret in turn.text for turn in seen) for customer in everybody)

    checked = {kind: [turn for turn in seen if turn.line.checks == kind] for kind in
               ("account", "decision", "issue", "no issue")}  # fmt: skip
    assert [len(turns) for turns in checked.values()] == [2 * CUSTOMERS, CUSTOMERS, CUSTOMERS, CUSTOMERS]

    # Closed, and why: in every later session, whenever it is asked for.
    for turn in checked["account"]:
        assert turn.session != "first"
        assert "account.status: closed" in turn.memory
        assert f"account.reason: {turn.customer.reason}" in turn.memory
    for turn in seen:
        if turn.session != "first":
            assert "account.status: closed" in turn.memory

    # The decision, twenty turns back, out of the window.
    for turn in checked["decision"]:
        assert turn.context.window_start > 3
        assert "decision.refund: the refund goes by cheque" in turn.memory

    # The issue is there in the next conversation, and gone after it was solved.
    for turn in checked["issue"]:
        assert turn.session == "third"
        assert "issue.cheque" in turn.memory
    later = [turn for turn in seen if turn.session == "third" and turn.context.receipt.tokens.get("window")]
    after = [turn for turn in later if turn.line.question != "The cheque came this morning, thank you."]
    assert len(after) > CUSTOMERS
    assert not [turn for turn in after if "issue.cheque" in turn.memory]

    # Tokens a turn stay flat.
    assert max(turn.context.tokens for turn in seen) <= 2000


async def test_the_card_number_that_a_customer_typed_is_nowhere(example):
    store = KeptStore(secret=b"x" * 32)
    _, seen = await served(example, store)
    assert [turn.refused for turn in seen if turn.refused] == [
        ("device.card: it holds what is never stored here (card_number)",)
    ] * CUSTOMERS
    kept = repr([(thread.turns, thread.jobs, thread.deltas, thread.state, thread.logs, thread.passages)
                 for subject in store._subjects.values() for thread in subject.threads.values()])  # fmt: skip
    assert "My card was ████ ████ ████ ████" in kept
    for text in [kept, *(turn.text for turn in seen)]:
        assert not shows_card(text, CARD)


def test_the_example_runs_as_its_readme_says(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, str(DESK / "support_desk.py"), str(tmp_path / "desk.db"), "--turns", "72", "--customers", "1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "account.status: closed" in done.stdout
    assert "refused: device.card: it holds what is never stored here (card_number)" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].startswith("72 turns, at most ")
