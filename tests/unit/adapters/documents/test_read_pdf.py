"""A PDF is read page by page; one that cannot be read says why."""

import pytest

from lumina.adapters.documents.document_text import Document, Refused
from lumina.adapters.documents.passages import cut
from lumina.adapters.documents.readers import read_document


def pdf(*pages: str, trailer: str = "") -> bytes:
    """A PDF with one page for each text; a line of the text is a line of the page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for text in pages:
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 72 700 Td {lines}ET" if text else ""
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R"
            " /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    body, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{at:010} 00000 n \n" for at in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + table + end).encode("latin-1")


def test_the_text_of_all_pages_is_read_with_plain_line_ends():
    result = read_document("guide.pdf", pdf("The first line\nand the second", "Another page"))
    assert isinstance(result, Document)
    assert result.title == "guide"
    assert result.text == "The first line\nand the second\n\nAnother page"
    assert [block.label for block in result.blocks if block.kind == "page"] == ["page 1", "page 2"]


def test_a_passage_of_a_pdf_names_its_page():
    result = read_document("guide.pdf", pdf("word " * 70 + "\n" + "word " * 70, "Another page. " * 30))
    assert isinstance(result, Document)
    assert {span.heading for span in cut(result)} >= {"page 1", "page 2"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf(""), "no text in it (a scan?)"),
        (pdf("x")[:200], "damaged"),
        (
            pdf("x", trailer=f"/Encrypt << /Filter /Standard /V 1 /R 2 /O ({'o' * 32}) /U ({'u' * 32}) /P -4 >>"),
            "encrypted",
        ),
    ],
)
def test_a_pdf_that_cannot_be_read_is_refused_with_the_reason(data: bytes, reason: str):
    result = read_document("guide.pdf", data)
    assert isinstance(result, Refused)
    assert reason in result.reason
