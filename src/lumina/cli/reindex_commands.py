"""`lumina reindex`: what recall looks things up in, made anew from the turns.

Vectors by the embedder that is set, for every passage that has none by it; with `--words` also the word index. It goes
on where an earlier one was stopped, and conversations may go on meanwhile.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

Told = Callable[[int, int], None]  # done, of how many


def register_reindex(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("reindex")(reindex)


def reindex(
    words: Annotated[
        bool, typer.Option("--words", help="Write the word index anew too, from the stored turns.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for scripts instead of text for people.")] = False,
) -> None:
    """Make the vectors of all conversations, or the word index, anew.

    Needed after the embedder (LUMINA_EMBEDDER) was set or changed. Vectors of another embedder are replaced, in small
    portions: stopped in between, the next call goes on from there, and conversations may go on meanwhile. Until it is
    done, an affected conversation is searched by words alone. What the embedder refuses is named, and stays findable by
    words. The exit code is 1 when anything was refused.
    """
    raise typer.Exit(_reindex(words=words, as_json=as_json))


def _reindex(*, words: bool, as_json: bool) -> int:
    from lumina.cli.place import ME, settings, threads_at
    from lumina.cli.screen import flat, say
    from lumina.cli.working import Worker, complete
    from lumina.memory import meaning
    from lumina.memory.errors import UsageError
    from lumina.wiring import find_embedder

    chosen = settings()
    embedder = find_embedder(chosen.embedder, chosen.embedder_url)
    if embedder is None and not words:
        raise UsageError(
            "No embedder is set, so there are no vectors to make: set LUMINA_EMBEDDER (minilm, for example). "
            "--words writes the word index anew."
        )

    async def work(_: Worker) -> tuple[int, "meaning.Reindexed"]:
        async with await threads_at(chosen) as threads:
            indexed, done = 0, meaning.Reindexed()
            if words:
                with progress_bar("words", shown=not as_json) as told:
                    indexed = await meaning.reindex_words(threads.store, ME.of_tenant, progress=told)
            if embedder is not None:
                with progress_bar("vectors", shown=not as_json) as told:
                    done = await meaning.reindex(threads.store, ME.of_tenant, embedder, progress=told)
            return indexed, done

    indexed, done = complete(work)
    if as_json:
        say(json.dumps({
            "embedder": embedder.name if embedder else "", "made": done.made, "there": done.there,
            "refused": list(done.refused), "threads_with_words_indexed": indexed,
        }))  # fmt: skip
        return 1 if done.refused else 0
    if words:
        say(f"The word index of {indexed} {'conversation' if indexed == 1 else 'conversations'} was written anew.")
    if embedder is not None:
        say(f"{done.made} vectors made by {flat(embedder.name)}; {done.there} were there already.")
        for row in done.refused[:20]:
            say(f"  refused: {flat(row)}")
        if len(done.refused) > 20:
            say(f"  and {len(done.refused) - 20} more; --json lists them all")
    return 1 if done.refused else 0


@contextmanager
def progress_bar(what: str, *, shown: bool) -> Iterator[Told]:
    """A bar on standard error while a person watches, else nothing."""
    if not (shown and sys.stderr.isatty()):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True),
        transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
