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
_PREPARED: dict[Path, tuple[NewDocument, ...]] = {}


async def own_documentation(scope: SubjectScope, *, folder: Path | None = None) -> MemoryDocumentStore:
    """A store that holds the documentation for `scope`; empty if this installation has none."""
    where = folder or documentation_folder()
    store = MemoryDocumentStore()
    if where is None:
        return store
    if where not in _PREPARED:
        _PREPARED[where] = await asyncio.to_thread(_read, where)
    await store.put_documents(scope, _PREPARED[where])
    return store


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
