"""The queries as SQL, which both DuckDB and Spark take. A row for each window that has a trend:
`win`, the count, the sum. The view `e` holds the events, with the number of their window. Several
queries that differ in their types alone are one statement, which a planner sees as a whole; the
view `q` has what each calls its A, its B and its C.

join: trends are rows of a join, as the pattern reads. window: a pass of window functions that knows
how many there are without listing them. Somebody must derive that for the pattern at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from benchmarks._rivals.job import Query

JOIN_SEQUENCE = """\
SELECT a.win, count(*), sum(b.x)
FROM e a
JOIN e b ON b.win = a.win AND b.time > a.time
JOIN e c ON c.win = a.win AND c.time > b.time
WHERE a.type = 'A' AND b.type = 'B' AND c.type = 'C'
GROUP BY a.win"""

RECURSIVE_ANY = """\
WITH RECURSIVE trend(win, time, type, s) AS (
  SELECT win, time, type, CAST(0 AS DOUBLE) FROM e WHERE type = 'A'
  UNION ALL
  SELECT e.win, e.time, e.type, t.s + CASE WHEN e.type = 'B' THEN e.x ELSE 0 END
  FROM trend t
  JOIN e ON e.win = t.win AND e.time > t.time
    AND (t.type = 'A' AND e.type = 'B' OR t.type = 'B' AND e.type IN ('B', 'C')))
SELECT win, count(*), sum(s) FROM trend WHERE type = 'C' GROUP BY win"""

# Trends of a query are joined with its own events.
RECURSIVE_MANY = """\
WITH RECURSIVE named AS (
  SELECT q.name, e.win, e.time, q.role AS type, e.x FROM e JOIN q ON q.type = e.type),
trend(name, win, time, type, s) AS (
  SELECT name, win, time, type, CAST(0 AS DOUBLE) FROM named WHERE type = 'A'
  UNION ALL
  SELECT e.name, e.win, e.time, e.type, t.s + CASE WHEN e.type = 'B' THEN e.x ELSE 0 END
  FROM trend t
  JOIN named e ON e.name = t.name AND e.win = t.win AND e.time > t.time
    AND (t.type = 'A' AND e.type = 'B' OR t.type = 'B' AND e.type IN ('B', 'C')))
