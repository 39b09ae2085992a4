"""Hostile names and values through a job on Ray: its metrics, page, log, files and dead letters."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from prometheus_client.parser import text_string_to_metric_families

from runtime.errors import WorkloadError
from runtime.language.parser import parse
from tools.browser import console, until
from tools.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
CODE = "from hamlet.cli import main; main()"
HTML = "<img src=x onerror=\"document.title='owned'\">"
# Names of queries, which are names of files too.
QUERIES = [
    "'; DROP TABLE q; --",
    "${HOME} $(id) `id`",
    "駅 ß ٣ é\u0301",
    "long " + "x" * 150,
    "a=b,c d;e",
    "-rf",
]
# A quoted name cannot have a line break. Values can.
TYPES = [
    HTML,
    "</script><script>document.title='owned'</script>",
    'quote" and \\"',
    "back\\slash\\",
    "\\n is no line break",
    'q{le="1"} 1 # EOF',
    "../../escape",
    "/etc/passwd",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egnp.exe\u2066",
    "nul\0 and del\x7f",
    *QUERIES,
    "long " + "x" * 2_000,
]
VALUES = [*TYPES, "two\nlines\r\n# HELP evil x\nevil 1", "tab\tand\u2028separator", ""]
FILE = "odd <b>'\" \x1b[31m \u202e two\nlines & #?%41 ${HOME}.jsonl"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def named_types() -> dict[str, str]:
    """The name of a query for each type."""
    names = [*QUERIES, *(f"q{number}" for number in range(len(TYPES) - len(QUERIES)))]
    return dict(zip(names, TYPES, strict=True))


def write_input(folder: Path) -> None:
    queries = [
        f"QUERY {quoted(name)}\nRETURN who, COUNT(*) AS n\nPATTERN {quoted(kind)}+\n"
        "GROUP-BY who\nWITHIN 10 seconds\n"
        for name, kind in named_types().items()
    ]
    (folder / "odd.sase").write_text("\n".join(queries), newline="")
    rows = [{"time": 1, "type": kind, "who": who} for kind in TYPES for who in VALUES]
    rows += [{"time": 1, "type": f"no {value}", "who": "nobody"} for value in VALUES]
    rows += [{"time": f"soon {value}", "type": value, "who": value} for value in VALUES]
    rows.append({"time": 100, "type": "end", "who": "end"})
    (folder / "in").mkdir()
    (folder / "in" / FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "secret.jsonl").write_text('{"time": 1, "type": "secret", "who": "root"}\n')
    (folder / "in" / f"link {FILE}").symlink_to("../secret.jsonl")
    (folder / "in" / "circle.jsonl").symlink_to("circle.jsonl")
    with open(os.path.join(os.fsencode(folder), b"in", b"\xff.jsonl"), "w") as file:
        file.write('{"time": "never", "type": "secret", "who": "root"}\n')


@pytest.mark.parametrize("name", TYPES[:11])
def test_a_name_that_is_no_file_name_is_refused(name: str):
    with pytest.raises(WorkloadError, match="is not a file name"):
        parse(f"QUERY {quoted(name)} RETURN COUNT(*) PATTERN A WITHIN 1 second")


@pytest.fixture
def job(tmp_path: Path):
    write_input(tmp_path)
    command = [sys.executable, "-c", CODE, "run", "odd.sase", "--input", "in", "--follow"]
    command += ["--name", HTML, "--output", "out", "--log", "json"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        yield running
        running.kill()


@pytest.mark.slow
def test_nothing_hostile_gets_through(job: Any, browser: Any, tmp_path: Path):
    said, url = [], ""
    while not url:
        said.append(job.stderr.readline())
        assert said[-1], said
        url = next(iter(re.findall(r"http://[\w.:]+", said[-1])), "")

    def read() -> dict[str, Any] | None:
        found = json.load(urlopen(f"{url}/metrics.json"))
        return found if found and sum(q["results"] for q in found["queries"].values()) else None

    snapshot = until(read)
    assert set(snapshot["queries"]) == set(named_types())
    check_exposition(urlopen(f"{url}/metrics").read().decode())
    check_page(browser, url)
    job.send_signal(signal.SIGTERM)
    out, err = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 0, err
    assert out == ""
    check_log([*said, *err.splitlines(keepends=True)])
    check_files(tmp_path)


def check_exposition(text: str) -> None:
    """Prometheus reads back the same values, and no metric that we do not have."""
    families = list(text_string_to_metric_families(text))
    assert {family.name.partition("_")[0] for family in families} == {"hamlet"}
    labels = [sample.labels for family in families for sample in family.samples]
    assert {each["hamlet_job"] for each in labels} == {HTML}
    assert {each["query"] for each in labels if "query" in each} == set(named_types())


def check_page(browser: Any, url: str) -> None:
    browser.get(url)
    cells = "return [...document.querySelectorAll('#queries td')].map(each => each.textContent)"
    assert until(lambda: set(QUERIES) <= set(browser.execute_script(cells)))
    assert browser.title == f"{HTML} · Hamlet"
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    assert console(browser) == []
    browser.get("about:blank")


def check_log(lines: list[str]) -> None:
    """Each line is one object, and none controls the terminal."""
    texts = []
    for line in lines:
        assert line.removesuffix("\n").isprintable(), line
        texts.append(json.loads(line).get("text", ""))
    warned = [text for text in texts if text.startswith("the link ")]
    assert sorted(text.rpartition(" is skipped: ")[2] for text in warned) == [
        "it leads in a circle",
        "it leads out of the folder; --follow-links follows it",
    ]
    assert r"\xff.jsonl is skipped: the name is not UTF-8; rename it" in texts


def check_files(folder: Path) -> None:
    beside = {path.name for path in folder.iterdir()}
    assert beside == {"odd.sase", "in", "secret.jsonl", "out"}, "nothing was written elsewhere"
    output = {path.name: path for path in (folder / "out").iterdir()}
    parts = [path for name, path in output.items() if name.endswith(".parquet")]
    assert len(parts) == len(named_types())
    assert all(len(path.name.encode()) < 200 and path.name.isprintable() for path in parts)
    for path in parts:
        table = pq.read_table(path)
        assert sorted(table["who"].to_pylist()) == sorted(VALUES), path.name
    dead = pa.concat_tables(pq.read_table(path) for path in output["_dead_letter"].glob("*"))
    assert set(dead["source"].to_pylist()) == {str(Path("in") / FILE)}
    assert [json.loads(each)["who"] for each in dead["event"].to_pylist()] == VALUES
