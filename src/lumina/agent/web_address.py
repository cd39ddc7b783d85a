"""An address of the web, read once and by the rules of browsers.

A person, a page or a model names a page; code decides which it is. Two readings of one address are a way in: Python's
`urlsplit` sees good.org in `http://evil.com\\@good.org/`, a browser opens evil.com. So the text is read by Ada, the
parser of the WHATWG URL standard that Node uses, and all of Lumina takes its three answers from here: what is opened
(`url`), which page it is (`canonical`: one page, one number), and what a person is shown (`host`).

Stricter than a browser where leniency serves nobody: only http and https with their slashes, no name or password
before the host, a host made of letters, digits, hyphens and dots as the DNS has them, and bounded lengths.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, cast

import can_ada

from lumina.memory.errors import UsageError
from lumina.memory.visible_text import one_line

LONGEST = 4_096  # characters of an address, as given and as sent; servers refuse lines of 8 KB
LONGEST_HOST, LONGEST_LABEL = 253, 63  # of the DNS
PORTS = {"http": 80, "https": 443}

# Parameters that say where a reader came from and not what is read. `ref` and `source` are not among them: they name a
# branch or an edition often enough.
TRACKING = frozenset(
    """gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid li_fat_id igshid igsh mc_cid mc_eid mkt_tok
    _hsenc _hsmi srsltid oly_anon_id oly_enc_id vero_id wickedid s_cid _openstat ysclid""".split()
)
TRACKING_STARTS = ("utm_", "pk_", "mtm_", "matomo_")

OPENING = re.compile(r"https?:[/\\]{2}", re.IGNORECASE)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}:", re.IGNORECASE)
ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
LAYOUT = {9: None, 10: None, 13: None}  # tab and line ends, which browsers take out wherever they stand
EDGES = "".join(map(chr, range(33)))  # control characters and space, which they take off the ends
HOST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# Scripts of which a label may be shown in its own letters; by the first word of the letters' Unicode names.
TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "IDEOGRAPHIC": "CJK"}
OWN_LETTERS = frozenset(
    """LATIN CJK HANGUL HEBREW ARABIC GEORGIAN DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM
    SINHALA THAI LAO MYANMAR KHMER TIBETAN ETHIOPIC CYRILLIC GREEK ARMENIAN""".split()
)
LOOKALIKES = frozenset("CYRILLIC GREEK ARMENIAN".split())  # whole Latin words can be written with their letters
LATIN_ENDS, LATIN_SPOOFS = 0x17F, "ıĸŀŉſ·"  # beyond Latin Extended-A, and these within: one is easily taken for another


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAddress:
    """An absolute http or https address. `WebAddress.of` makes one from any text."""

    url: str  # what is opened: ASCII, as a browser would write it
    canonical: str  # which page it is: equal for all spellings of one page; an identity, not to be opened
    host: str  # what a person is shown: the host that is opened, in its own letters only where they deceive nobody
    scheme: Literal["http", "https"]
    name: str  # the host as it is dialled: lower-case ASCII, an IP address without brackets
    port: int
    target: str  # path and query, as the request line has them

    @staticmethod
    def of(text: str) -> "WebAddress":
        """The address in `text`. Raises UsageError with the reason."""
        if len(text) > LONGEST:
            raise _refused(text, f"it is longer than {LONGEST:,} characters")
        bare = text.strip(EDGES).translate(LAYOUT)
        if not OPENING.match(bare):
            has_scheme = SCHEME.match(bare) and not bare.lower().startswith(("http:", "https:"))
            raise _refused(
                text, "only http:// and https:// are opened" if has_scheme else "it does not begin with https://"
            )
        return _read(text, bare, None)

    def joined(self, reference: str) -> "WebAddress":
        """Where `reference` leads from here, as in a redirect. Raises UsageError as `of` does."""
        if len(reference) > LONGEST:
            raise _refused(reference, f"it is longer than {LONGEST:,} characters")
        return _read(reference, reference, self.url)

    @property
    def origin(self) -> str:
        """Scheme, host and port, the port only where it is not the scheme's own."""
        return f"{self.scheme}://{_written(self.name)}{_port(self.scheme, self.port)}"

    def short_host(self, longest: int = 40) -> str:
        """`host` in at most `longest` characters. Its end stays: whose it is stands there."""
        return self.host if len(self.host) <= longest else "…" + self.host[1 - longest :]


