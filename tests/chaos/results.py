"""Reads what a job has written: results, late rows and dead letters."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Protocol

import pyarrow.parquet as pq

from chaos.history import Place, Row, Rows, Written
from cluster.kafka.test_kafka_sink import committed
from tools.kafka import Broker

LATE, DEAD = "_late", "_dead_letter"
# The column of COUNT(*) in every query.
COUNT = "trends"


class Results(Protocol):
    def read(self) -> Written: ...


class FolderResults:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> Written:
        found = Written(results={})
        for part in sorted(self._folder.glob("*/[!._]*.parquet")):
            name = part.parent.name.removesuffix(".parquet")
            for row in pq.read_table(part).to_pylist():
                _add(found, name, row)
        return found


class TopicResults:
    """As a reader sees them who reads what is committed."""

    def __init__(self, broker: Broker, topic: str) -> None:
        self._broker, self._topic = broker, topic

    def read(self) -> Written:
        found = Written(results={})
        for _, value in committed(self._broker, self._topic):
            _add(found, value["query"], value["row"])
        for name in (LATE, DEAD):
            for _, row in committed(self._broker, self._topic + name.replace("_", "-")):
                _add(found, name, row)
        return found


def read_truth(folder: Path, names: list[str]) -> dict[str, Rows]:
    """The results of the exact engine, which writes counts as text."""
    return {
        name: Rows(map(_in_doubles, pq.read_table(folder / f"{name}.parquet").to_pylist()))
        for name in names
    }


def _in_doubles(row: dict[str, object]) -> Row:
    """The counts of a history are below 2^53, so that a job has them to the last digit."""
    count = int(str(row[COUNT]))
    assert count < 1 << 53
    return tuple((row | {COUNT: float(count)}).items())


def _add(found: Written, name: str, row: dict[str, object]) -> None:
    if name in (LATE, DEAD):
        places: Counter[Place] = found.late if name == LATE else found.dead
        places[_place(row)] += 1
    else:
        results: dict[str, Rows] = found.results  # type: ignore[assignment]
        as_row: Row = tuple(row.items())
        results.setdefault(name, Rows())[as_row] += 1


def _place(row: dict[str, object]) -> Place:
    """A file by its name alone; a partition by its topic and number."""
    source, number = str(row["source"]), row["row"]
    assert isinstance(number, int), json.dumps(row)
    return re.sub(r".*/(?=[^/]*\.parquet$)", "", source), number
