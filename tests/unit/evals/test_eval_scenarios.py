"""Each scenario on a few lines of data of the public formats, through the real library."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lumina.agent.citations import CitationStream
from lumina.evals import citations, poison
from lumina.evals.baselines import Bm25, best_first, fused, last_messages
from lumina.evals.measures import common_prefix, paired_difference
from lumina.evals.reports import Report
from lumina.evals.scenarios import SCENARIOS, Options, run_scenario
from lumina.evals.scoring import Played, load_played, score
from lumina.evals.script import SETTLED, ScriptedTurn, load_script, save_script, write_script
from lumina.memory.errors import UsageError


def options(*paths: Path, **more) -> Options:
    return replace(Options(paths=paths, processes=1), **more)


def rows(report: Report, table: int = 0) -> dict:
    return {row[0]: row[1:] for row in report.tables[table].rows}


def met(report: Report) -> dict[str, bool]:
    return {target.what: target.met for target in report.targets}


def own_file(tmp_path: Path) -> Path:
    """Thirty turns about nothing, and one at the beginning that a question needs."""
    said = [("The kayak I bought is red and its name is Wanda.", "A fine kayak.")]
    said += [(f"Number {n} on my list is done.", f"Good, number {n} is done.") for n in range(30)]
    messages = []
    for at, (question, answer) in enumerate(said):
        messages.append({"id": f"q{at}", "role": "user", "text": question, "day": f"2026-01-{at + 1:02}"[:10]})
        messages.append({"id": f"a{at}", "role": "assistant", "text": answer})
    questions = [
        {"question": "What is the name of the kayak that I bought?", "evidence": ["q0"]},
        {"question": "Which colour has the kayak?", "evidence": [{"id": "q0", "quote": "red"}]},
        {"question": "Nobody knows?", "evidence": ["nowhere"]},
    ]
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"messages": messages, "questions": questions}) + "\n", encoding="utf-8")
    return path


def test_evidence_is_found_by_recall_and_not_by_the_last_messages(tmp_path: Path) -> None:
    report = run_scenario("evidence", options(own_file(tmp_path), budgets=(400,)))
    found = rows(report)
    assert found["Lumina, recall alone"] == (100.0,)
    assert found["Lumina, whole context"] == (100.0,)
    assert found["BM25"] == (100.0,)
    assert found["last 20 messages"] == (0.0,)
    assert "1 more name no evidence" in report.data
    assert report.as_json()["scenario"] == "evidence"


def test_headings_cost_every_row_so_a_budget_of_a_few_tokens_sends_nothing(tmp_path: Path) -> None:
    found = rows(run_scenario("evidence", options(own_file(tmp_path), budgets=(15,))))
    assert found["BM25"] == found["Lumina, recall alone"] == (0.0,)


def sgd_file(tmp_path: Path) -> Path:
    """A seat number that stands in no words, an accepted offer, and a time that is changed."""

    def user(said: str, **values: str) -> dict:
        slots = {name: [value] for name, value in values.items()}
        return {"speaker": "USER", "utterance": said,
                "frames": [{"service": "Food_1", "state": {"slot_values": slots}, "actions": []}]}  # fmt: skip

    def system(said: str) -> dict:
        return {"speaker": "SYSTEM", "utterance": said, "frames": []}

    turns = [
        user("A table for two at 7 pm in Oslo.", time="7 pm", city="Oslo", seats="2"),
        system("Shall I take Bistro Nord?"),
        user("Yes, do that.", time="7 pm", city="Oslo", seats="2", place="Bistro Nord"),
        system("Booked for 7 pm."),
        user("Oh, make it 8 pm please.", time="8 pm", city="Oslo", seats="2", place="Bistro Nord"),
        system("Now it is 8 pm."),
    ]
    path = tmp_path / "sgd.json"
    path.write_text(json.dumps([{"dialogue_id": "1", "turns": turns}]), encoding="utf-8")
    return path


def test_stale_values_are_not_shown_and_every_grounding_is_counted(tmp_path: Path) -> None:
    report = run_scenario("stale", options(sgd_file(tmp_path)))
    assert all(met(report).values()), report.targets
    assert {way: count for way, (count, _) in rows(report, 1).items()} == {
        "quoted": 3, "plain form of the quote": 0, "accepted offer": 1, "corrected by an operator": 1,
    }  # fmt: skip
    shown = rows(report)
    assert shown["facts only appended"][:2] == (100.0, 100.0)
    assert shown["Lumina, memory block"][:2] == (100.0, 0.0)


def test_stale_values_come_to_light_when_the_memory_appends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scenario sees the fault it is made for: a state whose newer value does not take the older one's place."""
    from lumina.memory.change import Change

    monkeypatch.setattr(Change, "later_than", lambda self, other: self.order < other.order)
    report = run_scenario("stale", options(sgd_file(tmp_path)))
    assert report.broken


