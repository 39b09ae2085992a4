"""A process in which one system runs, so that it can be stopped.

A run that takes too long ends with its process. Its memory is limited, because a system that builds
all trends would use up the machine. Compiling does not count: while numba compiles, the clock of a
run stops, and a timed run in which something was compiled is repeated.
"""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

import pyarrow as pa

from benchmarks.baselines.system import Answers, Prepared, System, Unsupported
from hamlet.cli.compile_progress import watch_compiler
from runtime.errors import HamletError
from runtime.language.parser import parse

#: A system by its name, in the worker; by reference, since it is sent there.
Find: TypeAlias = Callable[[str], System]

MEMORY_BYTES = 6 * 2**30
#: Preparing and compiling are not measured, but must end.
PREPARE_SECONDS = 300.0
#: After so long a worker ends by itself, in case nobody is left to end it.
ORPHAN_SECONDS = 1_800
#: Others take turns in between and fill the caches: a run so short goes once for that, and then
#: thrice, of which the middle one counts.
SHORT_SECONDS = 0.02
SHORT_RUNS = 3
#: A run that had less of its time on a processor was held up by something else on the machine. It
#: is made again, some times at the most, and then taken as it is.
LEAST_CPU = 0.9
TRIES = 5

_THREADS = (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "ARROW_NUM_THREADS",
)
_POLL_SECONDS = 0.05
_SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Ran:
    seconds: float
    cpu_seconds: float
    state_bytes: int
    figures: dict[str, float] = field(default_factory=dict)
    answers: Answers | None = None


class Stopped(Exception):
    """A run that came to no end of its own. `status` is what a row of measurements says of it."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Worker:
    """A system in a process of its own, as it is seen from here. One that was ended starts again
    when it is asked again."""

    def __init__(self, system: str, find: Find, memory_bytes: int = MEMORY_BYTES) -> None:
        self._start = (system, find, memory_bytes)
        self._process: Any = None

    def prepare(self, workload: str, table: pa.Table) -> None:
        self._ask("prepare", (workload, table))

    def first(self, limit: float) -> Ran:
        """Warms up, with answers."""
        found: Ran = self._ask("first", None, limit)
        return found

    def timed(self, limit: float) -> Ran:
        found: Ran = self._ask("timed", None, limit)
        return found

    def forget(self) -> None:
        if self._process is not None:
            self._ask("forget", None)

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None

    def _ask(self, what: str, given: Any, limit: float = math.inf) -> Any:
        if self._process is None:
            self._begin()
        try:
            self._connection.send((what, given))
            self._wait(limit)
            status, found = self._connection.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise self._died() from None
        if status == "ok":
            return found
        if status == "failed":  # what it left behind is nothing to measure others by
            self.end()
        raise Stopped(status, found)

    def _begin(self) -> None:
        self._connection, theirs = _SPAWN.Pipe()
        self._clocks = Clocks()
        with _one_thread():
            self._process = _SPAWN.Process(
                target=_work, args=(theirs, self._clocks, *self._start), daemon=True
            )
            self._process.start()
        theirs.close()
        if not self._connection.poll(PREPARE_SECONDS):
            self.end()
            raise Stopped("failed", f"did not start in {PREPARE_SECONDS:g} s")
        try:
            status, reason = self._connection.recv()
        except EOFError:
            raise self._died() from None
        if status != "ok":
            self.end()
            raise HamletError(f"system `{self._start[0]}` cannot be loaded: {reason}")

    def _wait(self, limit: float) -> None:
        """`limit` is for the run alone, not for what it needs to get ready."""
        asked = time.monotonic()
        while not self._connection.poll(_POLL_SECONDS):
            if self._clocks.ran() > limit:
                self.end()
                raise Stopped("not ended", f"did not end in {limit:g} s")
            if time.monotonic() - asked > PREPARE_SECONDS + min(limit, PREPARE_SECONDS):
                self.end()
                raise Stopped("failed", f"did not get ready in {PREPARE_SECONDS:g} s")

    def _died(self) -> Stopped:
        self._process.join()
        code = self._process.exitcode
        self.end()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Stopped("failed", f"its process died ({how})")


class Clocks:
    """Seconds that a worker tells of while it is busy: since when it runs, since when it compiles
    within that run, and how long it has compiled in it before."""

    def __init__(self) -> None:
        self._since = _SPAWN.Array("d", 3)

    def ran(self) -> float:
        """How long the run takes so far, but for compiling; 0 if there is none."""
        now = time.monotonic()
        with self._since.get_lock():
            run, compiling, compiled = self._since[:]
        if not run:
            return 0.0
        return float(now - run - compiled - (now - compiling if compiling else 0.0))

    def compiling(self, now: bool) -> None:
        with self._since.get_lock():
            if now:
                self._since[1] = time.monotonic()
            else:
                self._since[2] += time.monotonic() - self._since[1]
                self._since[1] = 0.0

    def compiled(self) -> float:
        return float(self._since[2])

    @contextmanager
    def running(self) -> Iterator[None]:
        with self._since.get_lock():
            self._since[:] = (time.monotonic(), 0.0, 0.0)
        try:
            yield
        finally:
            self._since[0] = 0.0


@contextmanager
def _one_thread() -> Iterator[None]:
    """For a process that is started now: libraries read it once, when they are loaded."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


