"""Cases O2 and O3: an address is read as a browser reads it, or refused; the host that is shown is the one opened.

The expected values are a browser's: `tools/read_addresses.mjs` writes what `new URL()` says into
tests/data/web_addresses.json. A row with `refused` is one that Lumina does not open though a browser would, or would
with a page to start from; the words are part of the reason.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumina.agent.web_address import LONGEST, WebAddress
from lumina.memory.errors import UsageError

ROWS = json.loads((Path(__file__).parents[2] / "data" / "web_addresses.json").read_text(encoding="utf-8"))
OPENED = [row for row in ROWS if "refused" not in row]
REFUSED = [row for row in ROWS if "refused" in row]


def name(row: dict) -> str:
    return ascii(row["spelling"])[1:60]


def test_O2_the_table_is_long_enough_to_mean_something() -> None:
    assert len(OPENED) > 60
    assert len(REFUSED) > 60


@pytest.mark.parametrize("row", OPENED, ids=name)
def test_O3_an_address_is_opened_where_a_browser_would_open_it(row: dict) -> None:
    address = WebAddress.of(row["spelling"])
    assert address.url == row["href"]
    assert (f"[{address.name}]" if ":" in address.name else address.name) == row["host"]
    assert address.url.isascii()


@pytest.mark.parametrize("row", OPENED, ids=name)
def test_O3_the_host_shown_is_the_host_that_a_browser_opens(row: dict) -> None:
    """In ASCII as a browser has it, but for names whose own letters deceive nobody."""
    address = WebAddress.of(row["spelling"])
    port = f":{address.port}" if f":{address.port}" in row["href"].partition("/")[2] else ""
    assert address.host == row.get("shown", row["host"].removesuffix(".")) + port
    assert WebAddress.of(f"http://{address.host}/").name == address.name.removesuffix(".")


@pytest.mark.parametrize("row", REFUSED, ids=name)
def test_O2_what_is_no_absolute_web_address_is_refused_with_a_reason(row: dict) -> None:
    with pytest.raises(UsageError, match=row["refused"]):
        WebAddress.of(row["spelling"])


@pytest.mark.parametrize("row", [row for row in ROWS if row["href"] is None], ids=name)
def test_O2_what_a_browser_refuses_is_refused(row: dict) -> None:
    with pytest.raises(UsageError):
        WebAddress.of(row["spelling"])


@pytest.mark.parametrize(
    "spellings",
    [
        """https://example.org/a http://example.org/a https://example.org:443/a http://example.org:80/a/
        https://EXAMPLE.org/a#part https://example.org./a https://example.org/b/../a
        https://example.org/a?utm_source=x&utm_medium=y https://example.org/a?fbclid=1 https://example.org/a/?
        https://example.org/%61 https://example.org/a?UTM_Source=x""",
        "https://example.org http://example.org/ https://example.org/?gclid=1 https://example.org#",
        "https://example.org/a?x=1&y=2 http://example.org/a/?x=1&utm_id=9&y=2 https://example.org/a?&x=1&&y=2",
        "https://example.org/%c3%a4 https://example.org/ä https://example.org/%C3%A4/",
        "https://example.org/%2fa https://example.org/%2Fa",
    ],
)
def test_one_page_has_one_identity(spellings: str) -> None:
    assert len({WebAddress.of(spelling).canonical for spelling in spellings.split()}) == 1


@pytest.mark.parametrize(
    "spellings",
    [
        "https://example.org/a https://example.org/A https://www.example.org/a https://example.org:8080/a",
        "https://example.org/?a=1&b=2 https://example.org/?b=2&a=1 https://example.org/?a=1 https://example.org/a=1",
        "https://example.org/?ref=main https://example.org/?ref=next https://example.org/",
        "https://example.org/a%2Fb https://example.org/a/b",
        "http://example.org:443/ https://example.org/",
        "https://example.org/?a=%26 https://example.org/?a=&",
    ],
)
def test_two_pages_have_two_identities(spellings: str) -> None:
    found = [WebAddress.of(spelling).canonical for spelling in spellings.split()]
    assert len(set(found)) == len(found)


@given(st.text(max_size=40), st.sampled_from(["", "https://", "http://", "https://a.org/", "https://a.org/?"]))
def test_any_text_is_an_address_or_refused_and_its_reading_stands(text: str, start: str) -> None:
    try:
        address = WebAddress.of(start + text)
    except UsageError:
        return
    assert WebAddress.of(address.url) == address
    once = WebAddress.of(address.canonical)
    assert once.canonical == address.canonical
    assert address.url.startswith(("http://", "https://"))


def test_O3_a_long_host_keeps_the_end_that_says_whose_it_is() -> None:
    address = WebAddress.of("https://accounts.google.com.signin.secure.session.refresh.verify.evil.example/")
    assert address.short_host(24).endswith("evil.example")
    assert len(address.short_host(24)) == 24
    assert address.short_host(24).startswith("…")
    assert WebAddress.of("https://example.org/").short_host(24) == "example.org"


def test_an_address_beyond_bounds_is_refused() -> None:
    start = "https://example.org/"
    assert WebAddress.of(start + "a" * (LONGEST - len(start))).name == "example.org"
    for tail in ("a" * LONGEST, "ä" * (LONGEST // 2)):
        with pytest.raises(UsageError, match="longer than"):
            WebAddress.of(start + tail)
        with pytest.raises(UsageError, match="longer than"):
            WebAddress.of(start).joined(tail)


@pytest.mark.parametrize(
    "spelling", ["https://me:hunter2@example.org/", "https://me:hunter2@exa mple.org/", "ftp://me:hunter2@example.org/",
                 "https://example.org:99999/?token=hunter2"],
)  # fmt: skip
def test_a_refusal_quotes_no_secret(spelling: str) -> None:
    with pytest.raises(UsageError) as told:
        WebAddress.of(spelling)
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    ("reference", "there"),
    [
        ("/b", "https://example.org/b"),
        ("c?x#y", "https://example.org/a/c?x#y"),
        ("//evil.com/x", "https://evil.com/x"),
        ("\\\\evil.com\\x", "https://evil.com/x"),
        ("http:\\\\evil.com", "http://evil.com/"),
        ("../..", "https://example.org/"),
        ("", "https://example.org/a/b"),
    ],
)
def test_a_reference_is_joined_as_a_browser_joins_it(reference: str, there: str) -> None:
    assert WebAddress.of("https://example.org/a/b").joined(reference).url == there


@pytest.mark.parametrize("reference", ["file:///etc/passwd", "javascript:1", "//u:p@evil.com/", "https://a..b/", "//["])
def test_O2_a_reference_to_what_is_not_opened_is_refused(reference: str) -> None:
    with pytest.raises(UsageError):
        WebAddress.of("https://example.org/a/b").joined(reference)
