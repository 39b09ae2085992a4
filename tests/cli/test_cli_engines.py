"""`hamlet run --engine`: what belongs to which engine, and what is told before Ray is started."""

import re
import shutil
from pathlib import Path

import pytest

from hamlet.cli.durations import parse_duration
from runtime.errors import HamletError

# ---- what needs Ray ------------------------------------------------------------------------

ON_RAY_ONLY = [
    ("--follow",),
    ("--checkpoint", "state"),
    ("--address", "127.0.0.1:6379"),
    ("--lateness", "10s"),
    ("--kafka-options", "kafka.properties"),
    ("--avro-schema", "ride.avsc"),
]


@pytest.mark.parametrize("option", ON_RAY_ONLY)
def test_options_that_this_process_has_no_use_for(hamlet, option: tuple[str, ...]):
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--engine", "local", *option)
    assert done.exit_code == 1
    assert f"{option[0]} is for --engine ray" in done.stderr
    assert f"leave out {option[0]}, or --engine local" in done.stderr


@pytest.mark.parametrize("input", ["kafka://host/topic", "socket://127.0.0.1:9"])
def test_inputs_without_an_end(hamlet, input: str):
    done = hamlet("run", "ride.sase", "--input", input, "--engine", "local")
    assert done.exit_code == 1
    assert f"--input {input.partition(':')[0]}: is for --engine ray" in done.stderr


def test_results_in_kafka(hamlet, folder: Path):
    options = ("--engine", "local", "--output", "kafka://host/topic")
    done = hamlet("run", "ride.sase", "--input", "ride.csv", *options)
    assert done.exit_code == 1
    assert "--output kafka: is for --engine ray" in done.stderr
    assert not (folder / "kafka:").exists()


# ---- errors do not wait for Ray ----------------------------------------------------------

ERRORS = [
    (("--input", "none.csv"), "cannot read none.csv"),
    (("--input", "ride.csv", "--time-column", "t"), "no column `t`"),
    (("--input", "ride.csv", "--follow"), "only a folder can be followed"),
    (("--input", "-", "--follow"), "- cannot be followed"),
    (("--input", "ride.csv", "--lateness", "10 parsecs"), "`10 parsecs` is not a duration"),
    (("--input", "kafka://host"), "kafka://host"),
    (("--input", "socket://host"), "names no host and port"),
    (("--input", "generate:stok"), "did you mean `stock`?"),
    (("--input", "generate:stock?pace=fast"), "pace"),
    (("--input", "generate:stock"), "the input has no attribute `speed`"),
    (("--input", "typo.csv"), "did you mean `sped`?"),
]


@pytest.fixture
def no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("nobody was to start Ray")

    monkeypatch.setattr("ray.init", refuse)


@pytest.mark.usefixtures("no_ray")
@pytest.mark.parametrize(("given", "said"), ERRORS)
def test_errors_are_told_at_once(hamlet, folder: Path, given: tuple[str, ...], said: str):
    (folder / "typo.csv").write_text("time,type,sped\n1,Request,1\n")
    done = hamlet("run", "ride.sase", *given, "--engine", "ray", stdin=b"time,type\n")
    assert done.exit_code == 1
    assert said in done.stderr
    assert "nobody was" not in done.stderr


@pytest.mark.usefixtures("no_ray")
def test_without_an_error_ray_is_started(hamlet):
    """It may be slow on a busy machine, so it is tried again, with a line about it. That it does
    not start at all is not an error of the user."""
    done = hamlet("run", "ride.sase", "--input", "ride.csv", "--engine", "ray")
    assert done.exit_code == 2
    lines = done.stderr.splitlines()
    assert re.fullmatch(r" *\d+\.\d s  starting Ray.*", lines[0])
    assert lines.count("Ray did not start: nobody was to start Ray; trying again") == 2
    error = lines.index("error: Ray did not start: nobody was to start Ray")
    hint = lines[error + 1]
    assert lines[-1] == (
        "failed: Ray did not start: nobody was to start Ray; kept: nothing, for lack of a "
        "--checkpoint; the same command starts from the beginning"
    )
    logs = Path(hint.removeprefix("hint: the logs are in "))
    assert logs.is_dir()
    shutil.rmtree(logs.parent)


@pytest.mark.parametrize("memory", ["lots", "1 gigabyte", "-1g", ""])
def test_memory_that_is_no_size_is_told_before_spark_starts(hamlet, memory: str):
    done = hamlet("run", "ride.sase", "-i", "ride.csv", "--spark-memory", memory)
    assert done.exit_code == 1
    assert f"--spark-memory is `{memory}`" in done.stderr


# ---- durations -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("0s", 0),
        ("250us", 250),
        ("500ms", 500_000),
        ("1.5 s", 1_500_000),
        ("2m", 120_000_000),
        ("2 minutes", 120_000_000),
        ("1h", 3_600_000_000),
        ("1 hour", 3_600_000_000),
    ],
)
def test_durations(text: str, micros: int):
    assert parse_duration(text) == micros


@pytest.mark.parametrize("text", ["", "10", "s", "-1s", "1e3s", "10 days ago", "1s 2s"])
def test_no_durations(text: str):
    with pytest.raises(HamletError, match="is not a duration"):
        parse_duration(text)
