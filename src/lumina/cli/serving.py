"""What `lumina serve` does."""

import asyncio
import signal

from lumina.cli.place import agent_at, settings
from lumina.cli.screen import note, say
from lumina.cli.working import STOPPED


def serve_here(host: str, port: int, model: str) -> int:
    """Serves until it is ended. Returns the exit code: 130 after Ctrl-C, 0 when it was told to end (SIGTERM)."""
    from lumina.server.serving import check_host, listening, serve

    check_host(host)
    chosen = settings()
    opened = listening(host, port)

    def told(address: str) -> None:
        say(address)
        note("Ctrl-C ends it.")

    try:
        ended_by = asyncio.run(serve(lambda: agent_at(chosen, model), opened, host=host, told=told))
    except KeyboardInterrupt:  # before it listened to signals, or while it closed
        return STOPPED
    finally:
        opened.close()
    return STOPPED if ended_by == signal.SIGINT else 0
