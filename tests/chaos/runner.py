"""Does the faults of a schedule to a job one after the other, and checks what the job has written.

What a job does wrong on the way, such as to hang or to end with the wrong exit code, is a finding:
it is noted, and the history goes on if it can. Any finding fails the history in the end, and so
does any difference between the results and those of the exact engine.
"""

from __future__ import annotations

import random
import re
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from chaos.bit_flips import Undo
from chaos.events import FolderFeed
from chaos.faults import FAULTS, Fault
from chaos.history import Counts, Expected, Problem, Rows, Written, check, summarized
from chaos.job import End, Job, Stuck
from chaos.report import Entry, Report
from chaos.results import Results, read_truth
from chaos.schedule import Step
from chaos.workload import STAYING

# Tables that wait when a fault comes, so that epochs are being read, computed and committed.
UNDER_WAY = 3
# About as long as an epoch takes: a fault can come at any point of one.
EPOCH_S = 1.5
# The exit code of a failure that is no error of the user.
FAILURE = 2
# A job that does not resume after so many starts is beyond help.
MOST_STARTS = 3


class Beyond(Exception):
    """The job cannot go on."""


class Runner:
    def __init__(self, job: Job, results: Results, report: Report) -> None:
        self._job, self._results, self._report = job, results, report

    def run(self, steps: list[Step]) -> None:
        job = self._job
        segment = steps[0].segment
        self._report.flips[segment] = job.flips.made
        job.feed.feed(2)
        job.start()
        ended = job.catch_up()
        if ended is not None:
            raise Beyond(f"the undisturbed job {ended}")
        for step in steps:
            self._fault(step)
        missed = sorted(job.flips.missed)
        self._report.problems += [f"{segment}: no bit was flipped in any {kind}" for kind in missed]
        self._report.problems += summarized(self._differences())

    # ---- one fault -------------------------------------------------------------------------

    def _fault(self, step: Step) -> None:
        job, fault = self._job, FAULTS[step.fault]
        chance = random.Random(step.seed)
        entry = Entry(step, self._report.clock())
        self._report.entries.append(entry)
        job.notes = entry.notes
        undo: Undo | None = None
        job.flips.look()
        job.feed.feed(UNDER_WAY)
        time.sleep(chance.uniform(0, EPOCH_S))
        began = time.monotonic()
        try:
            undo = fault.inject(job, chance)
        except (Stuck, subprocess.TimeoutExpired) as error:
            entry.findings.append(str(error))
        over = time.monotonic()
        entry.fault = over - began
        try:
            job.feed.feed(1)
            self._recover(fault, entry, undo)
        finally:
            entry.recovery = time.monotonic() - over
            print(entry.with_findings(), flush=True)

    def _recover(self, fault: Fault, entry: Entry, undo: Undo | None) -> None:
        """Until all that was fed is committed. A command that is down is started again. A fault
        that it does not get over is undone, for the sake of those to come."""
        job, starts = self._job, 0
        entry.outcome = "started again" if job.taken_down else "went on"
        while (ended := self._catch_up(entry)) is not None:
            by_itself = not job.taken_down
            if by_itself and not (starts and self._put_back(ended, entry)):
                self._judge(ended, fault, entry, starts)
                if starts and undo is not None:
                    undo()
                    undo = None
            if starts == MOST_STARTS:
                raise Beyond(f"the job does not resume: {ended.said[-2000:]}")
            starts += 1
            job.start()
        if undo is not None:
            undo()

    def _catch_up(self, entry: Entry) -> End | None:
        """A job that hangs is killed."""
        try:
            return self._job.catch_up()
        except Stuck as error:
            entry.findings.append(f"{error}; killed and started again")
            entry.outcome = "hung"
            self._job.kill()
            return self._job.end

    def _judge(self, ended: End, fault: Fault, entry: Entry, starts: int) -> None:
        entry.outcome = str(ended)
        if starts:
            entry.findings.append(f"the same command does not resume: it {ended}")
        elif not fault.ends:
            entry.findings.append(f"the command should go on: it {ended}")
        if ended.code != FAILURE:
            entry.findings.append(f"exit code {ended.code}, not {FAILURE}: {ended.error[:200]}")
        if "Traceback" in ended.said or "internal error" in ended.said:
            entry.findings.append(f"a raw error: {ended.said[-300:]}")

    def _put_back(self, ended: End, entry: Entry) -> bool:
        """Whether the job asks for input that was deleted. It gets what it names."""
        feed = self._job.feed
        if not isinstance(feed, FolderFeed):
            return False
        named = [int(each) for each in re.findall(r"(\d{5})\.parquet", ended.error)]
        gone = [n for n in named if not (feed.folder / f"{n:05d}.parquet").exists()]
        for number in gone:
            feed.put_back(number)
        if gone:
            entry.notes.append(f"asked for {gone}")
        return bool(gone)

    # ---- the end ---------------------------------------------------------------------------

    def _differences(self) -> list[Problem]:
        """Between what is written and what should be."""
        counts, written = self._finish()
        job, events = self._job, self._job.feed.events
        truth = local_results(job.folder / "truth", events.clean(), job.texts)
        assert all(truth[name] for name in STAYING)
        expected = Expected(
            truth,
            job.spans,
            events.counts,
            job.feed.places(events.late),
            job.feed.places(events.dead),
        )
        return check(expected, counts, written)

    def _finish(self) -> tuple[Counts, Written]:
        """All windows close, and the job is stopped."""
        job = self._job
        job.feed.end()
        ended = job.catch_up()
        if ended is not None:
            raise Beyond(f"while it closed its windows, the job {ended}")
        counts = job.counts()
        assert counts is not None
        ended = job.stop()
        if ended.code != 0:
            self._report.problems.append(f"SIGTERM at the end: the job {ended}")
        return counts, self._results.read()


def local_results(folder: Path, rows: pa.Table, texts: dict[str, str]) -> dict[str, Rows]:
    """What all queries come to in the exact engine, by name."""
    folder.mkdir()
    pq.write_table(rows, folder / "events.parquet")
    (folder / "all.sase").write_text("".join(texts.values()))
    command = ["run", "all.sase", "--engine", "local", "--numeric", "exact"]
    command += ["--input", "events.parquet", "--time-unit", "ms", "--output", "results"]
    done = Job.hamlet(folder, *command)
    said, _ = done.communicate()
    if done.returncode:
        raise Beyond(f"--engine local: {said}")
    return read_truth(folder / "results", list(texts))
