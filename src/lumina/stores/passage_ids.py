"""The number of a passage of a turn: the turn's seq in the high bits, its place in the turn in the low ones.

Ids go up with the turns, whichever was committed first, so "newer than" and "before turn 40" are comparisons of
numbers, the same in every store.
"""

from lumina.memory.errors import UsageError

PLACE_BITS, SEQ_BITS = 16, 20  # 65,536 passages a turn and a million turns a thread


def passage_id(seq: int, place: int) -> int:
    if place >> PLACE_BITS or seq >> SEQ_BITS:
        raise UsageError(
            f"A thread keeps {(1 << SEQ_BITS) - 1} turns with {1 << PLACE_BITS} passages each. Nothing was stored; "
            "start a new thread."
        )
    return seq << PLACE_BITS | place
