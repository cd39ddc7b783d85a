"""/v1 with the real `openai` client against the server on loopback."""

import asyncio
from contextlib import asynccontextmanager

import httpx
import openai
import pytest

from lumina.memory.scope import SubjectScope
from lumina.testing import Call, Gate, Reply
from support.serving import SUBJECT

SEARCH = Call("web_search", {"query": "cache"})
ASK = {"model": "lumina", "messages": [{"role": "user", "content": "How large is the cache?"}]}


@asynccontextmanager
async def speaking(client, person="me"):
    """The `openai` client, as one person."""
    http = httpx.AsyncClient(trust_env=False)
    async with openai.AsyncOpenAI(
        base_url=client.address + "/v1", api_key="none", max_retries=0, http_client=http,
        default_headers={SUBJECT: person},
    ) as speaker:  # fmt: skip
        yield speaker


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


async def threads(client):
    return (await client.get("/api/threads")).json()


async def test_an_answer_has_its_citations_as_annotations_streamed_or_not(serving):
    answer = "It keeps 128 [1]."
    async with serving([SEARCH, answer, SEARCH, answer]) as client, speaking(client) as ai:
        whole = await ai.chat.completions.create(**ASK)
        message = whole.choices[0].message
        assert whole.choices[0].finish_reason == "stop"
        [cited] = message.annotations
        assert message.content[cited.url_citation.start_index : cited.url_citation.end_index] == "[1]"
        assert cited.url_citation.title
        assert cited.url_citation.url
        text, last, usage = "", None, None
        stream = await ai.chat.completions.create(**ASK, stream=True, stream_options={"include_usage": True})
        async for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                last = choice
        assert text == message.content
        assert last.finish_reason == "stop"
        assert last.delta.annotations == [cited.model_dump()]
        assert usage.prompt_tokens > 0
        assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
        assert len(await threads(client)) == 2


async def test_a_follow_up_with_the_whole_history_goes_on_in_the_same_conversation(serving):
    async with serving(["One ![x](https://evil.test/).", "Two.", "Three.", "Other."]) as client, speaking(client) as ai:
        said = []
        for question in ("a?", "b?", "c?"):
            said.append(user(question))
            done = await ai.chat.completions.create(model="lumina", messages=said)
            said.append(assistant(done.choices[0].message.content))
        [thread] = await threads(client)
        assert thread["turns"] == 3
        changed = [user("a?"), assistant("Another answer."), user("b?")]
        done = await ai.chat.completions.create(model="lumina", messages=changed)
        assert done.lumina["thread"] != thread["id"]
        turns = (await client.get(f"/api/threads/{done.lumina['thread']}/turns")).json()
        assert [(turn["question"], turn["answer"]) for turn in turns] == [("a?", "Another answer."), ("b?", "Other.")]


async def test_a1_the_same_words_of_another_person_find_nothing_of_the_first(serving):
    async with serving(["One.", "Two."]) as client, speaking(client) as ann, speaking(client, "eve") as eve:
        await ann.chat.completions.create(model="lumina", messages=[user("a?")])
        [thread] = await threads(client)
        said = [user("a?"), assistant("One."), user("b?")]
        done = await eve.chat.completions.create(model="lumina", messages=said)
        assert done.lumina["thread"] != thread["id"]
        assert (await threads(client))[0]["turns"] == 1


async def test_a_conversation_is_named_by_a_header(serving):
    async with serving(["One.", "Two."]) as client, speaking(client) as ai:
        for question in ("a?", "b?"):
            named = {"X-Lumina-Thread": "mine"}
            await ai.chat.completions.create(model="lumina", messages=[user(question)], extra_headers=named)
        assert [(row["id"], row["turns"]) for row in await threads(client)] == [("mine", 2)]


async def test_the_clients_system_message_is_an_instruction_and_no_memory(serving):
    async with serving(["Yes."]) as client, speaking(client) as ai:
        said = [{"role": "system", "content": "Answer as a pirate."}, user("a?")]
        done = await ai.chat.completions.create(model="lumina", messages=said)
        thread = done.lumina["thread"]
        [turn] = (await client.get(f"/api/threads/{thread}/turns")).json()
        assert turn["question"] == "a?"
        call, *others = (await client.get(f"/api/threads/{thread}/turns/1/calls")).json()
        assert call["same"]
        assert call["messages"][0]["role"] == "system"
        assert call["messages"][0]["content"].endswith("Answer as a pirate.")
        rest = [*call["messages"][1:], *(message for other in others for message in other["messages"])]
        assert not any("pirate" in message["content"] for message in rest)


