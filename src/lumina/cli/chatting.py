"""`lumina chat`: a conversation on the terminal.

One event loop lives as long as the chat and runs while an answer streams; between answers the terminal has the line.
"""

import asyncio
import sys

from lumina.agent.search_agent import SearchAgent
from lumina.cli.asking import _today, agent_at, answer
from lumina.cli.place import chosen_thread, place
from lumina.cli.screen import complain, note, say, styled
from lumina.cli.showing import say_show
from lumina.memory.errors import LuminaError
from lumina.memory.scope import ThreadScope
from lumina.memory.state import State
from lumina.memory.turns import TurnPage

COMMANDS = {
    "/sources": "the sources of this conversation, by number",
    "/state": "what was noted: about you, and in this conversation",
    "/show": "what the model saw in the last turn, and why (/show 3: in turn 3)",
    "/help": "this list",
    "/quit": "leave (or Ctrl-D)",
}
HEADINGS = {"fact": "Facts", "issue": "Open issues", "decision": "Decisions", "finding": "Findings"}


def chat(*, thread: str, go_on: bool, model: str, budget: int) -> int:
    """Runs until the person leaves. Returns the exit code."""
    where = place()
    with asyncio.Runner() as runner:
        agent = runner.run(agent_at(where, model))
        try:
            scope = runner.run(chosen_thread(agent.store, thread, go_on=go_on, today=_today(where)))
            runner.run(_greet(agent, scope))
            while (line := _read()) is not None:
                try:
                    if line.startswith("/"):
                        if line.split()[0] == "/quit":
                            break
                        runner.run(_command(agent, scope, line))
                    elif line:
                        runner.run(_turn(agent, scope, line, budget))
                except LuminaError as error:
                    complain(str(error))
                except KeyboardInterrupt:
                    note("stopped")
        finally:
            runner.run(agent.close())
    return 0


def _read() -> str | None:
    """The next line, None at the end of input. Ctrl-C drops what was typed."""
    if sys.stdin.isatty():
        import readline  # noqa: F401 - arrow keys and history
    while True:
        try:
            return input(styled("› ", "amber") if sys.stdin.isatty() else "").strip()
        except EOFError:
            return None
        except KeyboardInterrupt:
            note("\nCtrl-D or /quit leaves.")


async def _greet(agent: SearchAgent, scope: ThreadScope) -> None:
    info = (await agent.thread(scope)) and await agent.store.thread_info(scope)
    before = f", {info.turns} turns so far" if info.turns else ""
    note(f"Conversation {scope.thread}{before}. /help lists the commands.")


async def _turn(agent: SearchAgent, scope: ThreadScope, question: str, budget: int) -> None:
    await answer(await agent.ask(scope, question, budget=budget))
    say()


async def _command(agent: SearchAgent, scope: ThreadScope, line: str) -> None:
    name, _, rest = line.partition(" ")
    if name == "/sources":
        await say_sources(agent, scope)
    elif name == "/state":
        thread = await agent.thread(scope)
        say_state(await thread.profile(), await thread.state())
    elif name == "/show":
        turn = int(rest) if rest.strip().isdecimal() else 0
        say_show(await (await agent.thread(scope)).show(turn))
    else:
        if name != "/help":
            note(f"{name} is not a command.", "amber")
        for command, meaning in COMMANDS.items():
            say(f"{command:10}{meaning}")


async def say_sources(agent: SearchAgent, scope: ThreadScope) -> None:
    """Every source of the conversation: its number for good, where it is cited, what supports it."""
    sources = await agent.store.sources(scope)
    if not sources:
        say("No source was read in this conversation.")
    cited: dict[int, list[tuple[int, str]]] = {}
    for page in await agent.store.page(scope):
        if isinstance(page, TurnPage):
            for citation in page.citations:
                text = await agent.store.text(scope.of_subject, citation.digest) if citation.passage else ""
                words = " … ".join(text[start:end] for start, end in citation.passage)
                cited.setdefault(citation.n, []).append((page.seq, " ".join(words.split())))
    for source in sources:
        say(f"[{source.n}] {source.title} ({source.host}, {source.depth})")
        say(f"    {source.url}", "dim")
        for seq, words in cited.get(source.n, []):
            say(f"    turn {seq}: “{words[:320]}”" if words else f"    turn {seq}")


def say_state(profile: State, state: State) -> None:
    """What stands, each with the day and who said it."""
    about = [("About you", list(profile.current()))]
    about += [(HEADINGS[kind], [e for e in state.current() if e.kind == kind]) for kind in HEADINGS]
    if not any(entries for _, entries in about):
        say("Nothing is noted yet.")
    for heading, entries in about:
        if entries:
            say(heading, "bold")
            for entry in entries:
                by = {
                    "user": "you",
                    "operator": entry.by,
                    "assistant": "an answer",
                    "source": f"source [{entry.source}]",
                }
                say(f"  {entry.key}: {entry.value}  ({by[entry.said_by]}, turn {entry.seq}, {entry.day})")
