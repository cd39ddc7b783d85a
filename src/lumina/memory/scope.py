"""Whose data a call may touch.

Three widths, each a value of its own: an installation's (tenant), a customer's or user's (subject), a conversation's
(thread). Every store call takes the narrowest it needs; there is no call without one. The parts stay apart, in fields
and in columns: no key is glued together from strings, so that no name can be chosen to look like another's.
Two ids are the same only if they are the same code points: `José` in two normal forms is two customers.
"""

import secrets
from dataclasses import dataclass

from lumina.memory.errors import UsageError

LETTERS = "bcdfghjkmnpqrstvwxyz"  # no vowels: no words by chance
MAX_ID = 200  # code points; long enough for any id in use, short enough for every database's index


def check_id(name: str, value: object) -> str:
    """`value` as an id, or UsageError that says what is wrong with it."""
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a string, not {type(value).__name__}.")
    if not value or value.isspace():
        raise UsageError(f"{name} is empty. Give the id of the {name}.")
    if len(value) > MAX_ID:
        raise UsageError(f"{name} has {len(value)} characters; at most {MAX_ID} are kept.")
    for character in value:
        if character < " " or "\x7f" <= character <= "\x9f" or "\ud800" <= character <= "\udfff":
            raise UsageError(f"{name} holds the character U+{ord(character):04X}, which cannot be part of an id.")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantScope:
    """One installation: documents shared by all of its subjects."""

    tenant: str

    def __post_init__(self) -> None:
        check_id("tenant", self.tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectScope:
    """One customer or user: profile, threads, own documents."""

    tenant: str
    subject: str

    def __post_init__(self) -> None:
        check_id("tenant", self.tenant)
        check_id("subject", self.subject)

    @property
    def of_tenant(self) -> TenantScope:
        return TenantScope(tenant=self.tenant)

    def thread(self, thread: str) -> "ThreadScope":
        return ThreadScope(tenant=self.tenant, subject=self.subject, thread=thread)

    def new_thread(self, day: str, letters: int = 8) -> "ThreadScope":
        """A thread that nobody has named: a day and some letters, short enough to type."""
        return self.thread(f"{day}-{''.join(secrets.choice(LETTERS) for _ in range(letters))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadScope:
    """One conversation of one subject."""

    tenant: str
    subject: str
    thread: str

    def __post_init__(self) -> None:
        check_id("tenant", self.tenant)
        check_id("subject", self.subject)
        check_id("thread", self.thread)

    @property
    def of_subject(self) -> SubjectScope:
        return SubjectScope(tenant=self.tenant, subject=self.subject)
