"""Model providers on loopback that speak the real stream formats, scripted by a test: `support.providers.server`."""

from support.providers.errors import Refuse
from support.providers.server import Asked, Cut, Garbage, Hold, Provider

__all__ = ["Asked", "Cut", "Garbage", "Hold", "Provider", "Refuse"]
