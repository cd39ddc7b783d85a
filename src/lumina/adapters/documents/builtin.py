"""Lumina's own documentation: what is searched until somebody adds documents.

It lies inside an installed wheel (`lumina/_docs`) or, in an editable install, in the project's `docs` folder.
It is small, so it is read once per process, on the first question that needs it, and kept in memory; no
database and no setup are involved.
"""

import asyncio
import hashlib
from pathlib import Path

from lumina.adapters.documents.memory_index import MemoryDocumentStore
from lumina.adapters.documents.passages import cut
from lumina.adapters.documents.readers import read_document
from lumina.agent.ports import NewDocument
from lumina.memory.scope import SubjectScope

LOCATOR = "doc:lumina/"  # followed by the path within the documentation
OWN_SCOPE = SubjectScope(tenant="lumina", subject="lumina")  # nobody's: the text is the same for everybody
_INDEXED: dict[Path, MemoryDocumentStore] = {}


async def own_documentation() -> MemoryDocumentStore:
    """A store that holds the documentation for OWN_SCOPE; empty if this installation has none."""
    folder = documentation_folder()
    if folder is None:
        return MemoryDocumentStore()
    if folder not in _INDEXED:
        store = MemoryDocumentStore()
        await store.put_documents(OWN_SCOPE, await asyncio.to_thread(_read, folder))
        _INDEXED[folder] = store
    return _INDEXED[folder]


def documentation_folder() -> Path | None:
    """Where the documentation of this installation lies, or None."""
    package = Path(__file__).resolve().parents[2]
    shipped = package / "_docs"
    if shipped.is_dir():
        return shipped
    project = package.parent.parent
    if (project / "pyproject.toml").is_file() and (project / "docs").is_dir():
        return project / "docs"
    return None


def _read(folder: Path) -> tuple[NewDocument, ...]:
    documents = []
    for path in sorted(folder.rglob("*.md")):
        data = path.read_bytes()
        document = read_document(path.name, data)
        if document.kind == "document":
            documents.append(
                NewDocument(
                    locator=LOCATOR + path.relative_to(folder).as_posix(),
                    url=path.as_uri(),
                    title=document.title,
                    digest=hashlib.sha256(data).hexdigest(),
                    text=document.text,
                    passages=cut(document),
                    size=len(data),
                )
            )
    return tuple(documents)
