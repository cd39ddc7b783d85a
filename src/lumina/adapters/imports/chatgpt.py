"""ChatGPT's export (conversations.json): each conversation is a tree of messages, of which one path was shown.

The path to `current_node` is taken; other branches are reported as left out, hidden and system messages as dropped.
"""

from typing import Any

from lumina.adapters.imports.conversations import Conversation, Read, Said, from_json, number_of, storable, text_of
from lumina.memory.errors import UsageError
from lumina.memory.scope import check_id


def read_chatgpt(raw: str) -> Read:
    """UsageError for another kind of file."""
    value = from_json(raw, "The file")
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not all(
        isinstance(row, dict) and isinstance(row.get("mapping"), dict) for row in value
    ):
        raise UsageError(
            "The file is not ChatGPT's conversations.json: a conversation has no mapping. Nothing was imported."
        )
    read, names = Read(), set()
    for at, row in enumerate(value, 1):
        name = _name(row, at, names)
        names.add(name)
        title = storable(row["title"], read, name, 0) if isinstance(row.get("title"), str) else ""
        conversation = Conversation(name=name, title=title, at=number_of(row.get("create_time")))
        path = _path(row)
        for place, node in enumerate(path, 1):
            _message(node.get("message"), place, conversation, read)
        others = sum(1 for node in row["mapping"].values() if _words(node)) - sum(1 for node in path if _words(node))
        if others > 0:
            read.note(name, 0, "left out", f"{others} messages on other branches than the one that was shown")
        read.conversations.append(conversation)
    # The export has the newest first; the subject's own count goes with the time of asking.
    read.conversations.sort(key=lambda one: one.at or 0)
    return read


def _name(row: dict[str, Any], at: int, taken: set[str]) -> str:
    for key in ("conversation_id", "id"):
        try:
            name = check_id(key, row.get(key))
        except UsageError:
            continue
        if name not in taken:
            return name
    return f"chatgpt-{at}" if f"chatgpt-{at}" not in taken else f"chatgpt-{at}-{len(taken)}"


def _path(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes from the root to the one that was shown last. A circle ends where it would begin again."""
    mapping = row["mapping"]
    node, path, seen = row.get("current_node"), [], set()
    if not isinstance(node, str) or node not in mapping:
        node = next(reversed(mapping), None)
    while isinstance(node, str) and node not in seen and isinstance(mapping.get(node), dict):
        seen.add(node)
        path.append(mapping[node])
        node = mapping[node].get("parent")
    return path[::-1]


def _words(node: Any) -> bool:
    message = node.get("message") if isinstance(node, dict) else None
    author = message.get("author") if isinstance(message, dict) else None
    return isinstance(author, dict) and author.get("role") in ("user", "assistant")


def _message(message: Any, place: int, conversation: Conversation, read: Read) -> None:
    if not isinstance(message, dict):
        return  # the root has none
    author, content, about = (_object(message, key) for key in ("author", "content", "metadata"))
    role = author.get("role")
    if role not in ("user", "assistant") or about.get("is_visually_hidden_from_conversation"):
        read.note(conversation.name, place, "dropped", f"a hidden or {str(role)[:20]} message")
        return
    kind = content.get("content_type")
    if kind not in ("text", "multimodal_text") or message.get("recipient", "all") != "all":
        read.note(
            conversation.name, place, "dropped", f"a message of kind {str(kind)[:40]} that is no part of the talk"
        )
        return
    text = text_of(content.get("parts"), read, conversation.name, place)
    if text:
        conversation.said.append(Said(role=role, text=text, place=place, at=number_of(message.get("create_time"))))


def _object(message: dict[str, Any], key: str) -> dict[str, Any]:
    value = message.get(key)
    return value if isinstance(value, dict) else {}
