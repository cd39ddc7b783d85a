"""The short way to a text's folded words gives what the long way gives."""

from hypothesis import given
from hypothesis import strategies as st

from lumina.memory.words import forms, words


@given(st.text(max_size=60) | st.text(alphabet="ab_ .'天気ไทยßİﬁ½é\u0301Ⅳ0", max_size=40))
def test_forms_are_the_forms_of_the_words(text):
    assert forms(text) == [word.form for word in words(text)]
