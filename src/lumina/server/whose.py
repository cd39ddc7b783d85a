"""Whose data a request may touch.

Every route asks here, and nowhere else; what it gets is a scope, made from who is asking and never from a field of the
request's body. On a machine of one's own there is one tenant and one person, and neither is mentioned.
"""

from typing import Annotated

from fastapi import Depends, Path, Request

from lumina.agent.search_agent import SearchAgent
from lumina.memory.scope import SubjectScope, ThreadScope
from lumina.server.ids import thread_name

LOCAL = SubjectScope(tenant="local", subject="me")


def agent_of(request: Request) -> SearchAgent:
    return request.app.state.agent


def subject_of(request: Request) -> SubjectScope:
    return request.app.state.whose(request)


def thread_of(
    subject: Annotated[SubjectScope, Depends(subject_of)],
    thread: Annotated[str, Path(max_length=1100, description="id of the conversation")],
) -> ThreadScope:
    return subject.thread(thread_name(thread))


Agent = Annotated[SearchAgent, Depends(agent_of)]
Subject = Annotated[SubjectScope, Depends(subject_of)]
InThread = Annotated[ThreadScope, Depends(thread_of)]
Seq = Annotated[int, Path(ge=1, le=10**9, description="number of the turn")]
