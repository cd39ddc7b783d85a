"""A thread's name in a path.

A thread may have any name of up to 200 characters, slashes and dots included. A path cannot carry every one of them as
it is, so a name that is not plain is written in base64url behind a `~`. Both ways are exact, and a name has one id.
"""

import base64
import binascii
import re

from lumina.memory.errors import NotFound, UsageError
from lumina.memory.scope import check_id

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
MARK = "~"


def thread_id(name: str) -> str:
    """The id of the thread called `name`."""
    if PLAIN.fullmatch(name):
        return name
    return MARK + base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def thread_name(id: str) -> str:
    """The name that `id` stands for. NotFound for one that `thread_id` did not make."""
    if PLAIN.fullmatch(id):
        return id
    body = id.removeprefix(MARK)
    try:
        name = check_id("thread", base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode())
    except (binascii.Error, ValueError, UsageError):  # a UnicodeDecodeError is a ValueError
        name = ""
    if not name or thread_id(name) != id:
        raise NotFound("There is no such conversation.")
    return name
