"""Watches all processes of a job, and sees to it that nobody waits for one that is dead or hangs.

A process hangs if the kernel has it as stopped, or if it does not answer a call that takes
microseconds. One that computes for long does neither. A process that hangs is killed. Then, as if
it had died by itself, Ray starts it again, or the job ends with an error.

Time is counted in rounds, and on a busy machine these take longer. So do they while the job itself
is suspended, as by Ctrl-Z.
"""

from __future__ import annotations

import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable

from actors.health import Health, ProcessStatus, died
from actors.process_watch import ProcessWatch
from runtime.errors import Failure

EVERY_SECONDS = 2.0
# SIGSTOP is certain. A few seconds are for whoever sends SIGCONT soon after it.
STOPPED_ROUNDS = 3
# A call may wait for a garbage collection, or for a machine that is short of cores or memory. With
# the time to end, the limit keeps within the 30 seconds after which a job recovers or has ended.
SILENT_ROUNDS = 8


class ProcessLost(Failure):
    """A process died or hung that the job cannot go on without."""


class Watchdog:
    """`check` raises the error that ends the job. `failed` is told at once, since the driver may be
    waiting for the process that is lost. `restarted` is told the kind of a process that is new,
    `warn` why one was killed."""

    def __init__(
        self,
        watches: Iterable[ProcessWatch],
        restarted: Callable[[str], None],
        warn: Callable[[str], None],
        hint: str,
        failed: Callable[[Failure], None] = lambda failure: None,
    ) -> None:
        self._observers = [_Observer(watch) for watch in watches]
        self._restarted, self._warn, self._failed = restarted, warn, failed
        self._hint = hint
        self._started = False
        self.rounds = 0
        self._stopped: Counter[tuple[str, int]] = Counter()
        self._deaths: dict[str, int] = {}
        self._error: Failure | None = None
        self._lost = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def add(self, *watches: ProcessWatch) -> None:
        """Watches more processes, from now on if it has started."""
        added = [_Observer(watch) for watch in watches]
        if self._started:
            for observer in added:
                observer.start()
        self._observers = [*self._observers, *added]  # the thread may be at the old list

    def start(self) -> None:
        self._started = True
        for observer in self._observers:
            observer.start()
        self._thread.start()

    def stop(self) -> None:
        self._closed.set()
        for observer in self._observers:
            observer.stop()
        for observer in self._observers:
            observer.join(EVERY_SECONDS)
        self._thread.join(EVERY_SECONDS)

    def check(self) -> None:
        if self._error is not None:
            raise self._error

    def report(self, failure: Failure) -> None:
        """The job is about to fail, since a process was lost: what it waits for may never come."""
        if self._error is None:
            self._error = failure
            self._lost.set()
            self._failed(failure)

    def explain(self) -> None:
        """After an error of another kind: raises its cause, if that is a process that has just been
        lost. The next round finds it."""
        self._lost.wait(2 * EVERY_SECONDS)
        self.check()

    def _run(self) -> None:
        while not self._closed.wait(EVERY_SECONDS) and self._error is None:
            self._look_or_fail()
            self.rounds += 1

    def _look_or_fail(self) -> None:
        """Without a watchdog, the job would wait for ever for the next process that is lost."""
        try:
            self._look()
        except BaseException as error:
            reason = traceback.format_exception_only(error)[-1].strip()
            self._fail(f"the watchdog cannot continue: {reason}")

    def _look(self) -> None:
        for observer in self._observers:
            statuses = observer.poll()
            if observer.silent_rounds >= SILENT_ROUNDS:
                observer.watch.give_up()
                self._fail(f"{observer.watch.what} does not answer")
            for status in statuses:
                self._judge(status)

    def _judge(self, status: ProcessStatus) -> None:
        process = status.id, status.pid  # a pid alone may be in use on several nodes
        if status.health is Health.STOPPED:
            self._stopped[process] += 1
            if self._stopped[process] == STOPPED_ROUNDS:
                self._end_hanging(status)
            return
        del self._stopped[process]
        if status.health is Health.GONE and not status.restartable:
            if status.needed:
                self._fail(died(status.name, status.pid))
        elif status.restartable:
            self._count_restarts(status)

    def _end_hanging(self, status: ProcessStatus) -> None:
        """Whoever waits for it then gets an error, instead of waiting on."""
        what = f"{status.name} (process {status.pid}) is suspended"
        if status.restartable:
            self._warn(f"{what}; restarting it")
        elif status.needed:
            self._fail(what)  # first: once it is killed, others find that it has died
        else:
            self._warn(f"{what}; killing it, and the job continues without it")
        status.kill()

    def _count_restarts(self, status: ProcessStatus) -> None:
        """One that is gone for good is replaced, which counts as well."""
        deaths = status.restarts + (status.health is Health.GONE)
        before = self._deaths.setdefault(status.id, deaths)
        self._deaths[status.id] = max(before, deaths)
        for _ in range(deaths - before):
            self._restarted(status.kind)

    def _fail(self, what: str) -> None:
        self.report(ProcessLost(what, self._hint))


class _Observer(threading.Thread):
    """Reads a watch again and again, in a thread of its own: the call may never return."""

    def __init__(self, watch: ProcessWatch) -> None:
        super().__init__(name=f"watch {watch.what}", daemon=True)
        self.watch = watch
        self.silent_rounds = 0
        self._newest: list[ProcessStatus] | None = None
        self._closed = threading.Event()

    def run(self) -> None:
        while not self._closed.is_set():
            try:
                self._newest = self.watch.observe()
            except Exception:  # it answers, but with an error, as while Ray restarts something
                self._newest = []
            self._closed.wait(EVERY_SECONDS / 2)

    def poll(self) -> list[ProcessStatus]:
        """What was observed since the last call."""
        newest, self._newest = self._newest, None
        self.silent_rounds = self.silent_rounds + 1 if newest is None else 0
        return newest or []

    def stop(self) -> None:
        self._closed.set()
