"""What belongs to a turn, as rows and as lines: which table holds which line, in the order of the file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Select, Table, bindparam, case, select

from lumina.memory.transfer_lines import (
    CitationLine,
    DeltaJobLine,
    DeltaLine,
    EventLine,
    Parts,
    PassageLine,
    ReceiptLine,
    ToolCallLine,
    TurnLine,
    UsageLine,
)
from lumina.stores import rows
from lumina.stores.schema import (
    citations,
    delta_jobs,
    deltas,
    events,
    passages,
    receipts,
    tool_calls,
    turn_sources,
    usage,
)
from lumina.stores.sql.keys import of_thread

LISTS = {"cited", "followups", "exchanges", "passage", "missing"}  # columns of JSON that a line holds as lists
FLAGS = {"superseded", "checkable", "deltas"}


@dataclass(frozen=True, slots=True)
class Belonging:
    """A table of rows that belong to turns. `line` is None for what the turn's own line holds."""

    table: Table
    line: type[Parts] | None
    statement: Select[Any]


def _belonging(table: Table, line: type[Parts] | None, *order: Any) -> Belonging:
    among = (table.c.seq > bindparam("past"), table.c.seq <= bindparam("last"))
    statement = select(table).where(*of_thread(table), *among).order_by(table.c.seq, table.c.attempt, *order)
    return Belonging(table, line, statement)


QUESTION_FIRST = case((passages.c.part == "question", 0), else_=1)
BELONGING = (
    _belonging(turn_sources, None, turn_sources.c.place),
    _belonging(tool_calls, ToolCallLine, tool_calls.c.place),
    _belonging(citations, CitationLine, citations.c.place),
    _belonging(delta_jobs, DeltaJobLine),
    _belonging(deltas, DeltaLine, deltas.c.correction),
    _belonging(receipts, ReceiptLine, receipts.c.call),
    _belonging(usage, UsageLine, usage.c.number),
    _belonging(events, EventLine, events.c.number),
    _belonging(passages, PassageLine, QUESTION_FIRST, passages.c.start, passages.c.end),
)
TABLES = {line.model_fields["kind"].default: each.table.name for each in BELONGING if (line := each.line) is not None}


def line_of(line: Any, row: Any, **changed: object) -> Any:
    """The line that holds the row's columns under their own names. Damaged when one is not what was written."""
    values = {name: _value(row, name) for name in line.model_fields if name not in changed and name != "kind"}
    return made(line, {**values, **changed})


def made(line: Any, values: dict[str, object]) -> Any:
    try:
        return line(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise rows.Damaged(f"{where} {first['msg'].removeprefix('Value error, ')}") from None


def _value(row: Any, name: str) -> object:
    if name in LISTS:
        return frozen(rows.parsed(row, name, list))
    value = getattr(row, name)
    if name in FLAGS and value in (0, 1):
        return bool(value)
    return float(value) if name == "score" and isinstance(value, int) else value


def frozen(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    if isinstance(value, list):
        return tuple(frozen(each) for each in value)
    return {name: frozen(each) for name, each in value.items()} if isinstance(value, dict) else value


def turn_line(row: Any, read: Iterable[Any]) -> TurnLine:
    return line_of(TurnLine, row, read=tuple(rows.whole(one, "n", 1) for one in read))


def turn_row(line: TurnLine) -> dict[str, Any]:
    return _plain(line.model_dump(exclude={"kind", "read"}))


def turn_sources_rows(line: TurnLine) -> Iterator[dict[str, Any]]:
    for place, n in enumerate(line.read):
        yield {"seq": line.seq, "attempt": line.attempt, "n": n, "place": place}


def row_of(line: Parts, before: int) -> tuple[str, dict[str, Any]]:
    """The name of the table and the row. `before`: how many of its kind stand before it in its turn."""
    row = _plain(line.model_dump(exclude={"kind"}))
    match line:
        case CitationLine():
            row["place"] = before
        case EventLine() | UsageLine():
            row["number"] = before + 1
        case _:
            pass
    return TABLES[type(line).model_fields["kind"].default], row


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    for name, value in values.items():
        if name in LISTS:
            values[name] = rows.to_json(value)
        elif name in FLAGS:
            values[name] = int(value)
    return values
