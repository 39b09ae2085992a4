"""A store that machines share: listings may be old, and a run may sleep longer than its lease.

A run lists a folder as it is, or as it was when the run last listed it or wrote in it. While a run
waits for the lease of another one, that one renews it, or sleeps. It notices when it has done its
next operation: then its thread for the lease may get its turn before the rest of it, or not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from protocol.world import Do, Operation, World
from runtime.pipeline.lease import LEASE_SECONDS, LeaseClock

# Those of which an old listing makes a difference.
_CACHED = ("a/owners/", "a/epochs/")
# By the lease module's own limit, the owner is alive if it still renews the lease after that.
_LONG = 10 * LEASE_SECONDS

SLEPT, RENEWED = "slept", "renewed"


@dataclass(frozen=True)
class SharedWorld(World):
    """`caches` are the listings that a run remembers, by the run and the folder. `asleep` are the
    runs that slept longer than their lease and do not know it yet, `late` those that do."""

    caches: frozenset[tuple[tuple[str, str], tuple[str, ...]]] = frozenset()
    asleep: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()

    lagging: ClassVar[bool] = True

    def outcomes(
        self, operation: Operation, actor: str, alive: frozenset[str]
    ) -> list[tuple[str, World, Any]]:
        found = [
            (how, after, (result, False, False))
            for how, after, result in self._done(operation, actor, alive)
        ]
        if actor not in self.asleep or operation.kind == "point":
            return found
        return [
            (f"{how} {woken}".strip(), after._awake(actor), (result, True, renews))
            for how, after, (result, _, _) in found
            for woken, renews in (("(late)", False), ("(late, renewing)", True))
        ]

    def _done(
        self, operation: Operation, actor: str, alive: frozenset[str]
    ) -> list[tuple[str, SharedWorld, Any]]:
        kind, name, _ = operation
        if kind == "wait":
            return self._waited(alive)
        after, result = self.apply(operation)
        assert isinstance(after, SharedWorld)
        if kind == "list" and name in _CACHED:
            old = dict(self.caches).get((actor, name), result)
            fresh = ("", after._listed(actor, name), result)
            return [fresh] if old == result else [fresh, ("(old)", self, old)]
        if kind in ("write", "delete"):
            after = after._listed(actor, name.rpartition("/")[0] + "/")
        return [("", after, result)]

    def _waited(self, alive: frozenset[str]) -> list[tuple[str, SharedWorld, Any]]:
        """For longer than a lease."""
        files = dict(self.files)
        held = {
            run: name
            for name, content in self.files
            for run in alive - self.asleep - self.late
            if name.startswith("leases/") and name.endswith(run) and content != b"released"
        }
        slept = ("", replace(self, asleep=self.asleep | frozenset(held)), SLEPT)
        if not held:
            return [slept]
        renewed = {**files, **dict.fromkeys(held.values(), b"renewed")}
        return [slept, ("(renewed)", replace(self, files=frozenset(renewed.items())), RENEWED)]

    def _listed(self, actor: str, folder: str) -> SharedWorld:
        """A run knows what is in a folder."""
        if folder not in _CACHED:
            return self
        _, names = self.apply(Operation("list", folder))
        caches = {**dict(self.caches), (actor, folder): names}
        return replace(self, caches=frozenset(caches.items()))

    def _awake(self, actor: str) -> SharedWorld:
        return replace(self, asleep=self.asleep - {actor}, late=self.late | {actor})


class NoThread(threading.Thread):
    def join(self, timeout: float | None = None) -> None: ...


class ModelClock(LeaseClock):
    """The clock of a run: its time only passes while it waits or sleeps. There is no thread: what
    it would do, `turn` does."""

    def __init__(self, do: Do) -> None:
        self._inner = do
        self._slept = self._waited = 0.0
        self._renew: Callable[[], None] | None = None
        self._turns = 0

    def do(self, kind: str, name: str = "", value: Any = None) -> Any:
        result, slept, renews = self._inner(kind, name, value)
        if slept:
            self._slept += LEASE_SECONDS
        if renews and self._renew is not None:
            self._turns = 1
            self._renew()
        return result

    def boottime(self) -> float:
        return self._slept

    def monotonic(self) -> float:
        return self._waited

    def sleep(self, seconds: float) -> None:
        self._waited += LEASE_SECONDS if self.do("wait") == SLEPT else _LONG

    def wait(self, stopped: threading.Event, seconds: float) -> bool:
        self._turns -= 1
        return self._turns < 0 or stopped.is_set()

    def start(self, run: Callable[[], None]) -> threading.Thread:
        self._renew = run
        return NoThread()
