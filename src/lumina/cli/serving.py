"""What `lumina serve` does."""

import asyncio

from lumina.cli.place import agent_at, settings
from lumina.cli.screen import note, say


def serve_here(host: str, port: int, model: str) -> int:
    """Serves until it is ended. Returns the exit code."""
    from lumina.server.serving import check_host, listening, serve

    check_host(host)
    chosen = settings()
    opened = listening(host, port)

    def told(address: str) -> None:
        say(address)
        note("Ctrl-C ends it.")

    try:
        asyncio.run(serve(lambda: agent_at(chosen, model), opened, host=host, told=told))
    except KeyboardInterrupt:
        return 130
    finally:
        opened.close()
    return 0
