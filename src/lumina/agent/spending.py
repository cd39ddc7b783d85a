"""What a turn's model calls took, kept as they end: whatever becomes of the turn, it was paid for.

Counts are gathered while a stream ends, where nothing may wait, and written between the calls and at the end. A store
that cannot write them keeps no turn from ending: the log of the process says so.
"""

import ipaddress
import logging
from datetime import UTC
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lumina.agent.ports import Tokens
from lumina.agent.unbroken import unbroken
from lumina.memory.errors import LuminaError
from lumina.memory.store import ModelUse
from lumina.memory.thread import Thread
from lumina.memory.turns import Turn

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RequestUsage

ANSWER, NOTE = "answer", "note"  # what a call was for
OPENAI, OPENAI_HOST = "openai", "api.openai.com"
logger = logging.getLogger(__name__)


class Spending:
    """The calls of one turn that are not written yet."""

    def __init__(self, thread: Thread, turn: Turn) -> None:
        self._thread = thread
        self._turn = turn
        self._unwritten: list[ModelUse] = []

    def add(self, purpose: str, model: str, tokens: Tokens) -> None:
        self._unwritten.append(ModelUse(
            seq=self._turn.seq, attempt=self._turn.attempt, purpose=purpose, model=model,
            day=self._thread.clock().astimezone(UTC).date().isoformat(), input=tokens.input, output=tokens.output,
            cached=tokens.cached, cache_written=tokens.cache_written, reasoning=tokens.reasoning,
        ))  # fmt: skip

    async def write(self) -> None:
        """Keeps what was added. A turn that is gone by now has no account to keep."""
        uses, self._unwritten = self._unwritten, []
        if not uses:
            return
        try:
            await unbroken(self._thread.store.add_usage(self._thread.scope, uses))
        except LuminaError as error:
            logger.warning("what the calls of turn %s took was not kept: %s", self._turn.seq, error)
        except Exception:
            logger.exception("what the calls of turn %s took was not kept", self._turn.seq)


def tokens_of(usage: "RequestUsage") -> Tokens:
    return Tokens(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cached=usage.cache_read_tokens,
        cache_written=usage.cache_write_tokens,
        reasoning=usage.output_reasoning_tokens,
    )


def model_ref(model: "Model") -> str:
    """Who is paid, as `provider:model`. A server that speaks OpenAI's format at an address of its own is not OpenAI:
    `local` on this machine or its network, else `compatible`."""
    from pydantic_ai.models.wrapper import WrapperModel

    while isinstance(model, WrapperModel):
        model = model.wrapped
    provider, host = model.system, urlsplit(model.base_url or "").hostname
    if provider.startswith(OPENAI) and host and host != OPENAI_HOST:
        provider = "local" if is_near(host) else "compatible"
    return f"{provider}:{model.model_name}" if provider else model.model_name


def is_near(host: str) -> bool:
    """Whether a host is this machine or on its network."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal")) or "." not in host
