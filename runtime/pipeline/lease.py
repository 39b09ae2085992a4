"""A lease on a checkpoint that machines share: its owner renews it, and a new run waits for it.

Claims alone keep two runs apart if a listing has every file that was written before it. Network
file systems cache listings, and some object stores only promise them after a while. A new run
therefore waits until the last owner has renewed nothing for the time of a lease.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from runtime.errors import EnvironmentFailure, HamletError
from runtime.pipeline.blob_store import BlobStore

LEASE_SECONDS = 30.0
# A run that is alive renews its lease this often, so that one slow write does not end it.
_RENEWALS = 3
# So many leases are waited for: an owner that still renews is alive.
_PATIENCE = 4
_POLL_SECONDS = 0.5
_RELEASED = b"released"
_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class LeaseClock:
    """An owner's lease runs out while its machine is suspended, when `monotonic` stands still."""

    def boottime(self) -> float:
        return time.clock_gettime(_BOOTTIME)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def wait(self, stopped: threading.Event, seconds: float) -> bool:
        """Whether it was stopped before the time was over."""
        return stopped.wait(seconds)

    def start(self, run: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=run, name="lease", daemon=True)
        thread.start()
        return thread


SYSTEM_CLOCK = LeaseClock()


class Lease:
    """Renewed in a thread of its own until it is released."""

    def __init__(
        self,
        store: BlobStore,
        owner: str,
        seconds: float = LEASE_SECONDS,
        clock: LeaseClock = SYSTEM_CLOCK,
    ) -> None:
        self._store = store
        self._name = _name(owner)
        self._seconds = seconds
        self._clock = clock
        self._number = 0
        self._renewed = clock.boottime()
        self._lost = False
        self._stopped = threading.Event()
        self._renew()
        self._thread = clock.start(self._run)

    def check(self) -> None:
        """Raises if the lease has run out: another run may believe that this one is dead."""
        if self._has_run_out():
            raise EnvironmentFailure(
                f"{self._store.address} could not be written to for {self._seconds:g} s, so "
                "another run may have taken over",
                "the same command resumes from the checkpoint",
            )

    def release(self) -> None:
        """A lease that cannot be released runs out. The run may be ending for the same reason, and
        that error counts."""
        self._stopped.set()
        self._thread.join(self._seconds)
        self._lost = True  # nothing may be published after this
        with suppress(HamletError, FileNotFoundError):
            self._store.write(self._name, _RELEASED, replace=True)

    def _run(self) -> None:
        while not self._clock.wait(self._stopped, self._seconds / _RENEWALS):
            if not self._has_run_out():
                # Tried again; `check` says when it was too long.
                with suppress(HamletError, FileNotFoundError):
                    self._renew()

    def _renew(self) -> None:
        began = self._clock.boottime()
        self._store.write(self._name, str(self._number).encode(), replace=True)
        self._number += 1
        if not self._has_run_out():
            self._renewed = began

    def _has_run_out(self) -> bool:
        """Once is for good, also if it was renewed late: another run may have seen it meanwhile."""
        if self._clock.boottime() - self._renewed >= self._seconds:
            self._lost = True
        return self._lost


def await_end_of_leases(
    store: BlobStore,
    owners: Iterable[str],
    say: Callable[[str], None],
    seconds: float = LEASE_SECONDS,
    clock: LeaseClock = SYSTEM_CLOCK,
) -> None:
    """Returns once each lease was released or has run out."""
    names = [_name(owner) for owner in owners]
    seen = _active(store, names)
    since = began = clock.monotonic()
    if seen:
        say(f"waiting up to {seconds:g} s for the lease of the last run on {store.address}")
    while seen and clock.monotonic() - since < seconds:
        clock.sleep(min(_POLL_SECONDS, seconds / 10))
        now = _active(store, names)
        if now != seen:
            seen, since = now, clock.monotonic()
        if clock.monotonic() - began > _PATIENCE * seconds:
            raise HamletError(
                f"another run uses the checkpoints in {store.address}", "stop that run first"
            )


def _active(store: BlobStore, names: Iterable[str]) -> dict[str, bytes]:
    """The contents of the leases that were not released."""
    found = {name: _content(store, name) for name in names}
    return {name: data for name, data in found.items() if data is not None and data != _RELEASED}


def _content(store: BlobStore, name: str) -> bytes | None:
    try:
        content: bytes = store.read(name).to_pybytes()
        return content
    except FileNotFoundError:
        return None


def _name(owner: str) -> str:
    return f"leases/{owner}"
