"""Settings: where they come from, and what is said about one that cannot be used."""

from pathlib import Path

import pytest

from lumina.memory.errors import UsageError
from lumina.settings import NAMES, Settings, load, machine_zone, refused, table


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LUMINA_HOME", str(tmp_path))
    return tmp_path


def test_with_nothing_set_everything_has_a_default(home: Path) -> None:
    settings = load()
    assert (settings.model, settings.search_chain, settings.memory) == ("extractive", ("docs",), "on")
    assert settings.database == home / "lumina.db"


def test_loading_writes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUMINA_HOME", str(home / "not" / "there"))
    assert load().home == home / "not" / "there"
    assert list(home.iterdir()) == []


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.joinpath("lumina.toml").write_text('memory = "off"\ntimezone = "Asia/Tokyo"\n')
    monkeypatch.setenv("LUMINA_TIMEZONE", "Europe/Berlin")
    settings = load()
    assert (settings.memory, settings.zone, settings.model) == ("off", "Europe/Berlin", "extractive")


def test_an_empty_variable_is_one_that_is_not_set(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUMINA_MEMORY", "")
    assert load().memory == "on"


def test_a_relative_database_lies_in_the_data_folder_and_an_absolute_one_where_it_says(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LUMINA_DATABASE_URL", "sqlite:///mine.db")
    assert load().database == home / "mine.db"
    elsewhere = home.parent / "elsewhere.db"
    monkeypatch.setenv("LUMINA_DATABASE_URL", f"sqlite:///{elsewhere}")
    assert load().database == elsewhere


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("LUMINA_WEB_ALLOW", "10.1.2.3/24", "hosts"),
        ("LUMINA_MEMORY", "maybe", "on, off"),
        ("LUMINA_TIMEZONE", "Mars/Olympus", "IANA name"),
        ("LUMINA_TIMEZONE", "../zone", "IANA name"),
        ("LUMINA_DATABASE_URL", "mysql://x", "sqlite:///PATH"),
        ("LUMINA_DATABASE_URL", "sqlite:///", "sqlite:///PATH"),
        ("LUMINA_SEARCH", "docs,,", "docs"),
    ],
)
def test_a_bad_value_is_refused_by_name_with_what_is_allowed(
    home: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: str, allowed: str
) -> None:
    monkeypatch.setenv(setting, value)
    with pytest.raises(UsageError) as caught:
        load()
    said = str(caught.value)
    assert setting in said
    assert repr(value) in said
    assert allowed in said
    assert "the environment" in said


def test_a_bad_value_in_the_file_is_blamed_on_the_file(home: Path) -> None:
    home.joinpath("lumina.toml").write_text("memory = true\n")
    with pytest.raises(UsageError, match="LUMINA_MEMORY is True") as caught:
        load()
    assert "lumina.toml" in str(caught.value)


def test_every_bad_value_is_told_at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUMINA_MEMORY", "maybe")
    monkeypatch.setenv("LUMINA_TIMEZONE", "Mars/Olympus")
    with pytest.raises(UsageError, match=r"(?s)LUMINA_MEMORY.*LUMINA_TIMEZONE"):
        load()


def test_an_unknown_key_is_refused_with_the_nearest_known_one(home: Path) -> None:
    home.joinpath("lumina.toml").write_text('modle = "extractive"\n')
    with pytest.raises(UsageError, match=r"`modle`, which is no setting\. Did you mean `model`\?"):
        load()


def test_the_file_cannot_move_the_folder_it_lies_in(home: Path) -> None:
    home.joinpath("lumina.toml").write_text('home = "elsewhere"\n')
    with pytest.raises(UsageError, match="Set LUMINA_HOME in the environment"):
        load()


@pytest.mark.parametrize("content", [b"model = ", b'model = "\xff"'])
def test_a_broken_file_is_refused_and_left_as_it_is(home: Path, content: bytes) -> None:
    file = home / "lumina.toml"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read as settings"):
        load()
    assert file.read_bytes() == content


def test_a_home_that_is_a_file_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / "file"
    file.write_text("")
    monkeypatch.setenv("LUMINA_HOME", str(file))
    with pytest.raises(UsageError, match="LUMINA_HOME"):
        load()


def test_a_stranger_may_refuse_a_value_in_the_same_words() -> None:
    told = str(refused("LUMINA_MODEL", "gpt"))
    assert told.startswith("LUMINA_MODEL is 'gpt', which cannot be used. Allowed: extractive; or provider:name")


def test_the_machine_has_a_zone_even_when_it_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    assert machine_zone() == "Europe/Berlin"
    monkeypatch.setenv("TZ", "nonsense")
    assert machine_zone()


def test_the_table_for_people_names_every_setting() -> None:
    assert [row[0] for row in table()] == [f"LUMINA_{NAMES.get(name, name).upper()}" for name in Settings.model_fields]
    assert all(all(row) for row in table())


def test_a_password_in_a_url_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUMINA_DATABASE_URL", "mysql://me:hunter2@db.example/x")
    with pytest.raises(UsageError, match=r"mysql://me:\*\*\*@db\.example/x") as told:
        load()
    assert "hunter2" not in str(told.value)


def test_a_postgresql_url_is_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUMINA_DATABASE_URL", "postgresql://me@db.example/x")
    assert load().database == "postgresql://me@db.example/x"
