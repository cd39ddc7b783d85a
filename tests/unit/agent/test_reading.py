"""Which addresses of a question a person typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumina.agent.reading import MOST, typed_addresses


@pytest.mark.parametrize(
    ("question", "urls"),
    [
        ("What does https://good.test/a say?", ["https://good.test/a"]),
        ("Read (HTTPS://good.test/a), please", ["https://good.test/a"]),
        ("https://en.test/wiki/Python_(language)!", ["https://en.test/wiki/Python_(language)"]),
        ("See (https://en.test/wiki/Python_(language)).", ["https://en.test/wiki/Python_(language)"]),
        ("“https://good.test/ü”", ["https://good.test/%C3%BC"]),
        ("[here](https://good.test/a) and <https://good.test/b>", ["https://good.test/a", "https://good.test/b"]),
        ("https://good.test/a https://good.test:443/a#b", ["https://good.test/a#b"]),
        ("good.test/a, javascript:alert(1), file:///etc/passwd, ftp://good.test/", []),
        ("http://user:pass@good.test/ and http://", []),
        ("", []),
    ],
)
def test_I5_a_typed_address_is_read_as_the_person_wrote_it(question, urls):
    assert [address.url for address in typed_addresses(question).values()] == urls


def test_only_so_many_addresses_of_a_question_count():
    assert len(typed_addresses(" ".join(f"https://good.test/{n}" for n in range(100)))) == MOST


@given(st.text(alphabet="htps:/.a()[]?#@ \n\u202e", max_size=200))
def test_any_text_has_addresses_or_none_and_each_is_its_own_key(text):
    assert all(key == address.canonical for key, address in typed_addresses(text).items())
