"""What a model is told to do, in files that a person can read and replace.

`answer.md`, here, is the system message of every answer; what comes back is text with citations
(`lumina.agent.citations`). `note.md` is the delta step's and stands beside the type that it is answered with
(`lumina.memory.note`). A file of the same name in the user's folder takes the place of Lumina's. It is read and checked
once, when the agent is opened; what was sent is kept by its content and named in the receipt, so that old turns are
shown as they were whatever becomes of the file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from lumina.memory.errors import UsageError
from lumina.memory.note import system_text

LONGEST = 20_000  # code points; a prompt is sent with every call
FOLDER = "prompts"  # in LUMINA_HOME
END = ".md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt that can be replaced. `needs`: what must stand in it, because something is put in its place, or because
    the answer is read by these names."""

    name: str
    about: str
    needs: tuple[str, ...]
    default: Callable[[], str]

    @property
    def file(self) -> str:
        return self.name + END


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """The user's own prompts; "" where Lumina's is used."""

    answer: str = ""
    note: str = ""

    def instructions(self, day: str) -> str:
        """The system message on `day` (ISO 8601, in the asker's zone): the same bytes all day long."""
        return (self.answer or answer_text()).strip().replace("{day}", day)


@cache
def answer_text() -> str:
    return files("lumina.agent.prompts").joinpath("answer.md").read_text(encoding="utf-8")


ALL = (
    Prompt(name="answer", about="how to answer, search and cite", needs=("{day}",), default=answer_text),
    Prompt(
        name="note",
        about="what changed in a turn, follow-up questions, a title",
        needs=("ops", "key", "value", "quote", "offer", "about", "source", "followups", "title"),
        default=system_text,
    ),
)


def named(name: str) -> Prompt:
    """UsageError when there is no prompt of that name."""
    for prompt in ALL:
        if name.removesuffix(END) == prompt.name:
            return prompt
    raise UsageError(f"There is no prompt {name!r}. There are: {', '.join(each.name for each in ALL)}.")


def own_prompts(folder: Path | None) -> Prompts:
    """The user's prompts in `folder`. UsageError, which names the file, for one that cannot be used."""
    return Prompts(**{each.name: own_text(each, folder) for each in ALL}) if folder else Prompts()


def own_text(prompt: Prompt, folder: Path) -> str:
    """The user's own text of `prompt`, checked; "" when the folder has none."""
    path = folder / prompt.file
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise _cannot(path, f"cannot be read ({error.strerror or error})") from None
    if len(raw) > 4 * LONGEST:
        raise _cannot(path, f"is larger than {LONGEST:,} characters")
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _cannot(path, f"is not UTF-8 (byte {error.start + 1})") from None
    if problem := _problem(prompt, text):
        raise _cannot(path, problem)
    return text


def _problem(prompt: Prompt, text: str) -> str:
    if len(text) > LONGEST:
        return f"has {len(text):,} characters; at most {LONGEST:,} can be used"
    if not text.strip():
        return "is empty"
    if "\0" in text:
        return f"holds the character U+0000 at character {text.index(chr(0)) + 1}"
    if missing := [word for word in prompt.needs if word not in text]:
        return f"does not mention {', '.join(missing)}, which the answer is read by or which is filled in"
    return ""


def _cannot(path: Path, why: str) -> UsageError:
    return UsageError(
        f"The prompt {path} {why}. Nothing was asked and nothing was changed. Mend it, or remove it to use Lumina's "
        "own (`lumina prompts` lists them)."
    )
