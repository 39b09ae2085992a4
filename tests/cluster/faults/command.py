"""`hamlet run` as a process of its own, with `--follow` over the files of a stream."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cluster import proc
from cluster.faults import stream
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.manifest import Manifest
from tools.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
HAMLET = "from hamlet.cli import main; main()"
# Start-up takes half a minute, and other tests run beside these.


class Command:
    """`start` after an end is the same command again. What it says is in `said`, and in a file for
    each start."""

    def __init__(
        self,
        folder: Path,
        output: str | None = None,
        source: str | None = None,
        lateness: str = stream.LATENESS,
        name: str = "faults",
        follow: bool = True,
    ) -> None:
        self.folder = folder
        self.name = name
        self.input = folder / "input"
        self.checkpoint = folder / "checkpoint"
        self.output = folder / "output"
        self._starts = 0
        self._from = source or str(self.input)
        self._to = output or str(self.output)
        self._following = ["--follow", "--lateness", lateness] if follow else []
        self._process: subprocess.Popen[bytes] | None = None
        self._before = -1
        self.input.mkdir(parents=True, exist_ok=True)

    def fill(self, first: int, last: int) -> None:
        for number, content in enumerate(stream.tables()[first:last], first):
            stream.put(self.input, number, content)

    def start(self, workload: str = stream.WORKLOAD, *options: str) -> None:
        self._before = self.epoch()
        self._starts += 1
        queries = self.folder / f"{self.name}.sase"
        queries.write_text(workload)
        arguments = ["run", queries, "--input", self._from, *self._following]
        arguments += ["--time-unit", "ms", "--output", self._to, "--checkpoint", self.checkpoint]
        arguments += [*(["--file-age", "1s"] if self._following else []), *options]
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", HAMLET, *map(str, arguments)],
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_heed_interrupts,  # noqa: PLW1509
            )

    @staticmethod
    def environment() -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT)}

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, if it has ended."""
        assert self._process is not None
        return self._process.poll()

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}-said-{self._starts}.txt"

    @property
    def said(self) -> str:
        return self._log.read_text()

    def epoch(self) -> int:
        """The last one that was committed."""
        manifest = self._manifest()
        return -1 if manifest is None else manifest.epoch

    def kept(self) -> int:
        """The epoch that its last line names. Another one may have been committed just before the
        end, which the job did not hear of any more."""
        place = re.escape(str(self.checkpoint))
        last = self.said.splitlines()[-1]
        found = re.search(rf"; kept: the checkpoint of epoch (\d+) in {place}; ", last)
        assert found is not None, last
        return int(found[1])

    def files(self) -> int:
        """How many have been taken."""
        return len(self.position().get("files", ()))

    def records(self) -> int:
        """How many have been taken, if they come from Kafka."""
        return sum(self.position().get("offsets", {}).values())

    def is_within_a_file(self) -> bool:
        """Whether a part of one has been taken."""
        return "part" in self.position()

    def rows(self) -> int:
        """How many have been taken, whatever the input is."""
        manifest = self._manifest()
        return 0 if manifest is None else manifest.counts.rows

    def position(self) -> dict[str, Any]:
        manifest = self._manifest()
        return {} if manifest is None else manifest.position

    def _manifest(self) -> Manifest | None:
        return CheckpointStore(BlobStore(str(self.checkpoint))).last()

    def next_epoch(self) -> None:
        """Until one has been committed since the start."""
        self.wait_for(lambda: self.epoch() > self._before)

    def all_files(self) -> None:
        """Until they have been taken."""
        self.wait_for(lambda: self.files() == stream.FILES)

    def wait_for(self, done: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_S
        while not done():
            assert self._process is not None
            assert self._process.poll() is None, self.said
            assert time.monotonic() < until, self.said
            time.sleep(0.02)

    def kill(self, moment: Callable[[], None] = lambda: None) -> None:
        """With all that goes down with it, so that not too many run at once. `moment` returns when
        it is time."""
        assert self._process is not None
        below = proc.tree(self.pid)
        moment()
        self._process.kill()
        self._process.wait()
        until = time.monotonic() + 10
        while sum(map(proc.alive, below)) > 4 and time.monotonic() < until:
            time.sleep(0.1)

    def signal(self, number: int) -> int:
        """Gives the exit code."""
        assert self._process is not None
        self._process.send_signal(number)
        return self.end()

    def end(self) -> int:
        assert self._process is not None
        return self._process.wait(PATIENCE_S)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def query(command: Command, *arguments: str) -> "subprocess.Popen[str]":
    """`hamlet query` on the job of the command."""
    return subprocess.Popen(
        [sys.executable, "-c", HAMLET, "query", *arguments, "--job", "faults"],
        cwd=command.folder,
        env=command.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
