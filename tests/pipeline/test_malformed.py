"""Files with an intact digest and other content than Hamlet writes: somebody else wrote them, or an
error of the machine was sealed with them. They are damage, not a bug, wherever they are found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest

from pipeline.records import COLUMNS, WORKLOAD, manifest_of, numbers
from runtime.errors import EnvironmentFailure
from runtime.pipeline.aggregation import Aggregation
from runtime.pipeline.blob_store import BlobStore, CorruptCheckpoint
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.checkpoint_files import HEADER, CheckpointFiles, _digest
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.pipeline.state_segments import SavedUnit, SegmentWriter

Use: TypeAlias = Callable[[CheckpointStore], object]


@pytest.fixture
def run(tmp_path: Path) -> CheckpointStore:
    """The owner of a checkpoint with one epoch, which has results."""
    found = CheckpointStore(BlobStore(str(tmp_path / "checkpoint")))
    found.claim(pytest.fail)
    manifest = manifest_of(0, outbox=(found.record_name(0),))
    found.commit(manifest, {"q": numbers(1)})
    return found


def look(run: CheckpointStore) -> object:
    return CheckpointStore(run.store).last()


def results(run: CheckpointStore) -> object:
    found = CheckpointStore(run.store)
    manifest = found.last()
    assert manifest is not None
    return list(found.results(manifest))


def record(run: CheckpointStore, *parts: bytes) -> None:
    run.files.write(run.record_name(0), 0, *parts)


def head(sizes: Any) -> bytes:
    data = json.dumps(sizes).encode()
    return len(data).to_bytes(8, "little") + data


def with_manifest(run: CheckpointStore, data: bytes) -> None:
    record(run, head({"manifest": len(data), "results": {}}), data)


@pytest.mark.parametrize("base", [b"not json", b"\xff", b"7", b"[]", b'"state/x"', b"{}"])
@pytest.mark.parametrize("use", [look, lambda run: CheckpointStore(run.store).claim(pytest.fail)])
def test_a_base(run: CheckpointStore, base: bytes, use: Use) -> None:
    again = CheckpointStore(run.store)
    again.claim(pytest.fail)
    again.files.write(f"owners/{again.owner}.base", -1, base)
    with pytest.raises(CorruptCheckpoint, match=r"000000002-.*\.base does not name a record"):
        use(run)


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"", b"epochs/x"])
def test_a_mark(run: CheckpointStore, mark: bytes) -> None:
    """Then nobody knows whether the results were published."""
    run.mark_published()
    assert run.is_published()
    run.files.write(f"owners/{run.owner}.published", -1, mark)
    assert not run.is_published()


SIZES = [
    *(7, [], {}, None, "x", {"results": {}}, {"manifest": "1", "results": {}}, {"manifest": 1}),
    *({"manifest": -1, "results": {}}, {"manifest": 1 << 40, "results": {}}),
    *({"manifest": 0, "results": []}, {"manifest": 0, "results": {"q": "1"}}),
    *({"manifest": 0, "results": {"q": -5}}, {"manifest": 0, "results": {"q": 1 << 40}}),
]


@pytest.mark.parametrize("sizes", SIZES)
def test_the_sizes_of_a_record(run: CheckpointStore, sizes: Any) -> None:
    record(run, head(sizes))
    with pytest.raises(CorruptCheckpoint, match="is not the record of an epoch"):
        look(run)


@pytest.mark.parametrize("data", [b"", b"1234", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0", head({})[:9]])
def test_a_record_without_sizes(run: CheckpointStore, data: bytes) -> None:
    record(run, data)
    with pytest.raises(CorruptCheckpoint, match="is not the record of an epoch"):
        look(run)


def changed(**fields: Any) -> bytes:
    """A manifest with other JSON in some fields."""
    return json.dumps({**json.loads(manifest_of(0).to_bytes()), **fields}).encode()


TEXTS: Any = json.loads(manifest_of(0).to_bytes())["workload"]["texts"]
MANIFESTS = [
    *(b"", b"\xff", b"7", b"[]", b"{}", b"[" * 100_000),
    *(changed(outbox=outbox) for outbox in (7, [7], None, "x", [None], {"x": 1})),
    *(changed(epoch=epoch) for epoch in ("0", None, True, 0.5)),
    *(changed(position=position) for position in (None, [], "x")),
    *(changed(watermark="x"), changed(newest=[]), changed(clocks={"a": "b"}), changed(clocks=[])),
    *(changed(job=7), changed(source=None), changed(sink=[]), changed(folders={"q": 7})),
    *(changed(since={"q": "x"}), changed(given={"q": 7}), changed(settings=[])),
    *(changed(shards="1"), changed(outbox_bytes=None), changed(publishes=1), changed(changed="")),
    *(changed(counts={}), changed(counts=[]), changed(reading={}), changed(reading=None)),
    *(changed(units=7), changed(units=[7]), changed(units=[{"attributes": [], "shard": 0}])),
    *(
        changed(units=[{"attributes": [], "shard": 0, "snapshot": segment, "log": []}])
        for segment in (7, [7, 0, 0, 0, None], ["state/x"], ["state/x", "a", 0, 0, None])
    ),
    *(changed(workload=workload) for workload in (7, {}, {"texts": [], "queries": [["q", 0]]})),
    changed(workload={"texts": [["QUERY (", "f"]], "queries": [["q", 0]]}),
    changed(workload={"texts": TEXTS, "queries": [["none", 0]]}),
    changed(more=1),
]


@pytest.mark.parametrize("data", MANIFESTS, ids=range(len(MANIFESTS)))
def test_a_manifest(run: CheckpointStore, data: bytes) -> None:
    with_manifest(run, data)
    with pytest.raises(CorruptCheckpoint, match=r"is not a manifest|not a file of a checkpoint"):
        look(run)


@pytest.mark.parametrize("data", [b"", b"xxxxx", b"\xff" * 64])
def test_results(run: CheckpointStore, data: bytes) -> None:
    manifest = manifest_of(0, outbox=(run.record_name(0),)).to_bytes()
    record(run, head({"manifest": len(manifest), "results": {"q": len(data)}}), manifest, data)
    with pytest.raises(CorruptCheckpoint, match="are not results"):
        results(run)


HEADERS = [b"no json", b"\xff", b"7", b"[]", b"{}", b'{"format": 7}', b'{"format": "7"}']


@pytest.mark.parametrize("text", HEADERS)
def test_a_header(run: CheckpointStore, text: bytes) -> None:
    header = text.ljust(HEADER - 64 - 2) + b"\n"
    for copy in "ab":
        run.store.write(f"{copy}/{run.record_name(0)}", _digest(header, b"x"), header, b"x")
    with pytest.raises(CorruptCheckpoint, match=r"has no header|another version of Hamlet"):
        look(run)


@pytest.mark.parametrize("part", ["snapshot", "log"])
@pytest.mark.parametrize("data", [b"", b"xxxxx", pa.py_buffer(b"ARROW1\0\0" * 9)])
def test_the_state_of_a_shard(tmp_path: Path, part: str, data: bytes) -> None:
    files = CheckpointFiles(BlobStore(str(tmp_path)), "000000001-" + "a" * 12)
    writer = SegmentWriter("state/1.state", 0)
    segment = writer.add(pa.py_buffer(data), None)
    writer.write(files)
    saved = SavedUnit(segment) if part == "snapshot" else SavedUnit(None, (segment,))
    owner = Aggregation(Settings(), InputFormat(columns=COLUMNS), WORKLOAD, range(1), files)
    with pytest.raises(CorruptCheckpoint, match=r"state/1\.state is not the state of a shard"):
        owner.restore({((), 0): saved}, None)


def test_it_is_a_failure_of_the_environment_with_a_way_on(run: CheckpointStore) -> None:
    with_manifest(run, b"{}")
    with pytest.raises(EnvironmentFailure) as error:
        look(run)
    assert "docs/checkpoints.md" in str(error.value.hint)
