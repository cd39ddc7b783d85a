"""Which stored texts a receipt names, for the export of one thread."""

import json


def receipt_digests(body: object) -> set[str]:
    """The digests (of instructions) that a receipt's items name; none of one that cannot be read."""
    try:
        items = json.loads(body).get("items", []) if isinstance(body, str) else []
        return {item["digest"] for item in items if isinstance(item, dict) and isinstance(item.get("digest"), str)}
    except (ValueError, RecursionError, AttributeError, TypeError):
        return set()
