"""/api/usage."""

from support.serving import as_person


async def test_what_the_models_took_is_summed_up_for_the_asker_alone(serving):
    async with serving(["One.", "Two."]) as ann:
        thread = await ann.begin()
        for question in ("a?", "b?"):
            await ann.stream((await ann.ask(thread, question))["events"])
        rows = (await ann.get("/api/usage?by=turn")).json()
        assert [row["what"] for row in rows] == [{"thread": thread, "turn": 1}, {"thread": thread, "turn": 2}]
        assert all(row["calls"] >= 1 and row["input"] > 0 for row in rows)
        answers = [row for row in (await ann.get("/api/usage?by=purpose")).json() if row["what"]["purpose"] == "answer"]
        assert answers[0]["calls"] == 2
        assert (await ann.get("/api/usage?since=9999-01-01")).json() == []
        assert (await ann.get("/api/usage?since=today")).status_code == 400
        assert (await ann.get("/api/usage?by=tenant")).status_code == 422
        eve = as_person(ann, "eve")
        for by in ("day", "turn", "purpose", "model"):
            assert (await eve.get(f"/api/usage?by={by}")).json() == []
        await eve.http.aclose()
