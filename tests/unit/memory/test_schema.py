"""The declared schema: what it says of a key, how it is read, and what is wrong with one that cannot be used."""

from pathlib import Path

import pytest

from lumina.memory.schema import DeclaredKey, Schema, SchemaError

TOML = r"""
undeclared = "refuse"
never = ["card_number"]
issues_follow = true

[patterns]
pin = 'PIN \d{4}'

[keys."account.status"]
values = ["open", "closed"]
about = "subject"
meaning = "whether it can be used"

[keys."device.*"]
[keys."device.count"]
type = "number"
[keys."issue.*"]
"""


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    file = tmp_path / "schema.toml"
    file.write_text(TOML)
    return Schema.from_toml(file)


def test_a_file_becomes_a_schema_and_comes_back_the_same(schema: Schema, tmp_path: Path):
    assert Schema.from_json(schema.to_json()) == schema
    (tmp_path / "schema.json").write_text(schema.to_json())
    assert Schema.from_toml(tmp_path / "schema.json") == schema
    assert Schema.from_json("{}") == Schema()


def test_the_nearest_declaration_counts_and_the_rest_is_refused(schema: Schema):
    status, router, count = schema.of("account.status"), schema.of("device.router.model"), schema.of("device.count")
    found = [(each.type, each.values) for each in (status, router, count) if each]
    assert found == [("one of", ("open", "closed")), ("text", ()), ("number", ())]
    assert schema.of("device") is None
    assert "not declared" in schema.refuses("diet")
    assert schema.refuses("device.router.model") == ""
    assert Schema().refuses("diet") == ""


def test_where_a_key_belongs(schema: Schema):
    assert schema.about("account.status", "fact") == "subject"
    assert schema.about("issue.cheque", "issue") == "subject"
    assert schema.about("issue.cheque", "fact") == schema.about("device.router", "fact") == ""


@pytest.mark.parametrize(
    ("type_", "written", "quote", "kept"),
    [
        ("number", "1200.5", "about 1.200,50 euros", "1200.5"), ("number", "1.200,50", "about 1.200,50 euros", None),
        ("number", "7", "about 8", None), ("date", "2026-03-05", "on 5 March 2026", "2026-03-05"),
        ("date", "5 March 2026", "on 5 March 2026", None), ("date", "2026-02-30", "on 30 February 2026", None),
        ("yes/no", "True", "sure", "yes"), ("yes/no", "no", "never", "no"), ("yes/no", "maybe", "maybe", None),
        ("text", "York", "I live in York", "York"), ("text", "Leeds", "I live in York", None),
    ],
)  # fmt: skip
def test_a_value_is_held_to_its_type(type_, written: str, quote: str, kept: str | None):
    assert DeclaredKey(key="x", type=type_).quoted(written, [quote], "2026-03-01") == kept


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('undeclared = "maybe"', ["line 1", "undeclared", "accept or refuse"]),
        ("\n\n[keys.\"Account Status\"]", ["line 3", "Account Status", "not a key"]),
        ('[keys.account.status]\ntype = "text"', ["line 1", "account", 'keys."account.status"']),
        ('[keys."a.b"]\ntype = "colour"', ["line 1", "a.b", "colour"]),
        ('[keys."a.b"]\ntype = "one of"', ["a.b", "values"]),
        ('[keys."a.b"]\nabout = "me"', ["line 1", "a.b", "thread or subject"]),
        ('never = ["passport"]', ["line 1", "passport", "card_number"]),
        ("[patterns]\npin = '(a+)+'", ["line 2", "pin", "not taken"]),
        ("keys = 3", ["line 1", "keys", "not a table"]),
        ("colour = 1", ["line 1", "colour", "undeclared"]),
        ("issues_follow = 1", ["line 1", "true or false"]),
        ("a = \n", ["line 1"]),
        ('[keys."a.b"]\nvalues = ["x\\ty"]', ["a.b", "not a line"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_file_line_and_key(tmp_path: Path, text: str, said: list[str]):
    file = tmp_path / "desk.toml"
    file.write_text(text)
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(file)
    for words in ["desk.toml", *said]:
        assert words in str(caught.value)


def test_a_file_that_is_not_there_is_told_as_such(tmp_path: Path):
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.from_toml(tmp_path / "none.toml")
