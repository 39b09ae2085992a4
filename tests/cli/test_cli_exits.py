"""Exit codes, pipes and interrupts, with real processes."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import hamlet as package
from hamlet.cli import app, exit_codes, main
from runtime.errors import EnvironmentFailure, Failure, HamletError
from runtime.io.atomic import AtomicFiles
from runtime.pipeline.blob_store import BlobStore
from tools.patience import PATIENCE_S

SLOW = "generate:ridesharing?events=2000000"


@pytest.fixture
def slow(folder: Path) -> Path:
    path = folder / "slow.sase"
    path.write_text("RETURN COUNT(*) PATTERN SEQ(Request, Travel+) WITHIN 1 hour SLIDE 1 second")
    return path


def test_done(process):
    with process("run", "ride.sase", "--input", "ride.csv", "--format", "json") as done:
        out, _ = done.communicate(timeout=PATIENCE_S)
    assert done.returncode == 0
    assert out.count(b"\n") == 1


def test_error(process):
    with process("check", "none.sase") as done:
        _, err = done.communicate(timeout=PATIENCE_S)
    assert done.returncode == 1
    assert err.startswith(b"error: there is no query file")


def test_wrong_option_is_the_users_error_too(hamlet):
    assert hamlet("run", "--nonsense").exit_code == 1
    assert hamlet("rum").exit_code == 1
    assert "Did you mean 'run'?" in hamlet("rum").stderr


@pytest.mark.parametrize("option", ["--planner", "--ties", "--format"])
def test_a_wrong_choice_is_told_without_the_words_of_a_library(hamlet, option: str):
    done = hamlet("explain", "ride.sase", option, "nonsense")
    said = " ".join(done.stderr.replace("│", " ").split())
    assert done.exit_code == 1
    assert f"Invalid value for '{option}': 'nonsense' is not one of " in said


def test_failure_of_ours(hamlet, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise RuntimeError("a bug\nof two lines")

    monkeypatch.setattr("hamlet.cli.workload.read_workload", broken)
    done = hamlet("check", "ride.sase")
    assert done.exit_code == 2
    first, second = done.stderr.splitlines()
    assert first == "internal error: RuntimeError: a bug of two lines"
    assert "--debug" in second


def test_giving_up_is_no_error_of_the_user(hamlet, monkeypatch: pytest.MonkeyPatch):
    def given_up(*_: object) -> None:
        raise Failure("gave up after 10 repeats: a process died")

    monkeypatch.setattr("hamlet.cli.workload.read_workload", given_up)
    done = hamlet("check", "ride.sase")
    assert done.exit_code == 2
    assert done.stderr.splitlines() == ["error: gave up after 10 repeats: a process died"]


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("ENOSPC", 2),
        ("EDQUOT", 2),
        ("EIO", 2),
        ("EROFS", 2),
        ("ECONNREFUSED", 2),
        ("ETIMEDOUT", 2),
        ("EMFILE", 2),
        ("ENOENT", 1),
        ("EACCES", 1),
        ("EISDIR", 1),
        ("ENAMETOOLONG", 1),
    ],
)
def test_whose_fault_it_is(hamlet, monkeypatch: pytest.MonkeyPatch, number: str, code: int):
    def refuse(*_: object) -> None:
        raise OSError(getattr(errno, number), "refused", "the/path")

    monkeypatch.setattr("hamlet.cli.workload.read_workload", refuse)
    done = hamlet("check", "ride.sase")
    assert (done.exit_code, done.stderr) == (code, "error: the/path: refused\n")


@pytest.mark.parametrize(
    ("number", "kind"),
    [("ENOSPC", EnvironmentFailure), ("EIO", EnvironmentFailure), ("EACCES", HamletError)],
)
def test_whose_fault_a_file_is(tmp_path: Path, number: str, kind: type[HamletError], monkeypatch):
    """Of the output, and of the checkpoint."""

    def refuse(*_: object) -> None:
        raise OSError(getattr(errno, number), "refused")

    monkeypatch.setattr("os.fsync", refuse)
    files, store = AtomicFiles(), BlobStore(str(tmp_path))
    with pytest.raises(HamletError) as output, files.open(tmp_path / "a"):
        pass
    with pytest.raises(HamletError) as checkpoint:
        store.write("b", b"")
    assert [type(each.value) for each in (output, checkpoint)] == [kind, kind]


def test_the_last_line_is_the_note_of_the_error(hamlet, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        error = EnvironmentFailure("Ray has ended", "the logs are in /tmp/x")
        error.add_note("failed: Ray has ended; kept: the checkpoint of epoch 3 in state")
        raise error

    monkeypatch.setattr("hamlet.cli.workload.read_workload", fail)
    done = hamlet("check", "ride.sase")
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "error: Ray has ended",
        "hint: the logs are in /tmp/x",
        "failed: Ray has ended; kept: the checkpoint of epoch 3 in state",
    ]


def test_debug_shows_the_traceback(hamlet, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("hamlet.cli.workload.read_workload", broken)
    done = hamlet("check", "ride.sase", "--debug")
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert "in broken" in done.stderr


def test_debug_shows_the_traceback_of_an_error(hamlet):
    done = hamlet("check", "none.sase", "--debug")
    assert done.exit_code == 1
    assert "Traceback" in done.stderr


def test_interrupted(process, slow: Path, folder: Path):
    running = process("run", "slow.sase", "--input", SLOW, "--output", "results")
    wait_for_imports(running)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == exit_codes.INTERRUPTED
    assert out == b""
    assert err == b"interrupted\n"
    assert not list(folder.glob("results/*"))


def test_terminated(process, slow: Path, folder: Path):
    """As Ctrl-C does, it removes what is not finished."""
    running = process("run", "slow.sase", "--input", SLOW, "--output", "results")
    wait_for_imports(running)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, out, err) == (exit_codes.TERMINATED, b"", b"")
    assert not (folder / "results").exists()


def test_interrupted_while_it_loads(monkeypatch: pytest.MonkeyPatch, capsys):
    class Interrupt:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "hamlet.cli.commands":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "hamlet.cli.commands")
    monkeypatch.setattr(sys, "meta_path", [Interrupt, *sys.meta_path])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == exit_codes.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_the_entry_point_loads_next_to_nothing(root: Path):
    """What it loads before `main` can be interrupted only with a traceback."""
    code = "import sys, hamlet.cli; print({'pyarrow', 'numpy', 'typer'} & set(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        ("'--help'", "'numba', 'pyarrow', 'numpy', 'lark', 'ray', 'pyspark'"),
        ("'run', '--help'", "'numba', 'pyarrow', 'numpy', 'lark', 'ray', 'pyspark'"),
        ("'check', 'ride.sase'", "'numba', 'ray', 'pyspark'"),
        (
            "'run', 'ride.sase', '-i', 'ride.csv', '--engine', 'local', '-q'",
            "'ray', 'pyspark', 'raydp', 'confluent_kafka'",
        ),
    ],
)
def test_what_needs_no_engine_loads_none(folder: Path, root: Path, arguments: str, unneeded: str):
    """Or the shortest commands would take as long to start as a run."""
    code = f"""if True:
        import sys
        from hamlet.cli import app
        try:
            app([{arguments}])
        finally:
            print({{{unneeded}}} & set(sys.modules), file=sys.stderr)
    """
    command = [sys.executable, "-c", code]
    env = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == "set()\n"


def test_interrupted_generate(process, folder: Path):
    given = ("generate", "ridesharing", "--events", "50000000", "--output", "x.parquet")
    running = process(*given)
    began = time.monotonic()
    while not list(folder.glob(".x.parquet*")) and time.monotonic() - began < PATIENCE_S:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, err) == (exit_codes.INTERRUPTED, b"interrupted\n")
    assert not list(folder.glob("*x.parquet*"))


def wait_for_imports(running: "subprocess.Popen[bytes]") -> None:
    """The process has read its queries once it draws on the processor for a while."""
    stat = Path(f"/proc/{running.pid}/stat")
    if not stat.exists():
        time.sleep(5)
        return
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE_S:
        ticks = int(stat.read_text().rsplit(")", 1)[1].split()[11])
        if ticks > 300:  # of a hundredth of a second
            return
        time.sleep(0.1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("generate", "stock", "--events", "500000"),
        ("generate", "stock", "--events", "500000", "--format", "json"),
        ("generate", "stock", "--events", "500000", "--format", "arrow"),
        ("run", "each.sase", "--input", "generate:stock?events=30000", "--format", "json"),
        ("run", "each.sase", "--input", "generate:stock?events=30000", "--format", "csv"),
        ("run", "each.sase", "--input", "generate:stock?events=30000", "--limit", "0"),
        ("check", "many.sase"),
    ],
)
def test_a_reader_that_goes_away_is_no_error(process, folder: Path, arguments: tuple[str, ...]):
    query = "RETURN company, COUNT(*) PATTERN Stock GROUP-BY company WITHIN 1 second\n"
    (folder / "each.sase").write_text(query)
    (folder / "many.sase").write_text(query * 1000)
    quiet = ("--quiet",) if arguments[0] == "run" else ()
    with process(*arguments, *quiet) as running:
        assert running.stdout.read(10)
        running.stdout.close()
        err = running.stderr.read()
        code = running.wait(timeout=PATIENCE_S)
    assert (code, err) == (0, b"")


def test_full_disk(process):
    with open("/dev/full", "wb") as full:
        given = ("run", "ride.sase", "--input", "ride.csv", "--format", "json", "--quiet")
        with process(*given, stdout=full) as running:
            err = running.stderr.read()
    assert running.returncode == 2
    assert err == b"error: No space left on device\n"


def test_a_bar_only_where_somebody_watches(process):
    """On a terminal the bar is on standard error, and standard output stays clean."""
    outer, inner = os.openpty()
    given = ("run", "ride.sase", "--input", "ride.csv", "--format", "json")
    with process(*given, stderr=inner) as running:
        os.close(inner)
        out = running.stdout.read()
        said = drained(outer)
    assert out.count(b"\n") == 1
    assert b"matching" in said
    assert b"4 events in" in said


def drained(terminal: int) -> bytes:
    """All that was written to a terminal whose other side is closed."""
    said = b""
    with contextlib.suppress(OSError):  # Linux tells the end so
        while piece := os.read(terminal, 65_536):
            said += piece
    os.close(terminal)
    return said


def test_pipeline(process):
    """generate | run: the second reads what the first writes."""
    query = "RETURN COUNT(*) AS n PATTERN Stock WITHIN 1 day"
    Path("count.sase").write_text(query)
    first = process("generate", "stock", "--events", "1000", "--format", "arrow")
    with process(
        "run", "count.sase", "--input", "-", "--format", "json", stdin=first.stdout
    ) as last:
        first.stdout.close()
        out, _ = last.communicate(timeout=PATIENCE_S)
    first.wait(timeout=PATIENCE_S)
    assert b'"n": 1000.0' in out


# ---- the rest of the command ---------------------------------------------------------------


def test_version(hamlet):
    assert hamlet("--version").stdout == f"hamlet {package.__version__}\n"


@pytest.mark.parametrize("command", ["run", "check", "explain", "generate", "bench"])
def test_help_has_examples(hamlet, command: str):
    done = hamlet(command, "--help")
    assert done.exit_code == 0
    assert "Examples" in done.stdout
    assert f"hamlet {command}" in done.stdout


def test_shell_completion(process, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("_HAMLET_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "hamlet run --numeric ")
    monkeypatch.setenv("COMP_CWORD", "3")
    with process() as running:
        out, _ = running.communicate(timeout=PATIENCE_S)
    assert out.split() == [b"float", b"exact"]


def test_every_command_is_listed(hamlet):
    listed: Callable[[str], bool] = hamlet("--help").stdout.__contains__
    assert all(map(listed, ["run", "check", "explain", "generate", "bench"]))
    assert app.info.name == "hamlet"


def test_errors_with_hints_are_written_under_each_other():
    assert exit_codes.error_text(HamletError("what", "how")) == "error: what\nhint: how"