def _read(given: str, text: str, base: str | None) -> WebAddress:
    try:
        parsed = can_ada.parse(text) if base is None else can_ada.parse(base) + text
    except (ValueError, TypeError, UnicodeError):
        raise _refused(given, "a browser could not read it either") from None
    scheme = parsed.protocol.removesuffix(":")
    if scheme not in PORTS:
        raise _refused(given, "only http:// and https:// are opened")
    if parsed.has_credentials():
        raise UsageError("An address with a name or password in it (before an @) is not opened. Leave that part out.")
    if len(parsed.href) > LONGEST:
        raise _refused(given, f"it is longer than {LONGEST:,} characters")
    name = parsed.hostname.strip("[]")
    if ":" not in name and (why := _no_host(name)):
        raise _refused(given, why)
    port = int(parsed.port) if parsed.port else PORTS[scheme]
    path, query = parsed.pathname, parsed.search
    return WebAddress(
        url=parsed.href,
        canonical=_canonical(scheme, name.removesuffix("."), port, path, query),
        host=_shown(name.removesuffix(".")) + _port(scheme, port),
        scheme=cast("Literal['http', 'https']", scheme),
        name=name,
        port=port,
        target=path + query,
    )


def _no_host(name: str) -> str:
    """Why there can be no host of this name, or ""."""
    labels = name.removesuffix(".").split(".")
    if not all(labels):
        return "its host has an empty part"
    if not set(name) <= HOST:
        return "its host has a character that no host's name has"
    if len(name) > LONGEST_HOST or any(len(label) > LONGEST_LABEL for label in labels):
        return "its host is longer than a host's name can be"
    return ""


def _written(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _port(scheme: str, port: int) -> str:
    return "" if port == PORTS[scheme] else f":{port}"


def _canonical(scheme: str, name: str, port: int, path: str, query: str) -> str:
    """Folded: the scheme (a site that answers on both serves one page), its own port, the fragment, a slash at the end
    of the path, tracking parameters, escapes of letters that need none. Not folded: `www.`, which is another host and
    sometimes another site; the order of parameters, which some sites read."""
    kept = [part for part in query.removeprefix("?").split("&") if part and not _tracks(part)]
    rest = _unescaped(path).rstrip("/") + ("?" + _unescaped("&".join(kept)) if kept else "")
    return f"https://{_written(name)}{_port(scheme, port)}{rest if rest.startswith('/') else '/' + rest}"


def _tracks(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return name in TRACKING or name.startswith(TRACKING_STARTS)


def _unescaped(text: str) -> str:
    """RFC 3986, 6.2.2: %7E is ~, and %2f is %2F."""

    def one(match: re.Match[str]) -> str:
        character = chr(int(match.group()[1:], 16))
        return character if character in UNRESERVED else match.group().upper()

    return ESCAPED.sub(one, text)


def _shown(name: str) -> str:
    """The host as a person reads it. An internationalised name stays in its ASCII form (xn--...) when a label mixes
    scripts, or when its letters could be taken for Latin ones and the name does not end in that script."""
    if ":" in name:
        return f"[{name}]"
    labels = [_decoded(label) if label.startswith("xn--") else label for label in name.split(".")]
    scripts = [_script(label) for label in labels]
    if "" in scripts or any(script in LOOKALIKES and script != scripts[-1] for script in scripts):
        return name
    return ".".join(labels)


def _decoded(label: str) -> str:
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:  # the parser has checked it; a label that only this codec cannot read stays as it is
        return label


def _script(label: str) -> str:
    """The one script of a label's letters; LATIN for none; "" when it should not be shown in its own letters."""
    if label.isascii():
        return "" if label.startswith("xn--") else "LATIN"
    found = set()
    for character in label:
        if character in "0123456789-_":
            continue
        first = unicodedata.name(character, "").partition(" ")[0]
        found.add(TOGETHER.get(first, first))
        if first == "LATIN" and (ord(character) > LATIN_ENDS or character in LATIN_SPOOFS):
            return ""
        if unicodedata.category(character)[0] not in "LM":
            return ""
    return found.pop() if len(found) == 1 and found <= OWN_LETTERS else ""


def _refused(text: str, why: str) -> UsageError:
    """Quoted without its query and without what stands before an @, which may be secret."""
    _, at, rest = text.partition("?")[0].rpartition("@")
    return UsageError(f"{one_line(('…@' if at else '') + rest, 80)!r} is not an address that can be opened: {why}.")
