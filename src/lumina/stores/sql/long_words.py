"""Words that are too long for an index, by their digest.

A line of base64 or a page without spaces is one word of thousands of characters. Its digest stands for it: a search for
the whole word finds it, and nothing else is equal to it, because no form begins with "_".
"""

import hashlib

LONGEST = 100  # code points of a form that is indexed as it stands; FTS5 cuts at 32 KiB, a PostgreSQL index at 2.7 KB


def digest(form: str) -> str:
    return "_" + hashlib.sha256(form.encode("utf-8")).hexdigest()
