"""The process in which pages are read: `python -m lumina.adapters.pages.worker`, a request in, an answer out.

A page can make a parser loop or eat memory, and a parser written in C cannot be interrupted. So it runs where it may be
killed: without the parent's environment, without sockets, with a cap on memory where the platform has one, and with an
alarm that ends it even when the parent is gone. Request: a line of JSON and as many bytes as it says. Answer: four
bytes of length and JSON, `{"title", "text"}`, `{"reason"}` or `{"allowed"}`; the first, unasked, is `{"ready"}`.
"""

import contextlib
import json
import os
import signal
import sys
from typing import Any, BinaryIO

MEMORY = 700_000_000  # bytes of address space; the largest pages that are read needed 430,000,000
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "ftplib.",
             "urllib.Request", "webbrowser.")  # fmt: skip


def main() -> None:
    """Answers until its input ends."""
    source = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what a library prints is no answer
    _load()
    _confine()
    _send(answers, {"ready": True})
    while line := source.readline():
        asked = json.loads(line)
        _alarm(asked["seconds"])
        said = answer(asked, source.read(asked["size"]))
        _alarm(0)
        _send(answers, said)


def _load() -> None:
    """What reading needs is there before the limits are, and before the first page waits for it."""
    with contextlib.suppress(ImportError):
        import protego
        import pypdfium2
        import trafilatura

        import lumina.adapters.pages.read_text  # noqa: F401

        del protego, pypdfium2, trafilatura


def _confine() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    sys.addaudithook(_watch)


def _watch(event: str, _: object) -> None:
    if event.startswith(FORBIDDEN):
        raise PermissionError(f"a page is read without {event}")


def _alarm(seconds: float) -> None:
    """Its default action ends the process, also within a parser."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def answer(asked: dict[str, Any], body: bytes) -> dict[str, Any]:
    """What is sent back for a request; no page makes it raise."""
    from lumina.adapters.pages.read_text import NotText, read_bytes

    try:
        if asked["kind"] == "robots":
            import protego

            rules = protego.Protego.parse(body.decode("utf-8", "replace"))
            return {"allowed": rules.can_fetch(asked["url"], asked["agent"])}
        read = read_bytes(body, asked["type"], cut=asked["cut"])
        return {"title": read.title, "text": read.text}
    except NotText as why:
        return {"reason": str(why)}
    except MemoryError:
        return {"reason": "reading it needs too much memory"}
    except ImportError as error:
        return {"reason": f"reading it needs a package that is not installed ({error.name}): pip install"
                          " 'lumina-search[web]'"}  # fmt: skip
    except Exception as error:
        # A parser may trip over anything; what it tripped over stays here.
        return {"reason": f"it cannot be read ({type(error).__name__})"}


def _send(answers: BinaryIO, said: dict[str, Any]) -> None:
    text = json.dumps(said).encode("ascii")
    answers.write(len(text).to_bytes(4, "big") + text)
    answers.flush()


if __name__ == "__main__":
    main()
