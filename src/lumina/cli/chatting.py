"""`lumina chat`: a conversation on the terminal.

The answers run on a loop of their own (`lumina.cli.working`), so that what is to be noted goes on being noted while
somebody types.
"""

import sys

from lumina.agent.search_agent import SearchAgent
from lumina.cli.asking import answer, ask_instead
from lumina.cli.forget_commands import forget_named
from lumina.cli.listing import minute
from lumina.cli.place import agent_at, check_name, check_temporary, chosen_thread, settings
from lumina.cli.remembered import say_sources, say_state
from lumina.cli.screen import cells, complain, flat, note, say, styled
from lumina.cli.showing import account_of, say_account
from lumina.cli.stating import history_of, say_history
from lumina.cli.working import Worker
from lumina.memory.errors import LuminaError, NotFound, UsageError
from lumina.memory.scope import ThreadScope

COMMANDS = {
    "/sources": "the sources of this conversation, by number, and what cites them",
    "/state": "what was noted: about you, and in this conversation (/state home.city: all that a key ever was)",
    "/show": "what the model saw in the last turn, and why (/show 3: in turn 3)",
    "/again": "answer the last question again (/again 3: that of turn 3); what came after it is superseded",
    "/edit": "ask something else in the place of the last question: /edit QUESTION (/edit #3 QUESTION: of turn 3)",
    "/forget": "forget an entry (/forget home.city) or a turn (/forget 3) for good",
    "/help": "this list",
    "/quit": "leave (or Ctrl-D)",
}
PROMPT = "› "


def chat(*, thread: str, go_on: bool, model: str, budget: int, temporary: bool = False) -> int:
    """Runs until the person leaves. The exit code is that of the last answer when questions come from a pipe."""
    check_name(thread, go_on)
    check_temporary(temporary, go_on)
    chosen = settings()
    with Worker() as worker:
        agent = worker.do(agent_at(chosen, model))
        try:
            scope = worker.do(chosen_thread(agent.store, thread, go_on=go_on, today=agent.today()))
            if temporary:
                worker.do(agent.thread(scope, temporary=True))
            worker.do(_greet(agent, scope, off=chosen.memory == "off"))
            return _talk(worker, agent, scope, budget)
        finally:
            worker.do(agent.close())


def _talk(worker: Worker, agent: SearchAgent, scope: ThreadScope, budget: int) -> int:
    code = 0
    while (line := _read(worker)) is not None:
        if line.split(maxsplit=1)[:1] == ["/quit"]:
            break
        try:
            if line.split(maxsplit=1)[:1] in (["/again"], ["/edit"]):
                code = worker.do(_instead(agent, scope, line, budget, worker))
            elif line.startswith("/"):
                worker.do(_command(agent, scope, line))
            elif line:
                code = worker.do(_turn(agent, scope, line, budget, worker))
        except LuminaError as error:
            complain(str(error))
            code = 2 if isinstance(error, UsageError) else 1
        except KeyboardInterrupt:
            note("stopped")
    return 0 if sys.stdin.isatty() else code


def _read(worker: Worker) -> str | None:
    """The next line, None at the end of input. Ctrl-C drops what was typed."""
    if not sys.stdin.isatty():
        return _piped()
    import readline  # noqa: F401 - arrow keys and history

    while True:
        try:
            with worker.keyboard():
                return input(_prompt()).strip()
        except EOFError:
            note("")
            return None
        except KeyboardInterrupt:
            note("\nCtrl-D or /quit leaves.")


def _prompt() -> str:
    # readline counts the columns of a prompt; what takes none stands between \x01 and \x02.
    styling = styled(PROMPT, "amber")
    if styling == PROMPT:
        return PROMPT
    before, after = styling.split(PROMPT)
    return f"\x01{before}\x02{PROMPT}\x01{after}\x02"


def _piped() -> str | None:
    """A line of standard input. UsageError when it is not UTF-8."""
    raw = sys.stdin.buffer.readline()
    if not raw:
        return None
    try:
        return raw.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"A line of standard input is not UTF-8 text (0x{raw[error.start]:02x}). It was not asked, nor was what "
            "follows; what was answered is kept."
        ) from None


async def _greet(agent: SearchAgent, scope: ThreadScope, *, off: bool) -> None:
    try:
        await agent.store.thread_info(scope)
        await agent.thread(scope)
        info = await agent.store.thread_info(scope)
        turns = len(await agent.store.page(scope)) if info.turns else 0
        if info.temporary:
            note(f"This conversation is temporary: it is deleted on {minute(info.expires_at)} UTC.")
    except NotFound:
        turns = 0  # it is made with its first question
    before = f", {turns} {'turn' if turns == 1 else 'turns'} so far" if turns else ""
    note(f"Conversation {flat(scope.thread)}{before}. /help lists the commands.")
    if off:
        note("Memory is off: each question stands alone, and nothing is noted.")
    last = (await agent.store.page(scope))[-1:] if turns else []
    if last and getattr(last[0], "status", "") == "partial":
        note(f"The last answer is not complete ({flat(last[0].reason)}); /show tells more.", "amber")


async def _turn(agent: SearchAgent, scope: ThreadScope, question: str, budget: int, worker: Worker) -> int:
    code = await answer(await agent.ask(scope, question, budget=budget), worker)
    say()
    return code


async def _instead(agent: SearchAgent, scope: ThreadScope, line: str, budget: int, worker: Worker) -> int:
    """/again and /edit: a turn is answered again, or another question in its place."""
    name, _, rest = line.partition(" ")
    named, _, after = rest.strip().partition(" ")
    numbered = name == "/again" or named.startswith("#")
    turn = _number(named.removeprefix("#"), name) if numbered and named else 0
    question = None if name == "/again" else (after if numbered else rest).strip()
    if question == "" or (name == "/again" and after):
        raise UsageError("Write /again, /again 3, /edit QUESTION or /edit #3 QUESTION.")
    code = await answer(await ask_instead(agent, scope, turn, question, budget), worker)
    say()
    return code


def _number(text: str, command: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 9 and int(text):
        return int(text)
    raise UsageError(f"Give the number of a turn: {command} {'#' if command == '/edit' else ''}3.")


async def _command(agent: SearchAgent, scope: ThreadScope, line: str) -> None:
    name, _, rest = line.partition(" ")
    rest = rest.strip()
    if name == "/sources":
        await say_sources(agent.store, scope)
    elif name == "/state":
        thread = await agent.thread(scope)
        if rest:
            say_history(await history_of(thread, rest))
            return
        say_state(await thread.profile(), await thread.state())
    elif name == "/show":
        if rest and not (rest.isascii() and rest.isdigit() and len(rest) < 9 and int(rest)):
            raise UsageError("Give the number of a turn: /show 3. Without one, the last turn is shown.")
        account = await account_of(await agent.thread(scope), int(rest or 0))
        say_account(account, account.calls)
    elif name == "/forget":
        await forget_named(await agent.thread(scope), rest)
    else:
        if name != "/help":
            note(f"{flat(name)} is not a command.", "amber")
        wide = max(map(cells, COMMANDS)) + 2
        for command, meaning in COMMANDS.items():
            say(f"{command:{wide}}{meaning}")
