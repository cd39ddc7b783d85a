"""Lumina: a search agent that streams cited answers, and a memory that stays right and can be read.

`from lumina import open_thread` is where a library user begins; everything is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lumina.memory.context import Context
    from lumina.memory.errors import LuminaError, ProviderError, StoreError, UsageError
    from lumina.memory.thread import Thread
    from lumina.stores.threads import open_thread

__all__ = [
    "Context",
    "LuminaError",
    "ProviderError",
    "StoreError",
    "Thread",
    "UsageError",
    "__version__",
    "open_thread",
]

_PLACES = {
    "open_thread": "lumina.stores.threads",
    "Thread": "lumina.memory.thread",
    "Context": "lumina.memory.context",
    "LuminaError": "lumina.memory.errors",
    "UsageError": "lumina.memory.errors",
    "ProviderError": "lumina.memory.errors",
    "StoreError": "lumina.memory.errors",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        return metadata.version("lumina-search")
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'lumina' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
