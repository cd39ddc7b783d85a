"""What a store may be able to do beyond what every store must, and how its suite asks for it.

A subclass of `StoreSuite` says what its store can do:

    class TestMyStore(StoreSuite):
        capabilities = frozenset({"documents"})

The tests of everything else are skipped, each with the name of what is absent, so that a report shows what a store has
proved and what it has not.
"""

from collections.abc import Callable
from typing import TypeVar

import pytest

T = TypeVar("T")

# Name -> what it means, and what the subclass has to bring for its tests.
CAPABILITIES = {
    "documents": "keeps documents and finds their passages; a fixture `library`: the store, as a DocumentStore",
    "several processes": "may be opened several times at one place; fixtures `another`, which opens one more store on "
    "what `store` is on and closes it at the end, and `cut_off`, which makes `store` look gone to the others though it "
    "goes on (both are called and awaited)",
    "forget": "forgets entries, turns, threads and subjects",
    "transfer": "writes all that it holds of a thread or a subject as lines, and takes such lines in",
    "vectors": "keeps embeddings of passages and finds the nearest",
}
ALL = frozenset(CAPABILITIES)
ABSENT = "The store does not say that it can do this:"


def needs(*names: str) -> Callable[[T], T]:
    """Marks a test, or all tests of a suite, as being about optional capabilities."""
    assert set(names) <= ALL, f"no such capability: {names}"

    def marked(what: T) -> T:
        tests = [what] if not isinstance(what, type) else vars(what).values()
        for test in tests:
            if getattr(test, "__name__", "").startswith("test_"):
                test.needs = getattr(test, "needs", frozenset()) | set(names)  # type: ignore[attr-defined]
        return what

    return marked


class Capable:
    """A suite that skips what its store does not say it can do."""

    capabilities: frozenset[str] = frozenset()

    @pytest.fixture(autouse=True)
    def _capable(self, request: pytest.FixtureRequest) -> None:
        assert self.capabilities <= ALL, f"unknown capabilities: {sorted(self.capabilities - ALL)}"
        absent = getattr(request.function, "needs", frozenset()) - self.capabilities
        if absent:
            pytest.skip(f"{ABSENT} {', '.join(sorted(absent))}")
