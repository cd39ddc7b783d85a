from lumina.adapters.pages.kept import Kept


def test_what_is_kept_has_an_age_and_a_size_on_the_clock_that_was_given() -> None:
    now = [0.0]
    kept: Kept[str] = Kept(most=10, age=60, clock=lambda: now[0])
    kept.put("a", "A", 4)
    kept.put("b", "B", 4)
    assert kept.get("a") == "A"
    kept.put("c", "C", 4)  # b was used longest ago
    assert [kept.get(key) for key in "abc"] == ["A", None, "C"]
    kept.put("huge", "H", 11)
    assert kept.get("huge") is None
    assert kept.get("a") == "A"
    now[0] = 60.1
    assert kept.get("a") is None
    kept.put("c", "again", 10)
    assert kept.get("c") == "again"
