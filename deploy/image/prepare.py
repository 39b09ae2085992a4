"""Fills the cache of the image: kernels, so that the first event is fast, and jars for Kafka.

Runs as the image is built. HAMLET_CACHE and NUMBA_CACHE_DIR say where to; NUMBA_CPU_NAME says for
which processors, since the image runs on others than it was built on.
"""

from __future__ import annotations

import pyarrow as pa

import hamlet
from runtime.cache import cache_of
from spark_ingest.jars import kafka_jars

# One for each kernel: queries that share, adjacent conditions, trends that move, and all else.
WORKLOAD = """
QUERY first RETURN COUNT(*) AS n, SUM(B.x) AS s PATTERN SEQ(A, B+) WITHIN 1 minute
QUERY second RETURN COUNT(*) AS n, SUM(B.x) AS s PATTERN SEQ(C, B+) WITHIN 1 minute
QUERY rising RETURN COUNT(*) AS n PATTERN B+ WHERE B.x < NEXT(B).x WITHIN 1 minute
QUERY moving RETURN COUNT(*) AS n PATTERN SEQ(A, B+) SEMANTICS skip-till-next-match WITHIN 1 minute
QUERY without RETURN COUNT(*) AS n PATTERN SEQ(A, NOT C, B+) WITHIN 1 minute
"""
EVENTS = pa.table({"time": [1, 2, 3, 4], "type": ["A", "C", "B", "B"], "x": [0.0, 0.0, 1.0, 2.0]})


def main() -> None:
    found = hamlet.aggregate(hamlet.parse(WORKLOAD), EVENTS)
    counted = {name: table["n"].to_pylist() for name, table in found.items()}
    wanted = {"first": [3.0], "second": [3.0], "rising": [3.0], "moving": [2.0], "without": []}
    assert counted == wanted, counted
    # Measured on the machine that builds, and measured again where it runs.
    (cache_of("kernels") / "policy.json").unlink(missing_ok=True)
    kafka_jars()


if __name__ == "__main__":
    main()