SELECT name, win, count(*), sum(s) FROM trend WHERE type = 'C' GROUP BY name, win"""

# As before a B, times Cs after it.
WINDOW_SEQUENCE = """\
WITH around AS (
  SELECT *,
    count(CASE WHEN type = 'A' THEN 1 END) OVER earlier AS a,
    count(CASE WHEN type = 'C' THEN 1 END) OVER later AS c
  FROM e
  WINDOW
    earlier AS (PARTITION BY win ORDER BY time
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
    later AS (PARTITION BY win ORDER BY time
      ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING))
SELECT win, sum(a * c), sum(a * c * x) FROM around WHERE type = 'B'
GROUP BY win HAVING sum(a * c) > 0"""

# An A after i Bs and a C after k of them have 2^(k-i) - 1 trends between them.
WINDOW_ANY = """\
WITH b AS (
  SELECT *,
    count(CASE WHEN type = 'B' THEN 1 END) OVER earlier AS k,
    sum(CASE WHEN type = 'B' THEN x ELSE 0 END) OVER earlier AS t
  FROM e
  WINDOW earlier AS (PARTITION BY win ORDER BY time
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)),
a AS (
  SELECT *,
    count(CASE WHEN type = 'A' THEN 1 END) OVER earlier AS n,
    sum(CASE WHEN type = 'A' THEN pow(2.0, -k) ELSE 0 END) OVER earlier AS u,
    sum(CASE WHEN type = 'A' THEN pow(2.0, -k) * t ELSE 0 END) OVER earlier AS v
  FROM b
  WINDOW earlier AS (PARTITION BY win ORDER BY time
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
SELECT win, sum(pow(2.0, k) * u - n), sum(pow(2.0, k - 1) * (t * u - v)) FROM a WHERE type = 'C'
GROUP BY win HAVING sum(pow(2.0, k) * u - n) > 0"""

# The same, with a partition for each query.
WINDOW_MANY = """\
WITH named AS (
  SELECT q.name, e.win, e.time, q.role AS type, e.x FROM e JOIN q ON q.type = e.type),
b AS (
  SELECT *,
    count(CASE WHEN type = 'B' THEN 1 END) OVER earlier AS k,
    sum(CASE WHEN type = 'B' THEN x ELSE 0 END) OVER earlier AS t
  FROM named
  WINDOW earlier AS (PARTITION BY name, win ORDER BY time
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)),
a AS (
  SELECT *,
    count(CASE WHEN type = 'A' THEN 1 END) OVER earlier AS n,
    sum(CASE WHEN type = 'A' THEN pow(2.0, -k) ELSE 0 END) OVER earlier AS u,
    sum(CASE WHEN type = 'A' THEN pow(2.0, -k) * t ELSE 0 END) OVER earlier AS v
  FROM b
  WINDOW earlier AS (PARTITION BY name, win ORDER BY time
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
SELECT name, win, sum(pow(2.0, k) * u - n), sum(pow(2.0, k - 1) * (t * u - v))
FROM a WHERE type = 'C'
GROUP BY name, win HAVING sum(pow(2.0, k) * u - n) > 0"""

# An A takes the next B, and that the next C, with all Bs up to it.
WINDOW_NEXT = """\
WITH n AS (
  SELECT *,
    sum(CASE WHEN type = 'B' THEN x ELSE 0 END) OVER earlier AS t,
    min(CASE WHEN type = 'B' THEN time END) OVER later AS next_b,
    min(CASE WHEN type = 'C' THEN time END) OVER later AS next_c
  FROM e
  WINDOW
    earlier AS (PARTITION BY win ORDER BY time
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
    later AS (PARTITION BY win ORDER BY time
      ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING))
SELECT a.win, count(*), sum(c.t - b.t + b.x)
FROM n a
JOIN n b ON b.win = a.win AND b.time = a.next_b
JOIN n c ON c.win = a.win AND c.time = b.next_c
WHERE a.type = 'A'
GROUP BY a.win"""

# Runs of Bs, with what is right before and right behind them.
WINDOW_CONTIGUOUS = """\
WITH r AS (
  SELECT *,
    lag(type) OVER w AS before, lead(type) OVER w AS behind,
    row_number() OVER w - row_number() OVER (PARTITION BY win, type ORDER BY time) AS run
  FROM e
  WINDOW w AS (PARTITION BY win ORDER BY time)),
runs AS (
  SELECT win, min_by(before, time) AS before, max_by(behind, time) AS behind, sum(x) AS s
  FROM r WHERE type = 'B' GROUP BY win, run)
SELECT win, count(*), sum(s) FROM runs WHERE before = 'A' AND behind = 'C' GROUP BY win"""

JOIN = {("skip-till-any-match", False): JOIN_SEQUENCE}
RECURSIVE = {("skip-till-any-match", True): RECURSIVE_ANY}
WINDOW = {
    ("skip-till-any-match", False): WINDOW_SEQUENCE,
    ("skip-till-any-match", True): WINDOW_ANY,
    ("skip-till-next-match", True): WINDOW_NEXT,
    ("contiguous", True): WINDOW_CONTIGUOUS,
}
#: Forms that have one statement for several queries.
MANY = {RECURSIVE_ANY: RECURSIVE_MANY, WINDOW_ANY: WINDOW_MANY}


@dataclass(frozen=True)
class Statement:
    """A statement. It gives `win`, the count and the sum, after the name of the query if it is for
    several."""

    text: str
    queries: tuple[Query, ...]

    def rows(self, found: Iterable[Any]) -> Iterable[tuple[str, int, float, float]]:
        several = len(self.queries) > 1
        for row in found:
            name, win, count, total = row if several else (self.queries[0].name, *row)
            yield name, int(win), float(count), float(total)


def statements(forms: Mapping[tuple[str, bool], str], queries: Iterable[Query]) -> list[Statement]:
    """The statements for these queries, as few as there are."""
    by_form: dict[str, list[Query]] = {}
    for query in queries:
        by_form.setdefault(forms[query.semantics, query.kleene], []).append(query)
    found = []
    for form, same in by_form.items():
        if len(same) > 1 and form in MANY:
            found.append(Statement(MANY[form], tuple(same)))
        else:
            found += [Statement(statement(form, query), (query,)) for query in same]
    return found


def roles(statements: Iterable[Statement]) -> pa.Table:
    """The view `q`: a row for each type of a query that shares its statement."""
    shared = [query for each in statements if len(each.queries) > 1 for query in each.queries]
    rows = [
        {"name": query.name, "type": type_, "role": role}
        for query in shared
        for type_, role in zip((query.start, query.middle, query.end), "ABC", strict=True)
    ]
    return pa.Table.from_pylist(
        rows, pa.schema([(name, pa.string()) for name in ("name", "type", "role")])
    )


def statement(text: str, query: Query) -> str:
    """A statement for the types of a query."""
    types = {"A": query.start, "B": query.middle, "C": query.end}
    return re.sub("'([ABC])'", lambda found: f"'{types[found[1]]}'", text)
