"""Reads and writes the manifest of a committed epoch: source position, saved shards and counts.

A run can continue from the manifest and the files that it names, on any number of aggregators.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

import pyarrow as pa

from runtime.language.parser import parse
from runtime.language.query import Workload
from runtime.pipeline.aggregation import Unit
from runtime.pipeline.blob_store import parsing
from runtime.pipeline.dead_letter import sources_lost
from runtime.pipeline.event_extractor import OTHER_TYPES, BlockStats
from runtime.pipeline.field_types import check_fields
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.state_segments import SavedUnit

# Of this many texts, the parsed queries are kept: the manifests of a job repeat them.
_PARSED_TEXTS = 64


@dataclass
class RunCounts:
    """The counts of a whole run so far."""

    rows: int = 0
    events: int = 0
    late: int = 0
    truncated: int = 0
    dead: Counter[str] = field(default_factory=Counter)
    null_keys: Counter[str] = field(default_factory=Counter)
    results: Counter[str] = field(default_factory=Counter)
    lost: int = 0  #: sources that could not be read, or not to their end
    types: set[str] = field(default_factory=set)
    other_types: set[str] = field(default_factory=set)

    def add_block(self, stats: BlockStats) -> None:
        """Adds the counts of some rows, except invalid rows, late rows and results."""
        self.rows += stats.rows
        self.events += stats.events
        self.truncated += stats.truncated
        self.null_keys.update(stats.null_keys)
        self.types |= stats.types
        others = sorted(stats.other_types - self.other_types)
        self.other_types.update(others[: OTHER_TYPES - len(self.other_types)])

    def add_dead(self, table: pa.Table) -> None:
        """Adds dead letters. One without a row number and an event means that its source could not
        be read; rows of Spark frames have no numbers."""
        self.dead.update(table["reason"].to_pylist())
        self.lost += sources_lost(table)

    def add_results(self, tables: Mapping[str, pa.Table]) -> None:
        self.results.update({name: table.num_rows for name, table in tables.items()})

    def to_json(self) -> dict[str, Any]:
        sets = {"types": sorted(self.types), "other_types": sorted(self.other_types)}
        return {each.name: getattr(self, each.name) for each in fields(self)} | sets

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunCounts:
        given = dict(data)
        for name in ("dead", "null_keys", "results"):
            given[name] = Counter(given[name])
        for name in ("types", "other_types"):
            given[name] = set(given[name])
        return cls(**given)

    def copy(self) -> RunCounts:
        return RunCounts.from_json(self.to_json())


@dataclass(frozen=True)
class Manifest:
    """`clocks` has the largest time of each source partition, `newest` is the largest of all."""

    epoch: int
    job: str  #: the name of the job's first run, by which a sink knows the job
    source: str
    position: dict[str, Any]
    watermark: int | None
    newest: int | None
    clocks: dict[str, int]
    workload: Workload
    since: dict[str, int]
    given: dict[str, str]  #: fingerprints of the queries that the user gave at the start
    input_format: InputFormat
    settings: dict[str, Any]  #: those that must not change: numeric, ties
    shards: int
    units: dict[Unit, SavedUnit]
    counts: RunCounts
    #: The rows of a text file that were read, if the epoch ends within it.
    rows_before: dict[str, int] = field(default_factory=dict)
    #: Records of epochs, up to this one, whose results were not published before it.
    outbox: tuple[str, ...] = ()
    outbox_bytes: int = 0
    publishes: bool = True  #: whether this epoch publishes the outbox
    changed: bool = False  #: whether queries came or went with this epoch
    finished: bool = False
    sink: str = ""  #: the sink that publishes it; empty if publishing cannot be repeated
    folders: dict[str, str] = field(default_factory=dict)  #: the sink's names of queries

    @property
    def files(self) -> set[str]:
        """The names of all files that it needs besides its own."""
        return {*self.outbox, *self.state_files}

    @property
    def state_files(self) -> set[str]:
        return set[str]().union(*(saved.files for saved in self.units.values()))

    def to_bytes(self) -> bytes:
        data = {
            "epoch": self.epoch,
            "job": self.job,
            "source": self.source,
            "position": self.position,
            "watermark": self.watermark,
            "newest": self.newest,
            "clocks": self.clocks,
            "workload": _workload_to_json(self.workload),
            "since": self.since,
            "given": self.given,
            "reading": _input_format_to_json(self.input_format),
            "settings": self.settings,
            "shards": self.shards,
            "units": [
                {"attributes": list(attributes), "shard": number, **saved.to_json()}
                for (attributes, number), saved in self.units.items()
            ],
            "counts": self.counts.to_json(),
            "rows_before": self.rows_before,
            "outbox": self.outbox,
            "outbox_bytes": self.outbox_bytes,
            "publishes": self.publishes,
            "changed": self.changed,
            "finished": self.finished,
            "sink": self.sink,
            "folders": self.folders,
        }
        return json.dumps(data, ensure_ascii=False).encode()

    @classmethod
    def from_bytes(cls, raw: bytes, name: str = "the manifest") -> Manifest:
        with parsing(name, "is not a manifest"):
            data = json.loads(raw)
            data["workload"] = _workload_from_json(data["workload"])
            data["input_format"] = _input_format_from_json(data.pop("reading"))
            data["counts"] = RunCounts.from_json(data["counts"])
            data["units"] = {
                (tuple(each["attributes"]), each["shard"]): SavedUnit.from_json(each)
                for each in data["units"]
            }
            data["outbox"] = tuple(data["outbox"])
            manifest = cls(**data)
            check_fields(manifest)
            check_fields(manifest.counts)
            return manifest


def _workload_to_json(workload: Workload) -> dict[str, Any]:
    """Queries by name, each with the index of its text: many queries share one, and every epoch
    writes them."""
    texts: dict[tuple[str, str], int] = {}
    queries = [
        [query.name, texts.setdefault((query.source.text, query.source.file), len(texts))]
        for query in workload
    ]
    return {"texts": [list(text) for text in texts], "queries": queries}


def _workload_from_json(data: Mapping[str, Any]) -> Workload:
    parsed = [_parsed(*text) for text in data["texts"]]
    queries = tuple(parsed[text][name] for name, text in data["queries"])
    return Workload(queries, queries[0].source if queries else parse("").source)


@lru_cache(_PARSED_TEXTS)
def _parsed(text: str, file: str) -> Workload:
    return parse(text, file)


def _input_format_to_json(input_format: InputFormat) -> dict[str, Any]:
    columns = base64.b64encode(input_format.columns.serialize().to_pybytes()).decode()
    clock = None
    if input_format.clock is not None:
        clock = base64.b64encode(
            pa.schema([("clock", input_format.clock)]).serialize().to_pybytes()
        ).decode()
    return {
        "time_column": input_format.time_column,
        "type_column": input_format.type_column,
        "time_unit": input_format.time_unit,
        "columns": columns,
        "clock": clock,
    }


def _input_format_from_json(data: Mapping[str, Any]) -> InputFormat:
    def schema(text: str) -> pa.Schema:
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))

    given = dict(data)
    given["columns"] = schema(given["columns"])
    given["clock"] = None if given["clock"] is None else schema(given["clock"]).field(0).type
    return InputFormat(**given)
