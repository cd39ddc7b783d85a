"""The in-memory twin of `lumina.stores.sql.usage`."""

from collections.abc import Sequence
from dataclasses import replace

from lumina.memory.scope import SubjectScope, TenantScope, ThreadScope
from lumina.memory.store import ModelUse
from lumina.stores import checks
from lumina.stores.in_memory_kept import Kept


class InMemoryUsage(Kept):
    """What model calls took."""

    async def add_usage(self, scope: ThreadScope, uses: Sequence[ModelUse]) -> None:
        checks.check_uses(uses)
        turns = [self._written(scope, use.seq, use.attempt)[1] for use in uses]
        for use, kept in zip(uses, turns, strict=True):
            number = len(kept.uses) + 1
            kept.uses.append(replace(use, number=number, subject=scope.subject, thread=scope.thread))

    async def usage(self, scope: TenantScope | SubjectScope | ThreadScope, *, since: str = "") -> list[ModelUse]:
        found = [
            use
            for subject in self._of(scope)
            for name, thread in self._subject(subject).threads.items()
            if not isinstance(scope, ThreadScope) or name == scope.thread
            for kept in thread.turns.values()
            for use in kept.uses
            if use.day >= since
        ]
        return sorted(found, key=lambda use: (use.day, use.subject, use.thread, use.seq, use.attempt, use.number))

    def _of(self, scope: TenantScope | SubjectScope | ThreadScope) -> list[SubjectScope]:
        if isinstance(scope, ThreadScope):
            return [scope.of_subject]
        if isinstance(scope, SubjectScope):
            return [scope]
        return [SubjectScope(tenant=scope.tenant, subject=name) for tenant, name in self._subjects
                if tenant == scope.tenant]  # fmt: skip
