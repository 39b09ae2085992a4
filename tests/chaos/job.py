"""A job under faults: the command, what it is fed, and what it has been asked for."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from chaos.bit_flips import BitFlips
from chaos.events import Feed
from chaos.history import NEVER, Between, Counts, Span
from chaos.workload import STAYING, first_queries, new_query
from cluster.faults import processes
from cluster.faults.command import HAMLET, Command
from cluster.faults.disk import Disk
from tools.kafka import Broker
from tools.patience import PATIENCE_S

POLL_S = 0.05


class Stuck(Exception):
    """What was waited for has not happened."""


@dataclass(frozen=True)
class End:
    """The command has ended by itself."""

    code: int
    said: str

    @property
    def error(self) -> str:
        """The line that says what was wrong, else the last one."""
        lines = self.said.strip().splitlines() or [""]
        return next((each for each in reversed(lines) if "error: " in each), lines[-1])

    def __str__(self) -> str:
        return f"ended with {self.code}: {self.error[:200]}"


class Job:
    """`given` is the query file, `texts` has every query that there ever was."""

    def __init__(
        self,
        folder: Path,
        feed: Feed,
        *,
        name: str,
        lateness: str,
        source: str | None = None,
        output: str | None = None,
        disks: dict[str, Disk] | None = None,
        broker: Broker | None = None,
    ) -> None:
        self.folder = folder
        self.feed = feed
        self.disks = disks or {}
        self.broker = broker
        self.actors = 2
        self.given = first_queries()
        self.texts = dict(self.given)
        self.spans = {name: Span() for name in self.given}
        self.notes: list[str] = []
        self.taken_down = False  #: by us, that is
        self._name = name
        self._commands: list[Command] = []
        self._where = {"source": source, "output": output, "lateness": lateness}
        self.command = self.another_command()
        self.name = self.command.name
        self.flips = BitFlips(self.command.checkpoint)

    def note(self, what: str) -> None:
        """What chance has decided, for the report."""
        self.notes.append(what)

    # ---- the command -----------------------------------------------------------------------

    def another_command(self) -> Command:
        """The same one, under another name: two jobs of one name cannot run on one machine."""
        name = f"{self._name}-{len(self._commands) + 1}"
        self._commands.append(Command(self.folder, name=name, **self._where))
        return self._commands[-1]

    def start(self, command: Command | None = None, name: str | None = None) -> None:
        """Without arguments, the command that was taken down."""
        queries = "".join(self.given.values())
        self.taken_down = False
        chosen = command or self.command
        chosen.start(queries, "--actors", str(self.actors), "--name", name or self.name)

    def take_over(self, command: Command, name: str) -> None:
        self.command, self.name = command, name

    @property
    def is_down(self) -> bool:
        return self.command.code is not None

    def kill(self) -> None:
        self.taken_down = True
        self.command.kill()

    def stop(self) -> End:
        """As a user would."""
        self.taken_down = True
        return End(self.command.signal(signal.SIGTERM), self.command.said)

    def close(self) -> None:
        for each in self._commands:
            each.stop()

    def process(self, kind: str, chance: random.Random) -> int:
        """One of the processes of a kind, as soon as there is one."""
        if kind == "driver":
            return self.command.pid
        found: list[int] = []

        def is_there() -> bool:
            found[:] = processes.of(kind, self.command.pid)
            return bool(found)

        self.wait_for(is_there, f"a process: {kind}")
        return chance.choice(found) if found else self.command.pid

    def ask(self, *arguments: str) -> subprocess.Popen[str]:
        """Another command, of which the job is told."""
        return self.hamlet(self.folder, *arguments, "--job", self.name)

    @staticmethod
    def hamlet(folder: Path, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", HAMLET, *arguments],
            cwd=folder,
            env=Command.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    # ---- how far it is ---------------------------------------------------------------------

    def metrics(self) -> dict[str, object] | None:
        """What its live page shows; None while there is no page, or it cannot answer."""
        served = re.search(r"live page and metrics: (\S+)", self.command.said)
        if served is None:
            return None
        try:
            with urllib.request.urlopen(f"{served[1]}/metrics.json", timeout=2) as response:
                return json.load(response)
        except (urllib.error.URLError, OSError, ValueError):
            return None

    def counts(self) -> Counts | None:
        """Of all epochs that were committed."""
        found = self.metrics()
        if not found:
            return None
        dead = sum(found["invalid_rows"].values())  # type: ignore[attr-defined]
        return Counts(found["rows"], found["events"], found["late"], dead)  # type: ignore[arg-type]

    def committed_rows(self) -> int:
        """At least so many are; 0 if nobody says."""
        counts = self.counts()
        return 0 if counts is None else counts.rows

    def wait_for(self, done: Callable[[], bool], what: str, patience: float = PATIENCE_S) -> None:
        """Or until the command has ended."""
        until = time.monotonic() + patience
        while not self.is_down and not done():
            if time.monotonic() > until:
                raise Stuck(f"not within {patience:g} s: {what}")
            time.sleep(POLL_S)

    def catch_up(self) -> End | None:
        """Until all that was fed is committed, or the command has ended by itself."""
        rows = self.feed.events.rows
        self.wait_for(lambda: self.committed_rows() == rows, f"an epoch with row {rows:,}")
        return self.end

    @property
    def end(self) -> End | None:
        """Of the command, if it has ended."""
        code = self.command.code
        return None if code is None else End(code, self.command.said)

    def hold(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """A fault lasts so long, or `until` then, or until it has ended the command."""
        end = time.monotonic() + seconds
        while not self.is_down and not until() and time.monotonic() < end:
            time.sleep(POLL_S)

    # ---- queries come and go ---------------------------------------------------------------

    def new_query(self, chance: random.Random) -> tuple[str, Path]:
        """Its name, and a file with it."""
        name = f"added_{len(self.texts)}"
        self.texts[name] = new_query(name, chance)
        path = self.folder / f"{name}.sase"
        path.write_text(self.texts[name])
        return name, path

    def removable(self) -> list[str]:
        """Queries that are known to run."""
        return [
            name
            for name, span in self.spans.items()
            if name not in STAYING and span.acknowledged and span.ends == NEVER
        ]

    def added(self, name: str, said: str) -> None:
        """`said` is what `query add` printed, if it was acknowledged."""
        told = re.search(r"windows from (\S+) on", said)
        if f"added {name}" in said and told is not None:
            first = _milliseconds(told[1]) - 1
            self.spans[name] = Span(begins=Between(first, first))
        else:
            low = self.feed.events.newest(0)
            self.spans[name] = Span(begins=Between(low, float("inf")), acknowledged=False)

    def added_at_restart(self, name: str, committed: int) -> None:
        """With an epoch after these rows and before what is fed from now on."""
        events = self.feed.events
        begins = Between(events.newest(committed), events.newest(events.rows))
        self.spans[name] = Span(begins=begins)

    def removed(self, name: str, committed: int, certain: bool = True) -> None:
        """The same of one that is gone. If it is not `certain`, it may as well stay."""
        events = self.feed.events
        low, high = events.watermark(committed) - 1, events.watermark(events.rows)
        ends = Between(low, high if certain else float("inf"))
        self.spans[name] = replace(self.spans[name], ends=ends)


def _milliseconds(iso: str) -> int:
    return round(datetime.fromisoformat(iso).timestamp() * 1000)
