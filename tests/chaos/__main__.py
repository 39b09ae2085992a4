"""`make test-chaos`: histories of faults on real processes, one for each seed."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chaos.events import (
    FILE_LATENESS,
    PARTITIONS,
    TOPIC_LATENESS,
    FolderFeed,
    TopicFeed,
)
from chaos.faults import FAULTS, LARGE, kinds
from chaos.job import Job
from chaos.report import Report
from chaos.results import FolderResults, Results, TopicResults
from chaos.runner import Runner
from chaos.schedule import FILES, TOPICS, schedule
from cluster.faults.disk import Disk
from protocol.disk_faults import play_on_disk
from protocol.random_faults import play
from runtime.errors import did_you_mean
from tools.kafka import Broker

BUILD = Path(__file__).parents[2] / "build" / "chaos"
OWN_MOUNTS = "CHAOS_OWN_MOUNTS"
DISKS = ("output", "checkpoint")
#: What meets faults in this process. Each is called with its first seed and the number of faults.
IN_PROCESS = {"runs of the protocol": play, "runs on a failing disk": play_on_disk}
# More histories than one seed plays.
APART = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="make test-chaos", description=__doc__)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--faults", type=int, default=60, help="for each seed")
    parser.add_argument("--only", action="append", help="this fault; can be given again")
    parser.add_argument(
        "--in-process", type=int, default=5_000, help="on classes alone; none with --only"
    )
    options = parser.parse_args()
    for name in options.only or ():
        if name not in FAULTS:  # a history without faults would find nothing
            parser.error(f"no fault is called `{name}`: {did_you_mean(name, FAULTS)}")
    mount_in_private()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    in_process = 0 if options.only else options.in_process
    failed = [
        seed for seed in options.seeds if not passes(seed, options.faults, options.only, in_process)
    ]
    if failed:
        sys.exit(f"failed: seeds {failed}; the folders are in {BUILD}")


def mount_in_private() -> None:
    """Starts this program again where its mounts are its own: they need no rights of root, and
    end with it."""
    if OWN_MOUNTS not in os.environ:
        os.environ[OWN_MOUNTS] = "1"
        rights = [] if os.geteuid() == 0 else ["--map-root-user"]
        program = [sys.executable, "-m", "chaos", *sys.argv[1:]]
        os.execvp("unshare", ["unshare", "--mount", *rights, *program])


def passes(seed: int, faults: int, only: list[str] | None, in_process: int) -> bool:
    chosen = kinds()
    if only is not None:
        chosen = {s: {n: w for n, w in of.items() if n in only} for s, of in chosen.items()}
    steps = schedule(seed, faults, chosen)
    folder = BUILD / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    report = Report(seed, steps)
    try:
        for segment, opened in ((FILES, over_files), (TOPICS, over_topics)):
            wanted = [step for step in steps if step.segment == segment]
            if wanted:
                with opened(folder / segment, seed) as (job, results):
                    Runner(job, results, report).run(wanted)
        report.in_process = play_in_process(seed, in_process)
    except BaseException as error:  # also if somebody ends it: jobs are closed by then
        report.problems.append(traceback.format_exc())
        if not isinstance(error, Exception):
            raise
    finally:
        report.clock()
        report.write(BUILD)
        print(report.text(), flush=True)
    if report.findings:
        return False
    shutil.rmtree(folder)
    return True


def play_in_process(seed: int, faults: int) -> dict[str, Counter[str]]:
    """How many there were of each kind."""
    share = faults // len(IN_PROCESS)
    return {what: played(seed * APART, share) for what, played in IN_PROCESS.items()}


@contextmanager
def over_files(folder: Path, seed: int) -> Iterator[tuple[Job, Results]]:
    """A followed folder to a folder of results. Results and checkpoint are on disks of their
    own."""
    folder.mkdir()
    disks = {name: Disk(folder / name, LARGE) for name in DISKS}
    feed = FolderFeed(folder / "input", seed)
    job = Job(folder, feed, name=f"chaos-{seed}", lateness=FILE_LATENESS, disks=disks)
    try:
        yield job, FolderResults(folder / "output")
    finally:
        job.close()
        for disk in disks.values():
            keep(disk)


def keep(disk: Disk) -> None:
    """What is on a disk stays when the disk is gone."""
    kept = disk.path.with_name(f".{disk.path.name}")
    shutil.copytree(disk.path, kept)
    disk.close()
    disk.path.rmdir()
    kept.rename(disk.path)


@contextmanager
def over_topics(folder: Path, seed: int) -> Iterator[tuple[Job, Results]]:
    """From one topic to another."""
    broker = Broker(folder / "broker")
    broker.start()
    broker.create("events", PARTITIONS)
    source, output = (f"kafka://{broker.address}/{name}" for name in ("events", "results"))
    job = Job(
        folder,
        TopicFeed(broker.address, "events", seed),
        name=f"chaos-{seed}-kafka",
        lateness=TOPIC_LATENESS,
        source=source,
        output=output,
        broker=broker,
    )
    try:
        yield job, TopicResults(broker, "results")
    finally:
        job.close()
        broker.stop()


if __name__ == "__main__":
    main()
