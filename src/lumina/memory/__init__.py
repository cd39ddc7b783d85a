"""The heart: what a conversation's memory is, as values and rules, with no input or output.

Begin with `thread` (what a library user calls), then `context` (what will be sent, decided once), `rendering` (the one
place where it becomes text), `window`, `state` and `delta`, `recall`, `receipt`. It needs the standard library and
pydantic; a store that keeps the rows is handed in (`store`, a protocol).
"""