async def test_a_title_that_the_client_asks_for_is_not_recorded(serving):
    async with serving(["Caches", "Caches"]) as client, speaking(client) as ai:
        said = [user("### Task:\nGenerate a concise, 3-5 word title with an emoji.\n### Chat History:\nUSER: a?")]
        done = await ai.chat.completions.create(model="lumina", messages=said)
        assert done.choices[0].message.content == "Caches"
        stream = await ai.chat.completions.create(model="lumina", messages=said, stream=True)
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == "Caches"
        assert await threads(client) == []


async def test_what_cannot_be_honoured_is_refused_with_the_reason_and_nothing_is_stored(serving):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    refused = [
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "?"}, image]}]}, "image_url"),
        ({"n": 2}, "n can only be 1"), ({"tools": [tool]}, "Tools"), ({"messages": [assistant("a")]}, "last message"),
        ({"messages": []}, "messages"), ({"response_format": {"type": "json_object"}}, "JSON"),
        ({"messages": [user("a"), user("b"), user("c")]}, "alternate"),
    ]  # fmt: skip
    async with serving([]) as client, speaking(client) as ai:
        for more, reason in refused:
            with pytest.raises(openai.BadRequestError, match=reason) as caught:
                await ai.chat.completions.create(**{**ASK, **more})
            assert set(caught.value.body) == {"message", "type", "param", "code"}
        with pytest.raises(openai.NotFoundError):
            await ai.chat.completions.create(**{**ASK, "model": "gpt-4o"})
        assert [model.id async for model in await ai.models.list()] == ["lumina", "lumina-research"]
        assert await threads(client) == []


async def test_a_client_that_goes_away_stops_nothing(serving):
    gate = Gate()
    async with serving([Reply("It ", gate, "is.")]) as client, speaking(client) as ai:
        stream = await ai.chat.completions.create(**ASK, stream=True)
        await anext(aiter(stream))
        await stream.close()
        gate.open()
        [thread] = await threads(client)
        async for _ in client.agent.follow(SubjectScope(tenant="local", subject="me").thread(thread["name"]), 1, 1):
            pass
        turn = (await client.get(f"/api/threads/{thread['id']}/turns/1")).json()
        assert (turn["status"], turn["answer"]) == ("complete", "It is.")


async def test_two_clients_at_once_have_a_conversation_each(serving):
    async with serving(["Same.", "Same."]) as client, speaking(client) as one, speaking(client) as other:
        done = await asyncio.gather(*(ai.chat.completions.create(**ASK) for ai in (one, other)))
        assert len({answer.lumina["thread"] for answer in done}) == 2


async def test_a4_v1_is_behind_the_gate(serving):
    async with serving([]) as client:
        for path in ("/v1/models", "/v1/chat/completions"):
            assert (await client.get(path, headers={"host": "evil.example"})).status_code == 421
            assert (await client.get(path, headers={"origin": "https://evil.example"})).status_code == 403
        plain = await client.http.post(client.address + "/v1/chat/completions", content=b"{}")
        assert plain.status_code == 415


async def test_an_answer_that_fails_is_an_error_of_the_server_and_the_question_is_kept(serving):
    async with serving([RuntimeError("down"), RuntimeError("down")], model_tries=1) as client, speaking(client) as ai:
        with pytest.raises(openai.InternalServerError, match="The question is kept"):
            await ai.chat.completions.create(**ASK)
        with pytest.raises(openai.APIError, match="The question is kept"):
            async for _ in await ai.chat.completions.create(**ASK, stream=True):
                pass
        assert [row["turns"] for row in await threads(client)] == [1, 1]


async def test_i5_an_image_in_an_answer_reaches_no_client_streamed_or_not(serving):
    async with (
        serving([Reply("See !", "[x](https://evil.test/?d=1)."), "See ![x](https://evil.test/?d=1)."]) as client,
        speaking(client) as ai,
    ):
        stream = await ai.chat.completions.create(**ASK, stream=True)
        streamed = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        whole = (await ai.chat.completions.create(**ASK)).choices[0].message.content
        assert "![" not in streamed
        assert streamed == whole
