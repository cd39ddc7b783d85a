"""Masks what must never be kept, in a whole text and in one that arrives in pieces.

The rules are those of `lumina.memory.never`. A masked character becomes MARK; white space and hyphens stay, so that it
can be seen what stood there without its being told.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lumina.memory.never import MARK, Rule, plain
from lumina.memory.turns import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Masks:
    """The rules of one schema. Without rules every text comes back as it is."""

    rules: tuple[Rule, ...] = ()

    def text(self, text: str) -> str:
        """`text` with every character hidden that belongs to a match; of the same length. Masking it again changes
        nothing."""
        while True in (hidden := self.hidden(text)):
            masked = _masked(text, hidden)
            if masked == text:
                break
            text = masked
        return text

    def found(self, text: str) -> tuple[str, ...]:
        """The names of the rules that match somewhere in `text`."""
        read = plain(text)
        return tuple(rule.name for rule in self.rules if next(iter(rule.spans(read)), None))

    def json_text(self, text: str) -> str:
        """JSON with its strings masked, keys too; a number becomes a string when it has to be masked. Unchanged when
        nothing is; text that is no JSON is masked as text."""
        if not self.rules:
            return text
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text)
        masked = self.value(value)
        return text if masked == value else json.dumps(masked, ensure_ascii=False)

    def value(self, value: Any) -> Any:
        """The same for what JSON stands for."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and self.found(str(value)):
            return self.text(str(value))
        return value

    def messages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Tool exchanges: what was said, arguments and results."""
        if not self.rules:
            return tuple(messages)
        return tuple(
            replace(
                message,
                content=self.json_text(message.content) if message.role == "tool" else self.text(message.content),
                tool_calls=tuple(
                    replace(call, arguments=self.json_text(call.arguments)) for call in message.tool_calls
                ),
            )
            for message in messages
        )

    def open_at(self, text: str) -> int:
        """From where on more text may still change what is masked."""
        read = plain(text)
        return min((rule.open_at(read) for rule in self.rules), default=len(text))

    def hidden(self, text: str, before: int | None = None) -> list[bool]:
        """Which characters of `text` belong to a match that begins before `before`, if that is given."""
        hidden = [False] * len(text)
        read = plain(text)
        for rule in self.rules:
            for start, end in rule.spans(read):
                if before is None or start < before:
                    hidden[start:end] = [True] * (end - start)
        return hidden


def _masked(text: str, hidden: Sequence[bool]) -> str:
    return "".join(
        MARK if hide and letter != "-" and not letter.isspace() else letter
        for letter, hide in zip(text, hidden, strict=True)
    )  # fmt: skip


class MaskStream:
    """A text that arrives in pieces, masked as the whole would be: what may yet turn out to be a match is held back,
    at most a few hundred characters."""

    def __init__(self, masks: Masks) -> None:
        self._masks = masks
        self._before = ""  # the character before what is held: a rule looks at it
        self._held = ""
        self._hidden: list[bool] = []  # of what is held

    def feed(self, text: str) -> str:
        """The next piece that is certain."""
        if not self._masks.rules:
            return text
        return self._take(text, None)

    def close(self) -> str:
        """The rest."""
        return self._take("", 0)

    def _take(self, text: str, hold: int | None) -> str:
        lead = len(self._before)
        whole = self._before + self._held + text
        known = [*([False] * lead), *self._hidden, *([False] * len(text))]
        cut = max(lead, self._masks.open_at(whole)) if hold is None else len(whole)
        # What begins where more text is awaited is not certain yet, even if it matches as it stands.
        found = self._masks.hidden(whole, before=cut)
        hidden = [one or other for one, other in zip(known, found, strict=True)]
        sure = _masked(whole[lead:cut], hidden[lead:cut])
        self._before, self._held, self._hidden = whole[:cut][-1:], whole[cut:], hidden[cut:]
        return sure
