"""A run over one large file is killed within the file, and goes on with other cores."""

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from cluster.faults.command import HAMLET, Command

ROWS = 3_000_000
QUERIES = "RETURN driver, COUNT(*) AS n PATTERN SEQ(A, B) GROUP-BY driver WITHIN 1 minute"


def write(path: Path) -> None:
    """About 100 MB. Every 9973rd row is no event, and times are out of order."""
    with path.open("w") as file:
        file.write("time,type,driver,note\n")
        for row in range(ROWS):
            time = "never" if row % 9_973 == 0 else row - row * 7_919 % 1_000
            file.write(f"{time},{'AB'[row % 2]},driver {row % 53},nobody asks\n")


def rows(output: Path) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = {}
    for path in sorted(output.rglob("*.parquet")):
        name = path.relative_to(output).parts[0]
        found.setdefault(name, []).extend(pq.read_table(path).to_pylist())
    return {name: sorted(each, key=str) for name, each in found.items()}


def test_killed_within_a_file(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    write(path)
    command = Command(tmp_path, source=str(path), follow=False)
    for cores in ("2", "1"):
        command.start(QUERIES, "--spark-cores", cores)
        command.next_epoch()
        command.wait_for(command.is_within_a_file)
        command.kill()
    command.start(QUERIES, "--spark-cores", "2")
    assert command.end() == 0, command.said

    queries, local = tmp_path / "faults.sase", tmp_path / "local"
    arguments = ["run", queries, "--input", path, "--time-unit", "ms", "--output", local]
    subprocess.run(
        [sys.executable, "-c", HAMLET, *map(str, arguments), "--engine", "local"],
        env=command.environment(),
        cwd=tmp_path,
        check=True,
    )
    found, wanted = rows(command.output), rows(local)
    assert found == wanted
    assert len(wanted["_dead_letter"]) == -(-ROWS // 9_973)
