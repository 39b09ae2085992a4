"""What killed runs leave behind is removed by the next run, and who can read what runs write."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from actors.cluster_dir import ClusterDir
from runtime import temporary_folder
from runtime.io.atomic import unfinished
from runtime.language.parser import parse
from runtime.pipeline.rehearsal import Rehearsal
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.temporary_folder import KEPT_SECONDS, OWNER, TemporaryFolder, remove_leftovers

COLUMNS = pa.schema([("time", pa.int64()), ("type", pa.string())])

# Makes what a run makes, says where, and waits to be killed.
OWNERS = """
import sys, time
from pathlib import Path
from actors.cluster_dir import ClusterDir
from runtime.io.atomic import AtomicFiles
from runtime.temporary_folder import TemporaryFolder

cluster = ClusterDir()
cluster.write_token()
job = TemporaryFolder("job-")
(job.path / "checkpoint").mkdir()
with AtomicFiles().open(Path(sys.argv[1]) / "ride.csv") as file:
    file.write(b"half")
    print(cluster.path, job.path, flush=True)
    time.sleep(300)
"""


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files. Its path is short, as a cluster needs it."""
    found = Path("/tmp") / f"t{os.getpid()}"
    found.mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", str(found))
    monkeypatch.setattr("tempfile.tempdir", str(found))
    yield found
    subprocess.run(["rm", "-rf", str(found)], check=True)


@pytest.fixture
def owner(root: Path, folder: Path, temporary: Path) -> Iterator[Callable[[], "Owner"]]:
    started: list[Owner] = []

    def start() -> Owner:
        started.append(Owner(root, folder / "results"))
        return started[-1]

    yield start
    for each in started:
        each.kill()


