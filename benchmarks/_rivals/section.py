"""The part of the page about benchmarks that compares with what one would pick instead."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._rivals import plots, sql, store
from benchmarks._rivals.cases import CASES, WINDOWS, Case
from benchmarks._rivals.classes import SOURCES
from benchmarks._rivals.measure import CANNOT, ENDED
from benchmarks._rivals.systems import RIVALS

_INTRODUCTION = """\
## What one would pick instead

Flink CEP {flink}, Esper {esper}, Spark SQL {spark-join} and DuckDB {duckdb-join} beside this
engine: `hamlet bench rivals`. All get the same events, {windows} windows of them, and all that
ended gave the same counts and sums, in every run.

- Each system has a process of its own for each kind of query, which goes from small to large. At
  each point they are warmed up, one after the other, until times settle: for {warm_s:g} s or one
  run at least, and a process of Java for {java_warm_s:g} s when it is new; for twice that at most.
  Then they run {repeats} times in turns, in an order that rotates.
- A cell holds the median, the smallest and the largest time, the median of CPU time, and the peak
  resident set of the process (with Java's, for Spark) up to there: runtime and libraries included,
  and for Java also garbage that nobody had to collect yet.
- Timed is from events in memory to the last answer in memory, each system with events in its own
  form: columns for this engine, with types as numbers, Spark and DuckDB, objects for Flink and
  Esper, which compare the types' names. Not counted: making these, the start of a process,
  compiling kernels or statements, and, for Flink, submitting the job. Spark and DuckDB plan their
  statements in the time that is counted, as they do in use. Java and Spark tell CPU time in steps
  of 10 ms, of all threads.
- One core each: parallelism 1, `local[1]`, one thread for DuckDB, and Java believes in one
  processor. Flink's operators have threads of their own.
- A heap of {heap_mb:,} MB for Java, a limit of as much for DuckDB, {limit_s:g} s for a run
  (the first of a new process may take longer by its warm-up). A
  system that gives up at a point is not tried beyond it; plots have an open marker at the limit
  that it hit, with an arrow.
- Measured on {cores} cores ({machine}, {system}), Python {python}{small}.
"""

_MEANING = """\
### Who can say what

Flink CEP says all three semantics, with its own Kleene operator:

```java
{flink}
```

Esper repeats under skip-till-next-match (`until`) and contiguously (`match_recognize`). We found no
way to repeat under skip-till-any-match: there, `every` before each event says it for one length,
and it takes a statement for each length up to that of the longest trend, which one must know
beforehand.

```java
{esper}
```

In SQL a sequence of fixed length is a join (`spark-join`, `duckdb-join`):

```sql
{join}
```

A Kleene pattern is a recursive query that builds the trends. DuckDB has it, Spark 3.5 does not:

```sql
{recursive}
```

Window functions count trends that nobody lists, in one pass, if somebody derives a formula for the
pattern (`spark-window`, `duckdb-window`): what this engine does for any pattern, by hand for one.
The one below holds for `SEQ(A, B+, C)` without conditions on neighbours, and as long as 2 to the
number of Bs is within a double.

```sql
{window}
```

Several queries of that kind are one statement for a SQL system, over a table `q` of what each calls
its A, its B and its C, with partitions by query and window; the recursive one likewise:

```sql
{many}
```
"""


def section(measured: Path, images: str) -> str:
    """Made of `rivals.parquet` in that folder, and of the sources that it shows. `images` is the
    folder of the plots."""
    rows, about = store.read(measured)
    small = ", with `--quick`" if about["quick"] else ""
    introduction = _INTRODUCTION.format(
        **about["versions"], **about["effort"], **about_machine(about), windows=WINDOWS, small=small
    )
    meaning = _MEANING.format(
        flink=_part("FlinkRival.java", "pattern"),
        esper=f"{_part('Epl.java', 'sequence')}\n\n{_part('Epl.java', 'next')}",
        join=sql.JOIN_SEQUENCE,
        recursive=sql.RECURSIVE_ANY,
        window=sql.WINDOW_ANY,
        many=sql.WINDOW_MANY,
    )
    cases = [
        _case(case, [row for row in rows if row["case"] == case.name], images) for case in CASES
    ]
    return "\n".join((introduction, *cases, meaning))


def about_machine(about: dict[str, Any]) -> dict[str, Any]:
    return {name: about[name] for name in ("cores", "machine", "system", "python")}


def _part(name: str, label: str) -> str:
    """What stands between `begin` and `end` of a label, as far left as it goes."""
    lines = (SOURCES / name).read_text(encoding="utf-8").splitlines()
    first, last = (
        next(n for n, line in enumerate(lines) if line.strip() == f"// {edge} {label}")
        for edge in ("begin", "end")
    )
    return "\n".join(line.removeprefix("    ") for line in lines[first + 1 : last])


def _case(case: Case, rows: list[dict[str, Any]], images: str) -> str:
    sizes = sorted({row["size"] for row in rows})
    found = {(row["system"], row["size"]): row for row in rows}
    head = ["system", *(f"{size:,} {case.varies}" for size in sizes)]
    lines = [
        [name, *(_cell(found.get((name, size))) for size in sizes)]
        for name in RIVALS
        if any((name, size) in found for size in sizes)
    ]
    reasons = {row["system"]: row["reason"] for row in rows if row["outcome"] == CANNOT}
    told = "".join(f"\n`{name}` cannot: {reason}.\n" for name, reason in reasons.items())
    body = "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])
    shown = "\n".join(
        f"![{what} over {case.varies}, by system]({images}/{plots.name(case, shows)})"
        for shows, what in plots.SHOWN.items()
    )
    return f"### {case.title}\n\n{shown}\n\n{body}\n{told}"


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["outcome"] != ENDED:
        return str(row["outcome"])
    seconds = row["seconds"]
    times = f"{_ms(median(seconds))} ms ({_ms(min(seconds))} to {_ms(max(seconds))})"
    cpu = f"CPU {_ms(median(row['cpu_seconds']))} ms"
    return f"{times}, {cpu}, {row['peak_bytes'] / 2**20:,.0f} MB"


def _ms(seconds: float) -> str:
    ms = 1e3 * seconds
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.2g}"
