"""Whether a text shows a card number, or enough of one to matter.

Four digits in a row stand in many a hash and many a time of day, so a test that looks for those fails by chance. Eight
of the number's digits, however they are grouped, do not.
"""

TELLING = 8  # digits


def shows_card(text: str, card: str) -> bool:
    digits = _digits(card)
    runs = {digits[at : at + TELLING] for at in range(len(digits) - TELLING + 1)}
    return any(run in grouped for grouped in (text, text.replace(" ", ""), text.replace("-", "")) for run in runs)


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())
