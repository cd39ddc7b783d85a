"""What the agent needs from outside, as small protocols.

An adapter or a store implements one of these and is handed in by `lumina.wiring`; the agent never learns which. A
search ends in one of three ways that are never mixed up: found, empty, failed (promise 9).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from lumina.memory.delta import DeltaRequest
from lumina.memory.scope import SubjectScope

Depth = Literal["snippet", "page"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing a search found.

    `locator` is the identity that gives a source its number: a canonical URL, or `doc:` and the document's id.
    `text` is what of it the model reads now: offsets `start`..`end` (code points) into `stored`. `stored` is all the
    text of the source that is kept for the reader (the page, the document, or just the snippet).
    """

    locator: str
    url: str  # what a person opens: http(s):// or file://; page only, a model never sees it
    title: str
    host: str  # the URL's host, or "documents" for local ones
    depth: Depth
    stored: str
    start: int
    end: int
    heading: str = ""  # the path of headings above the passage, shown and not part of `text`
    score: float = 0.0  # best first; comparable only within one result
    coverage: float = 0.0  # share (0-1) of the question's idf weight that the passage holds

    @property
    def text(self) -> str:
        return self.stored[self.start : self.end]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`hits` best first. Several passages of one source share its locator."""

    provider: str
    hits: tuple[Hit, ...]
    kind: Literal["found"] = "found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """The provider answered and has nothing; `reason` says what was looked through."""

    provider: str
    reason: str
    kind: Literal["empty"] = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The provider could not be asked; `reason` is for a person, `retry` says whether another try may help."""

    provider: str
    reason: str
    retry: bool
    kind: Literal["failed"] = "failed"


SearchResult = Found | Empty | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back through a door. `headers` have lower-case names; `body` is decoded, and cut (`cut`) at the limit
    that the caller gave. Any status is an answer: the caller reads it."""

    url: str  # after redirects
    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool = False


class Door(Protocol):
    """A guarded way out. `web` leads to public addresses only, for whatever a model or a page names; a configured door
    leads to one scheme, host and port that the operator set. Nothing else in Lumina speaks to the network."""

    async def send(
        self, method: Literal["GET", "POST"], url: str, *, headers: Mapping[str, str] | None = None,
        json: object = None, limit: int = 2_000_000, seconds: float = 20,
    ) -> Answered:  # fmt: skip
        """Sends one request. `limit` in decoded bytes; `seconds` for all of it, redirects included. Raises
        ProviderError, with a reason for people, when the guard refuses or no answer can be had; its `retry` says
        whether another try may help."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the web as text. `url` is where it was found after redirects; `text` is what is stored and cited."""

    url: str
    title: str
    text: str
    kind: Literal["page"] = "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A page that could not be read; `reason` is for a person, `retry` says whether another try may help."""

    url: str
    reason: str
    retry: bool
    kind: Literal["unread"] = "unread"


class PageReader(Protocol):
    """Fetches a page and makes text of it. Returns Unread, and does not raise, for what can go wrong outside."""

    async def read(self, url: str) -> Page | Unread: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What one model call took, as its provider reported it; 0 where it reported nothing. `input` holds what was
    `cached` (read from the provider's cache) and `cache_written`; `output` holds what was `reasoning`."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteReply:
    """A note taker's answer with what it took. `model`: who was asked, as usage names it. `problem`: why `text` is
    not to be read, for people; it then counts as a try that failed."""

    text: str
    model: str = ""
    tokens: Tokens = Tokens()
    problem: str = ""


class NoteTaker(Protocol):
    """Answers the delta step's question: what changed in this turn."""

    name: str

    async def note(self, request: DeltaRequest) -> str | NoteReply:
        """The answer as JSON text (memory.delta.Note), alone where no model took anything for it. Raises ProviderError
        when it cannot be had."""
        ...


class SearchProvider(Protocol):
    """Looks things up. It returns Failed instead of raising for anything that can go wrong outside."""

    name: str

    async def search(self, scope: SubjectScope, query: str, *, limit: int) -> SearchResult: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSpan:
    """A passage as it is indexed: offsets into the document's text, the headings above it, its folded words."""

    start: int
    end: int
    heading: str
    words: tuple[str, ...]  # memory.words.forms of title, heading and body as far as they count for finding


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document to keep. `locator` is unique within its owner; `digest` tells whether the file has changed."""

    locator: str
    url: str
    title: str
    digest: str
    text: str
    passages: tuple[PassageSpan, ...]
    size: int = 0  # bytes of the file


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInfo:
    """A kept document without its text."""

    id: int
    locator: str
    url: str
    title: str
    digest: str
    passages: int
    added_at: str  # ISO 8601, UTC
    own: bool  # True: the subject's own; False: the tenant's


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage:
    """A passage that a word search returned. `rank` counts from 0, best (BM25) first."""

    document: int
    locator: str
    url: str
    title: str
    ordinal: int  # place in its document, from 0
    start: int
    end: int
    heading: str
    body: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageMatches:
    """What a word search over documents returned.

    `frequency`: in how many passages of the scope each asked word stands; `passages`: how many passages the scope has.
    """

    hits: tuple[StoredPassage, ...] = ()
    frequency: dict[str, int] = field(default_factory=dict)
    passages: int = 0


class DocumentStore(Protocol):
    """Documents of a tenant, or of one subject. A subject reads its tenant's and its own; filters are in the query."""

    async def put_documents(self, scope: SubjectScope, documents: Sequence[NewDocument], *, own: bool = False) -> None:
        """Keeps or replaces the documents (by locator) and their passages, in one transaction."""
        ...

    async def documents(self, scope: SubjectScope, *, under: str = "") -> list[DocumentInfo]:
        """All readable documents whose locator starts with `under`, in the order of their locators."""
        ...

    async def document_text(self, scope: SubjectScope, document: int) -> str:
        """The whole stored text. NotFound if there is none in this scope."""
        ...

    async def remove_documents(self, scope: SubjectScope, ids: Sequence[int]) -> int:
        """Removes them with their passages and index rows; returns how many there were."""
        ...

    async def find_passages(self, scope: SubjectScope, words: Sequence[str], *, limit: int) -> PassageMatches:
        """Passages that hold any of `words` (folded by memory.words), best BM25 first, at most `limit`."""
        ...
