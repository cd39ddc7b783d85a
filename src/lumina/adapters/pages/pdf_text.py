"""PDF: the text layer, page after page, until there is enough of it."""

from lumina.adapters.pages.page_text import LONGEST_TEXT, NotText, Read

MOST_PAGES = 2_000


def read_pdf(body: bytes) -> Read:
    """Raises NotText for a PDF that is encrypted, damaged or a scan."""
    import pypdfium2  # late: a library of several megabytes

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).lower() or "security" in str(error).lower()
        raise NotText("it is an encrypted PDF" if locked else "it is a damaged PDF") from None
    try:
        title = " ".join(str(document.get_metadata_dict().get("Title", "")).split())
        text = _text(document)
    except (pypdfium2.PdfiumError, ValueError, RuntimeError):
        raise NotText("it is a damaged PDF: a page cannot be read") from None
    finally:
        document.close()
    if not text:
        raise NotText("it is a PDF without text (a scan?)")
    return Read(title=title, text=text)


def _text(document) -> str:
    pages: list[str] = []
    length = 0
    for index in range(min(len(document), MOST_PAGES)):
        page = document[index]
        text_page = page.get_textpage()
        try:
            text = text_page.get_text_range()
        finally:
            text_page.close()
            page.close()
        # PDFium marks a word broken at a line's end with one of these two.
        text = text.replace("\ufffe\r\n", "").replace("\ufffe", "").replace("\x02\r\n", "").replace("\x02", "")
        if text := text.replace("\r\n", "\n").strip():
            pages.append(text)
        length += len(text)
        if length > LONGEST_TEXT:
            break
    return "\n\n".join(pages)
