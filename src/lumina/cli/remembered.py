"""What a conversation has gathered: its sources by number, and what was noted."""

from lumina.cli.flow import words_of, wrapped
from lumina.cli.screen import flat, measure, note, say, say_line
from lumina.memory.scope import ThreadScope
from lumina.memory.state import Entry, State
from lumina.memory.store import Store
from lumina.memory.turns import TurnPage

HEADINGS = {"fact": "Facts", "issue": "Open issues", "decision": "Decisions", "finding": "Findings"}
QUOTED = 320  # characters of a passage


async def say_sources(store: Store, scope: ThreadScope) -> None:
    """Every source of the conversation: its number for good, where it is cited, what supports it."""
    sources = await store.sources(scope)
    if not sources:
        note("No source was read in this conversation yet.")
    cited: dict[int, dict[str, list[int]]] = {}
    for page in await store.page(scope):
        for citation in page.citations if isinstance(page, TurnPage) else ():
            text = await store.text(scope.of_subject, citation.digest) if citation.passage else ""
            words = " … ".join(text[start:end] for start, end in citation.passage)
            seqs = cited.setdefault(citation.n, {}).setdefault(" ".join(words.split()), [])
            if page.seq not in seqs:
                seqs.append(page.seq)
    for source in sources:
        host = f" ({flat(source.host)})" if source.host != "documents" else ""
        say(f"[{source.n}] {flat(source.title)}{host}")
        say(f"    {flat(source.url)}", "dim")
        for words, seqs in cited.get(source.n, {}).items():
            turns = f"turn{'s' if len(seqs) > 1 else ''} {', '.join(map(str, seqs))}: "
            shown = words if len(words) <= QUOTED else words[: QUOTED - 1] + "…"
            for line in wrapped(
                [*words_of(turns, "dim"), *words_of(shown or "no passage of it carries what cites it")],
                width=measure(), indent="    ",
            ):  # fmt: skip
                say_line(line)
        if source.n not in cited:
            say("    read, not cited", "dim")


def say_state(profile: State, state: State) -> None:
    """What stands, each with the day and who said it."""
    about = [("About you", list(profile.current()))]
    about += [(HEADINGS[kind], [e for e in state.current() if e.kind == kind]) for kind in HEADINGS]
    if not any(entries for _, entries in about):
        note("Nothing is noted yet.")
    for heading, entries in about:
        if entries:
            say(heading, "bold")
            for entry in entries:
                for line in wrapped(_words(entry), width=measure(), indent="  "):
                    say_line(line)


def _words(entry: Entry) -> list[tuple[str, str]]:
    by = {"user": "you", "operator": entry.by, "assistant": "an answer", "source": f"source [{entry.source}]"}
    told = f"({by[entry.said_by]}, turn {entry.seq}, {entry.day})"
    return [*words_of(f"{entry.key}: {entry.value}"), *words_of(told, "dim")]
