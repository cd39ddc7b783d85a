"""`lumina serve`: the API over HTTP, on this machine."""

from typing import Annotated

import typer


def serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="An address of this machine alone.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", help="0: any that is free.", min=0, max=65535)] = 8321,
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Who answers; LUMINA_MODEL otherwise.")] = "",
) -> None:
    """Serve the API over HTTP, for programs on this machine.

    Its address goes to standard output when requests are answered. There is no login, so it listens to this machine
    alone, and turns away pages of other sites. Ctrl-C ends it: an answer that is under way is kept as far as it came.
    """
    from lumina.cli.serving import serve_here

    raise typer.Exit(serve_here(host, port, model))
