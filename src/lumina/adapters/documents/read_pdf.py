"""PDF: the text layer, page by page.

A PDF knows no paragraphs and no headings, so a passage is found again by its page. A scan has no text layer
and is refused with that reason. PDFium is not safe to enter from two threads at once: one lock guards it in a
process.
"""

import threading

from lumina.adapters.documents.document_text import ReadResult, Refused, TextBuilder, clean

MAX_LETTERS = 20_000_000  # a small file can unpack to any length; a long book holds three million letters
ENTRANCE = threading.Lock()


def read_pdf(data: bytes, *, name: str) -> ReadResult:
    """The text of all pages; Refused if it is encrypted, damaged, a scan, or unpacks to too much."""
    import pypdfium2  # late: it loads a library of several megabytes, and most folders hold no PDF

    with ENTRANCE:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower() or "security" in str(error).lower():
                return Refused(reason="it is encrypted; save a copy without a password and add that")
            return Refused(reason="it is damaged or not a PDF")
        try:
            return _pages(document, name)
        except (pypdfium2.PdfiumError, ValueError, RuntimeError):
            return Refused(reason="it is damaged: a page cannot be read")
        finally:
            document.close()


def _pages(document, name: str) -> ReadResult:
    builder = TextBuilder()
    title = str(document.get_metadata_dict().get("Title", "")).strip()
    for index in range(len(document)):
        page = document[index]
        text_page = page.get_textpage()
        try:
            text = text_page.get_text_range()
        finally:
            text_page.close()
            page.close()
        # PDFium marks a word broken at a line's end with one of these two.
        text = clean(text.replace("\ufffe\r\n", "").replace("\ufffe", "").replace("\x02\r\n", "").replace("\x02", ""))
        if builder.length + len(text) > MAX_LETTERS:
            return Refused(reason=f"its text has more than {MAX_LETTERS:,} characters")
        if text.strip():
            builder.page(f"page {index + 1}")
            for paragraph in text.split("\n\n"):
                builder.add("text", paragraph)
    if not builder.length:
        return Refused(reason="there is no text in it (a scan?); run it through text recognition first")
    return builder.finish(title or name)
