def small_talk(question: str) -> str:
    folded = question.lower().strip(" .!")
    if folded in ("hello", "hi", "hey"):
        return "hello"
    return "thanks" if folded in ("thanks", "thank you") else ""


def asking(question: str) -> str:
    return question