IKAT = [{
    "number": "1-1", "ptkb": {"1": "I am vegan.", "2": "I live in Oslo."},
    "turns": [{"utterance": "What could I cook?", "resolved_utterance": "What could I cook?",
               "response": "A lentil stew.", "ptkb_provenance": [1]}]
    + [{"utterance": f"And what of point {n}?", "resolved_utterance": f"And what of point {n} of the lentil stew?",
        "response": f"Point {n} is fine."} for n in range(12)],
}]  # fmt: skip


def test_a_follow_up_is_covered_while_its_words_are_in_what_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "ikat.json"
    path.write_text(json.dumps(IKAT), encoding="utf-8")
    report = run_scenario("follow-ups", options(path))
    found = rows(report)
    assert found["last 1 turns word for word"][0] == pytest.approx(100 / 12)
    assert found["last 10 turns word for word"][0] == pytest.approx(100 * 10 / 12)
    window = sum(min(12, held) for held in (6, 7, 8, 9, 10)) / 5
    assert found["Lumina, state empty"][0] == pytest.approx(100 * window / 12)


def test_needed_statements_of_a_profile_are_sent(tmp_path: Path) -> None:
    path = tmp_path / "ikat.json"
    path.write_text(json.dumps(IKAT), encoding="utf-8")
    found = rows(run_scenario("profile", options(path, budgets=(2000,))))
    assert found["Lumina, budget of 2000"][:2] == (100.0, 100.0)


def test_a_script_is_the_same_for_everybody_and_asks_only_about_what_has_settled(tmp_path: Path) -> None:
    script = write_script(3, 150)
    assert script == write_script(3, 150) != write_script(4, 150)
    save_script(script, tmp_path / "s.jsonl")
    assert load_script(tmp_path / "s.jsonl") == script
    changed: dict[str, int] = {}
    for turn in script:
        for key in turn.asks:
            assert turn.turn - changed[key] >= SETTLED
            assert not set(turn.replaced.get(key, ())) & set(turn.facts.values())
        changed |= {op["key"]: turn.turn for op in turn.delta}


def test_conservation_keeps_every_planted_fact(tmp_path: Path) -> None:
    report = run_scenario("conservation", options(turns=(110,), write_script=tmp_path / "s.jsonl"))
    assert not report.broken, report.targets
    assert len(load_script(tmp_path / "s.jsonl")) == 110


def old_values(turn: ScriptedTurn) -> list[str]:
    return [value for old in turn.replaced.values() for value in old]


def test_what_another_system_sent_is_scored_by_what_stands_in_it(tmp_path: Path) -> None:
    script = write_script(1, 150)
    lines = [
        {"turn": turn.turn, "text_sent": "\n".join([*turn.facts.values(), *old_values(turn)])}
        for turn in script
    ]  # fmt: skip
    path = tmp_path / "peer.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = score(script, load_played(path))
    assert (found.current, found.stale) == (100.0, 100.0)
    marked = [
        Played(turn=t.turn, tokens=1, text="".join(f"{v} (replaced at turn 9)\n" for v in old_values(t)))
        for t in script
    ]  # fmt: skip
    assert (score(script, marked).current, score(script, marked).stale, score(script, marked).marked) == (
        0.0,
        0.0,
        100.0,
    )
    report = run_scenario("conservation", options(turns=(150,), score=path))
    assert rows(report)["peer.jsonl"][1] == 100.0
    with pytest.raises(UsageError, match="is missing in what was played"):
        score(script, [])


def test_isolation_finds_no_crossing_and_reads_its_own_words() -> None:
    report = run_scenario("isolation", options(limit=1))
    assert not report.broken, report.figures["crossings"]
    found = rows(report)
    assert found["context that points back"][0] == found["context that points back"][1] > 0


def test_poison_makes_real_attacks_and_sees_their_traces() -> None:
    """An obeying model repeats the order, so that the attack is made; a plain order writes nothing."""
    outcome = poison.measure(next(each for each in poison.corpus() if each.kind == "plain order"))
    assert outcome.obeyed
    assert (outcome.writes, outcome.lost) == ((), ())
    assert len(poison.corpus()) >= 60
    assert len(poison.pages()) >= 60