class Owner:
    def __init__(self, root: Path, output: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", OWNERS, str(output)],
            env={**os.environ, "PYTHONPATH": str(root)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.cluster, self.job = map(Path, self._process.stdout.readline().split())
        (self.half,) = output.glob(f".ride.csv.{self._process.pid}-*.tmp")

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    @property
    def left(self) -> list[Path]:
        return [path for path in (self.cluster, self.job, self.half) if path.exists()]


def run(hamlet) -> None:
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--output", "results")
    assert done.exit_code == 0, done.stderr


def test_the_next_run_removes_what_a_killed_one_left(hamlet, owner):
    dead, alive = owner(), owner()
    dead.kill()
    assert len(dead.left) == 3
    run(hamlet)
    assert dead.left == []
    assert len(alive.left) == 3, "of a run that still runs"


def test_an_id_that_is_used_again_does_not_keep_a_folder(temporary: Path):
    """The lock counts, not the id: here it is the one of a living process."""
    left = temporary / "hamlet-abcdefgh"
    left.mkdir()
    (left / OWNER).write_text(f"{os.getpid()}\n")
    assert remove_leftovers() == [left]


def test_folders_of_others_stay(temporary: Path, monkeypatch: pytest.MonkeyPatch):
    named = temporary / "hamlet-results"
    (named / "logs").mkdir(parents=True)
    linked = temporary / "hamlet-linked"
    linked.symlink_to(named)
    disguised = temporary / "hamlet-disguised"
    disguised.mkdir()
    (disguised / OWNER).symlink_to("/etc/hostname")
    left = temporary / "hamlet-left"
    left.mkdir()
    (left / OWNER).write_text("1\n")
    somebody = os.geteuid() + 1
    with monkeypatch.context() as patch:
        patch.setattr("os.geteuid", lambda: somebody)
        assert remove_leftovers() == []
    assert remove_leftovers() == [left]
    assert named.is_dir()
    assert disguised.is_dir()


def test_logs_that_were_kept_stay_for_a_day(temporary: Path):
    cluster = ClusterDir()
    (cluster.logs / "python.log").write_text("why")
    cluster.write_token()
    cluster.remove(keep_logs=True)
    assert {path.name for path in cluster.path.iterdir()} == {"logs", OWNER}
    assert remove_leftovers() == []
    assert remove_leftovers(now=time.time() + KEPT_SECONDS - 60) == []
    assert cluster.logs.is_dir()
    assert remove_leftovers(now=time.time() + KEPT_SECONDS + 60) == [cluster.path]


@pytest.mark.parametrize("later", [0.0, KEPT_SECONDS - 60, 2 * KEPT_SECONDS])
def test_a_folder_is_never_seen_without_an_owner(temporary: Path, monkeypatch, later: float):
    """The sweep of another run happens at the worst moment: before the lock is taken. Whoever was
    stopped for a day then makes another one."""
    seen: list[list[Path]] = []
    lock = temporary_folder.fcntl.flock

    def sweeping(file: int, operation: int) -> None:
        if operation == temporary_folder.fcntl.LOCK_EX:
            monkeypatch.setattr(temporary_folder.fcntl, "flock", lock)
            seen.append(remove_leftovers(now=time.time() + later))
        lock(file, operation)

    monkeypatch.setattr(temporary_folder.fcntl, "flock", sweeping)
    with TemporaryFolder() as path:
        assert path.is_dir()
        assert remove_leftovers(now=time.time() + 2 * KEPT_SECONDS) == []
    assert [len(removed) for removed in seen] == [later > KEPT_SECONDS]
    assert list(temporary.iterdir()) == []


def test_a_folder_of_a_run_that_was_killed_before_it_named_its_owner(temporary: Path):
    left, more, empty = (temporary / f"hamlet-{name}" for name in ("left", "more", "empty"))
    for path in (left, more, empty):
        path.mkdir()
    for path in (left, more):
        (path / f"{OWNER}.new").write_text("1\n")
    (more / "thesis.txt").write_text("of somebody else")
    tomorrow = time.time() + KEPT_SECONDS + 60
    assert remove_leftovers() == [], "it may be about to do so"
    with (left / f"{OWNER}.new").open() as file:
        temporary_folder.fcntl.flock(file, temporary_folder.fcntl.LOCK_EX)
        assert remove_leftovers(now=tomorrow) == [], "its process is alive"
    assert remove_leftovers(now=tomorrow) == [left]
    assert more.is_dir()
    assert empty.is_dir()


def test_a_killed_rehearsal_leaves_a_folder_that_goes(temporary: Path, monkeypatch):
    seen: list[list[Path]] = []

    def killed(*_: object, **__: object) -> None:
        (folder,) = temporary.iterdir()
        copy = temporary / f"{folder.name}-of-a-killed-one"
        shutil.copytree(folder, copy)
        seen.append([copy])
        seen.append(remove_leftovers())
        raise InterruptedError

    monkeypatch.setattr("runtime.pipeline.rehearsal.Aggregation", killed)
    workload = parse("RETURN COUNT(*) PATTERN A WITHIN 1 minute")
    with pytest.raises(InterruptedError):
        Rehearsal(Settings(), InputFormat(columns=COLUMNS), workload, None).run()
    (copy,), removed = seen
    assert copy.name.startswith("hamlet-rehearsal-")
    assert removed == [copy], "and not that of the living one"
    assert list(temporary.iterdir()) == []


def test_unfinished_files_of_other_machines_stay_for_a_day(hamlet, folder: Path):
    output = folder / "results"
    output.mkdir()
    theirs = output / ".ride.parquet.999999999-00000000.tmp"
    old = output / ".old.parquet.999999999-00000000-0123abcd.tmp"
    mine, notes = unfinished(output / "mine.csv"), output / ".notes.tmp"
    for path in (theirs, old, mine, notes):
        path.write_text("half")
    os.utime(old, (0, 0))
    run(hamlet)
    assert [path.exists() for path in (theirs, old, mine, notes)] == [True, False, True, True]


# ---- who can read what ---------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def lax() -> Iterator[None]:
    before = os.umask(0o002)
    yield
    os.umask(before)


def test_an_output_folder_that_we_create_is_private(hamlet, folder: Path, lax: None):
    run(hamlet)
    assert mode(folder / "results") == 0o700
    assert mode(folder / "results" / "ride.parquet") == 0o664
    assert mode(folder / "results" / "_run.jsonl") == 0o600


def test_an_output_folder_that_exists_keeps_its_mode(hamlet, folder: Path, lax: None):
    (folder / "results").mkdir(mode=0o775)
    (folder / "results" / "_run.jsonl").write_text("of an older version")
    run(hamlet)
    assert mode(folder / "results") == 0o775
    assert mode(folder / "results" / "_run.jsonl") == 0o600


def test_a_run_that_fails_leaves_no_folder(hamlet, folder: Path):
    done = hamlet("run", "ride.sase", "--input", "none.csv", "--output", "a/b/results")
    assert done.exit_code == 1
    assert not (folder / "a").exists()


def test_state_tokens_and_logs_are_private(temporary: Path, monkeypatch, lax: None, tmp_path: Path):
    from hamlet.job import job_registry

    monkeypatch.setenv("HAMLET_CACHE", str(tmp_path / "cache"))
    job = job_registry.Job("../../a job/", os.getpid())
    with job_registry.registered(job):
        files = list((tmp_path / "cache" / "jobs").iterdir())
        assert len(files) == 2
        assert {mode(file) for file in files} == {0o600}
        assert mode(files[0].parent) == 0o700
        assert job_registry.running() == [job]

    cluster = ClusterDir()
    assert {mode(path) for path in (cluster.path, cluster.logs, cluster.ray)} == {0o700}
    assert mode(cluster.write_token()) == 0o600
    cluster.remove(keep_logs=True)
    assert mode(cluster.path) == 0o700
    with TemporaryFolder("job-") as path:
        assert mode(path) == 0o700
