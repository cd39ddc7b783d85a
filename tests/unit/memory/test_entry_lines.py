"""How the entries of state and profile stand in the memory block, now and as the first rendering had them."""

from lumina.adapters.extractive.memory_block import read_message
from lumina.memory.budget import ScriptCounter
from lumina.memory.change import Change, Quote
from lumina.memory.context import Inputs, build_context
from lumina.memory.receipt import Item, Receipt
from lumina.memory.rendering import Material, block_place, entry_item, entry_ref, noted, render
from lumina.memory.state import State
from lumina.memory.turns import RecentTurns

QUOTE = Quote(seq=1, attempt=1, part="question", start=0, end=1)


def change(key: str, value: str, day: str, **more) -> Change:
    fields = {"op": "set", "kind": "fact", "about": "subject", "number": 1, "seq": 1, "attempt": 1,
              "said_by": "user", "thread": "main", "quote": QUOTE}  # fmt: skip
    return Change(key=key, value=value, day=day, **{**fields, **more})


ABOUT = State(about="subject").merge([
    change("user.name", "Ada", "2026-11-02"), change("home.city", "York", "2026-11-03", number=2),
    change("diet", "vegan", "2026-12-01", number=3, said_by="operator", correction=1, by="Ann",
           quote=None),
    change("car", "sell it", "2026-11-03", number=4, op="decide", kind="decision"),
])[0]  # fmt: skip
HERE = State(about="thread").merge([
    change("python", "3.11", "2026-11-02", number=5, about="thread", thread="", kind="finding",
           said_by="source", source=3),
    change("tariff", "Green 12", "2026-11-02", number=6, about="thread", thread="", op="decide",
           kind="decision", said_by="assistant"),
])[0]  # fmt: skip
NOW = ["About the user, 2026-11:", "- 02 user.name: Ada", "- 03 home.city: York", "- 03 car (decision): sell it",
       "2026-12:", "- 01 diet (corrected): vegan", "Decisions, 2026-11:",
       "- 02 tariff (from an answer): Green 12", "Findings, 2026-11:", "- 02 python: 3.11 [3]"]  # fmt: skip
SECOND = ["About the user, 2026-12:" if line == "2026-12:" else line for line in NOW]
FIRST = ["About the user:", "- diet: vegan (corrected 2026-12-01)", "- home.city: York (said 2026-11-03)",
         "- user.name: Ada (said 2026-11-02)", "- car: sell it (decision, said 2026-11-03)", "Decisions:",
         "- tariff: Green 12 (from an answer, 2026-11-02)", "Findings:",
         "- python: 3.11 [3] (read 2026-11-02)"]  # fmt: skip
ENTRIES = (*ABOUT.current(), *HERE.current())


def shown(rendering: int, items: list[Item]) -> list[str]:
    entries = {entry_ref(entry_item(entry)): noted(entry) for entry in ENTRIES}
    receipt = Receipt(rendering=rendering, memory_id="aa", items=tuple(items))
    (message,) = render(receipt, Material(question="And?", instructions="", entries=entries))
    return message.content.split("\n")[1:-3]


def test_the_month_stands_once_above_its_entries_and_the_section_once_above_all():
    items = [entry_item(entry) for entry in sorted(ENTRIES, key=block_place)]
    assert shown(3, items) == NOW
    assert shown(2, items) == SECOND  # CASES M1: every old thread renders the same context


def test_entries_of_a_receipt_of_the_first_rendering_are_shown_as_they_were():
    """CASES M1: every old thread renders the same context."""
    assert shown(1, [entry_item(entry) for entry in ENTRIES]) == FIRST


def test_what_was_forgotten_has_no_day_and_moves_nothing():
    first, second, *_ = [entry_item(entry) for entry in sorted(ENTRIES, key=block_place)]
    gone = first.model_copy(update={"forgotten": "2026-12-24", "key": ""})
    assert shown(2, [gone, second]) == [
        "About the user:", "- [forgotten on 2026-12-24]", "About the user, 2026-11:", "- 03 home.city: York",
    ]  # fmt: skip
    assert shown(2, [second, gone, first]) == [
        "About the user, 2026-11:", "- 03 home.city: York", "- [forgotten on 2026-12-24]", "- 02 user.name: Ada",
    ]  # fmt: skip


def context(profile: State, budget: int = 8000):
    return build_context(Inputs(
        question="And?", instructions="", instructions_digest="", recent=RecentTurns(turns=()), state=HERE,
        profile=profile, memory_id="0123456789abcdef", day="2026-12-24", budget=budget, counter=ScriptCounter(),
    ))  # fmt: skip


def test_a_context_shows_them_so_and_counts_each_heading_once():
    made = context(ABOUT)
    block = made.messages[-1].content.split("\n")[1:-3]
    assert block == NOW
    count = ScriptCounter().count
    paid = sum(item.tokens for item in made.receipt.items if item.kind == "entry")
    rows = sum(count(line + "\n") + 1 for line in block)
    overhead = 40  # of the block's tags, paid with its first line
    assert rows <= paid <= rows + overhead


def test_the_built_in_model_reads_them_back():
    memory, question = read_message(context(ABOUT).messages[-1].content)
    assert question == "And?"
    assert [(entry.section, entry.key, entry.value, entry.day, entry.source) for entry in memory.entries] == [
        ("about", "user.name", "Ada", "2026-11-02", 0), ("about", "home.city", "York", "2026-11-03", 0),
        ("about", "car", "sell it", "2026-11-03", 0), ("about", "diet", "vegan", "2026-12-01", 0),
        ("decisions", "tariff", "Green 12", "2026-11-02", 0), ("findings", "python", "3.11", "2026-11-02", 3),
    ]  # fmt: skip


def test_a_profile_of_sixteen_statements_fits_its_share_of_a_small_budget():
    """Sixteen statements of iKAT's length (about 40 characters) in 400 tokens."""
    said = [change(f"about.s{n}", f"I am someone who likes thing number {n}.", "2026-11-02", number=n)
            for n in range(1, 17)]  # fmt: skip
    receipt = context(State(about="subject").merge(said)[0], budget=2000).receipt
    assert [item.key for item in receipt.items if item.kind == "entry" and not item.included] == []
