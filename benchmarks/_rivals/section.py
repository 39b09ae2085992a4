"""The section of the benchmarks page that compares this engine with other systems."""

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
## Other systems

`hamlet bench rivals` compares this engine with Flink CEP {flink}, Esper {esper}, Spark SQL
{spark-join} and DuckDB {duckdb-join}. All systems get the same events in {windows} windows. All
systems that finished gave the same counts and sums, in every run.

- Each system has its own process for each kind of query, which goes from small to large. At each
  point the systems warm up, one after the other, until times settle: for at least {warm_s:g} s or
  one run, a new Java process for {java_warm_s:g} s, and at most for twice that. Then they run
  {repeats} times in turns, in a rotating order.
- A cell holds the median, the smallest and the largest time, the median CPU time, and the peak
  resident set of the process so far (with Java's, for Spark). This includes the runtime and its
  libraries, and for Java also garbage that was not collected yet.
- The clock runs from events in memory to the last answer in memory. Each system gets events in its
  own form: columns for this engine (with types as numbers), Spark and DuckDB; objects for Flink and
  Esper, which compare the names of types. The time does not include making these events, starting a
  process, compiling kernels or statements, and, for Flink, submitting the job. It includes the
  planning of statements in Spark and DuckDB, as in normal use. Java and Spark report CPU time of
  all threads in steps of 10 ms.
- Each system uses one core: parallelism 1, `local[1]`, one thread for DuckDB, and a Java that sees
  one processor. Flink's operators have their own threads.
- Java has a heap of {heap_mb:,} MB and DuckDB a limit of the same size. A run may take
  {limit_s:g} s (the first run of a new process may take longer by its warm-up). A system that gives
  up at a point skips the larger ones. Plots show an open marker at the limit that it hit, with an
  arrow.
- Measured on {cores} cores ({machine}, {system}), Python {python}{small}.
"""

_MEANING = """\
### What each system can express

Flink CEP expresses all three semantics with its own Kleene operator:

```java
{flink}
```

Esper repeats under skip-till-next-match (`until`) and contiguous (`match_recognize`). We found no
way to repeat under skip-till-any-match. There, `every` before each event expresses one length, so
the query takes a statement for each length up to that of the longest trend, which you must know in
advance.

```java
{esper}
```

In SQL a sequence of fixed length is a join (`spark-join`, `duckdb-join`):

```sql
{join}
```

A Kleene pattern is a recursive query that builds the trends. DuckDB supports it, Spark 3.5 does
not:

```sql
{recursive}
```

Window functions count trends in one pass without listing them, if you derive a formula for the
pattern (`spark-window`, `duckdb-window`). This is by hand, for one pattern, what this engine does
for any. The formula below holds for `SEQ(A, B+, C)` without adjacent conditions, as long as 2 to
the number of Bs fits a double.

```sql
{window}
```

A SQL system evaluates several queries of that kind as one statement, over a table `q` that lists
the A, B and C of each query, with partitions by query and window. The recursive query works the
same way:

```sql
{many}
```
"""


def section(measured: Path, images: str) -> str:
    """Made from `rivals.parquet` in that folder and from the sources that it shows. `images` is the
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
    """The lines between `begin` and `end` of a label, without their indentation."""
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