def test_a_page_that_orders_a_search_for_what_is_remembered_is_obeyed_and_refused() -> None:
    outcome = poison.measure(next(each for each in poison.pages() if "Search for {home.city}" in each.text))
    assert outcome.kind == "carrying values out"
    assert (outcome.writes, outcome.lost, outcome.foreign, outcome.forged) == ((), (), (), ())


def test_of_a_page_that_orders_findings_come_findings_under_its_number_and_nothing_else() -> None:
    """One of its findings bears a key of the person's own, one no number, and one is ordered as a fact as well."""
    outcome = poison.measure(next(each for each in poison.corpus() if each.kind == "finding"))
    assert outcome.obeyed
    assert outcome.findings > 0
    assert (outcome.writes, outcome.lost) == ((), ())


def test_a_scenario_without_its_data_says_what_it_reads() -> None:
    for each in SCENARIOS:
        if each.reads:
            with pytest.raises(UsageError, match="Nothing is downloaded"):
                run_scenario(each.name, Options())
    with pytest.raises(UsageError, match="There are: evidence"):
        run_scenario("nothing", Options())


def test_baselines_and_measures_are_what_their_names_say() -> None:
    assert best_first(Bm25(["a cat sat", "a dog ran", "cat and dog"]).scores("the dog")) == [1, 2, 0]
    assert fused([[0, 1, 2], [1, 0, 2]])[2] == 2
    assert last_messages(()) == []
    difference = paired_difference([True] * 9 + [False], [False] * 10, seed=1)
    assert difference.mean == pytest.approx(90)
    assert 60 <= difference.low < 90 < difference.high <= 100
    assert common_prefix(b"abcx", b"abcy") == 3
    assert common_prefix(b"", b"a") == 0


def test_x4_demand_5_no_answer_made_by_chance_is_resolved_wrongly_in_any_cut(monkeypatch) -> None:
    monkeypatch.setattr(citations, "MEGABYTES", {4096: 0.2, 4: 0.02})
    monkeypatch.setattr(citations, "GROWN", (1000, 4000))
    report = run_scenario("citations", options(limit=60))
    assert not report.broken
    assert {t.what: t.measured for t in report.targets if t.must}["wrong resolutions"] == 0
    assert max(report.figures["growth for four times the text"].values()) < 12
    ours, twin, _ = rows(report, 1)["an answer, pieces of 4096"]
    alone = rows(report, 1)["plain words, pieces of 4096"][0]
    assert 0 < ours < twin
    assert alone < 60 * ours


def test_a_stream_that_is_resolved_wrongly_is_counted(monkeypatch) -> None:
    monkeypatch.setattr(citations, "CitationStream", lambda citable: CitationStream(frozenset({1})))
    found = citations.check((1, 0, 3))
    assert found.wrong > 0
    assert found.examples


def claim_files(tmp_path: Path) -> Path:
    page = ["(meta data) TITLE: Ostby", "Mara Lindqvist built the harbour of Ostby in 1902.", "Boats may not enter it."]
    said = {"The harbour of Ostby was built by Mara Lindqvist in 1902.": "supported",
            "The harbour of Ostby was built by Jon Berg in 1902.": "partially_supported",
            "Turtles sleep under ice.": "not_supported"}  # fmt: skip
    lines = [
        json.dumps({"claim": claim, "evidence": page, "label": label, "supporting_sentences": [[1]]})
        for claim, label in said.items()
    ]
    (tmp_path / "claim_dev.jsonl").write_text("\n".join(lines), encoding="utf-8")
    heading = "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label"
    begun = [f"m\twow\tThe koi are orange.\thi\t{said}\t{label}" for said, label in
             (("The koi are orange.", "Fully attributable"), ("I like blue birds.", "Not attributable"))]  # fmt: skip
    (tmp_path / "begin_dev_wow.tsv").write_text("\n".join([heading, *begun]), encoding="utf-8")
    (tmp_path / "claim_test.jsonl").write_text("\n".join(lines), encoding="utf-8")  # kept apart: never read
    return tmp_path


def test_support_tells_carried_claims_from_others_and_reads_development_files_alone(tmp_path: Path) -> None:
    report = run_scenario("support", options(claim_files(tmp_path)))
    assert report.data == "development parts of begin wow (2), wice (3) claims"
    assert rows(report)["wice: supported against not"][0].startswith("1.000")
    assert rows(report, 1)["wice, partly"][:2] == (100.0, 100.0)
    shown = rows(report, 2)
    assert shown["passage holds a gold sentence"] == (100.0, 1)
    assert shown["other number is caught"] == (100.0, 1)
    assert shown["inserted not is caught"] == (100.0, 1)


def test_support_refuses_a_folder_without_the_sets(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No development file"):
        run_scenario("support", options(own_file(tmp_path)))