# ---- in the worker -------------------------------------------------------------------------


def _work(
    connection: Connection, clocks: Clocks, system: str, find: Find, memory_bytes: int
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks ends this process
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    try:
        found = find(system)
    except Exception as error:
        connection.send(("failed", f"{type(error).__name__}: {error}"))
        return
    _bound(memory_bytes)
    connection.send(("ok", None))
    with watch_compiler(clocks.compiling):
        handler = RequestHandler(found, clocks)
        while True:
            try:
                what, given = connection.recv()
            except EOFError:
                return
            signal.alarm(ORPHAN_SECONDS)
            connection.send(_answer(handler, what, given, memory_bytes))


def _answer(handler: RequestHandler, what: str, given: Any, memory_bytes: int) -> tuple[str, Any]:
    try:
        return "ok", handler.do(what, given)
    except Unsupported as error:
        return "cannot", error.message
    except (MemoryError, pa.ArrowMemoryError):
        handler.do("forget", None)
        return "failed", f"out of memory ({memory_bytes / 2**30:g} GB)"
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"


def _bound(memory_bytes: int) -> None:
    """On top of what is mapped already: libraries map much that they do not use."""
    with open("/proc/self/statm", encoding="ascii") as pages:
        mapped = int(pages.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + memory_bytes,) * 2)


class RequestHandler:
    """What a worker does, one request at a time; tests take it without a process."""

    def __init__(self, system: System, clocks: Clocks) -> None:
        self._system = system
        self._clocks = clocks
        self._prepared: Prepared | None = None
        self._short = False

    def do(self, what: str, given: Any) -> Ran | None:
        match what:
            case "prepare":
                workload, table = given
                self._prepared = self._system.prepare(parse(workload), table)
            case "first":
                return self._run(answers=True)
            case "timed":
                return self._timed()
            case "forget":
                self._prepared = None
                gc.collect()
            case _:
                raise AssertionError(what)
        return None

    def _timed(self) -> Ran:
        if not self._short:
            return self._undisturbed()
        self._run()
        runs = [self._undisturbed() for _ in range(SHORT_RUNS)]
        return sorted(runs, key=lambda ran: ran.seconds)[SHORT_RUNS // 2]

    def _undisturbed(self) -> Ran:
        for _ in range(TRIES):
            ran = self._run()
            while self._clocks.compiled():
                ran = self._run()
            if ran.cpu_seconds >= LEAST_CPU * ran.seconds:
                break
        return ran

    def _run(self, answers: bool = False) -> Ran:
        prepared = self._prepared
        assert prepared is not None
        prepared.ready()
        gc.collect()
        gc.disable()
        try:
            with self._clocks.running():
                began, cpu = time.perf_counter(), time.process_time()
                found = prepared.run()
                seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        finally:
            gc.enable()
        self._short = seconds < SHORT_SECONDS
        figures = {name: float(value) for name, value in prepared.figures.items()}
        return Ran(seconds, cpu, prepared.state_bytes, figures, found if answers else None)
