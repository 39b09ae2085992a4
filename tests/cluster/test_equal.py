"""A job on Ray and Spark gives what `--engine local` gives: the same rows in the same order, the
same dead letters, the same counts."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from cluster.jobs import JobInput, assert_same, assert_same_beside, locally, on_cluster, to_the_end
from cluster.streams import FORMATS, RIDES, pieces, rides, shuffled, write_csv, write_parquet
from runtime.errors import InputError
from runtime.language.parser import parse
from runtime.pipeline.settings import Settings
from runtime.types.attribute_kinds import AttributeKind, kind_of
from spark_ingest.sources.segments import SegmentSource
from spark_ingest.sources.stream_inputs import GeneratedFeed

ACTORS = (1, 2, 4)
KEPT = parse("QUERY kept RETURN COUNT(*) AS n PATTERN SEQ(Request, Dropoff) WITHIN 20 seconds")


@pytest.fixture
def equal(spark, actor_pool, tmp_path):
    """Runs both, compares, and gives what came of it."""

    def compare(asked: JobInput, actors: int = 2):
        wanted = locally(asked)
        found = on_cluster(spark, actor_pool(actors), asked, tmp_path / "checkpoint")
        assert_same(found, wanted)
        return found

    return compare


def has_rows(found, *names: str) -> bool:
    return all(found.tables[name].num_rows for name in names or found.tables)


# ---- files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("actors", ACTORS)
def test_a_file_of_each_format(equal, tmp_path: Path, suffix: str, actors: int):
    path = tmp_path / f"rides.{suffix}"
    FORMATS[suffix](shuffled(rides(3_000, seed=1), seed=2, reach=40), path)
    found = equal(JobInput(RIDES, path), actors)
    assert has_rows(found)
    assert found.other_types == {"Idle"}
    assert found.null_keys["driver"] > 100


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv.gz"])
def test_files_that_follow_on_each_other(equal, tmp_path: Path, suffix: str):
    folder = tmp_path / "rides"
    folder.mkdir()
    for n, piece in enumerate(pieces(rides(3_000, seed=3), 6)):
        FORMATS[suffix](piece, folder / f"{n}.{suffix}")
    assert has_rows(equal(JobInput(RIDES, folder)))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("actors", ACTORS)
def test_files_out_of_order_among_each_other(equal, tmp_path: Path, suffix: str, actors: int):
    folder = tmp_path / "rides"
    folder.mkdir()
    table = rides(2_000, seed=4)
    early, late = pieces(table, 2)
    for n, piece in enumerate([late, *pieces(shuffled(early, seed=5), 3)]):
        FORMATS[suffix](piece, folder / f"{n}.{suffix}")
    assert has_rows(equal(JobInput(RIDES, folder), actors))


def test_several_epochs_of_a_bounded_input(equal, tmp_path: Path, monkeypatch):
    """Footers tell how far the rest of the input is, so windows close on the way."""
    monkeypatch.setattr("hamlet.job.epoch_pacing.LEAST_BYTES", 1)
    monkeypatch.setattr("hamlet.job.epoch_pacing.MOST_BYTES", 1)
    folder = tmp_path / "rides"
    folder.mkdir()
    for n, piece in enumerate(pieces(rides(2_000, seed=6), 5)):
        write_parquet(shuffled(piece, seed=n), folder / f"{n}.parquet")
    found = equal(JobInput(RIDES, folder))
    assert has_rows(found)
    assert found.epochs == 6  # a file each, and the end


def test_formats_side_by_side(equal, tmp_path: Path):
    folder = tmp_path / "rides"
    (folder / "deeper").mkdir(parents=True)
    (folder / "readme.txt").write_text("no data")
    (folder / "_hidden.csv").write_text("no data")
    written = zip(pieces(rides(2_000, seed=7), 5), FORMATS.items(), strict=True)
    for n, (piece, (suffix, write)) in enumerate(written):
        write(piece, folder / ("deeper" if n % 2 else "") / f"{n}.{suffix}")
    found = equal(JobInput(RIDES, folder))
    assert has_rows(found)
    assert found.skipped == ["readme.txt"]


@pytest.mark.parametrize("name", ["with space.csv", "brackets [0-9] {a,b}.csv", "a%20b#c?.csv"])
def test_odd_names(equal, tmp_path: Path, name: str):
    write_csv(rides(500, seed=8), tmp_path / name)
    assert has_rows(equal(JobInput(RIDES, tmp_path / name)), "by_driver")


def test_pieces_of_one_file(equal, tmp_path: Path, monkeypatch):
    """Spark cuts a file into pieces; rows are numbered as if it did not."""
    monkeypatch.setattr("spark_ingest.sources.file_ranges.LEAST_SPLIT", 20_000)
    lines = [f'{{"time": {n}, "type": "Request", "driver": "d"}}' for n in range(4_000)]
    for n in (7, 1_500, 1_501, 3_999):
        lines[n] = "{broken"
    lines.insert(100, "")
    path = tmp_path / "rides.jsonl"
    path.write_text("\n".join(lines))
    asked = JobInput(
        parse("RETURN driver, COUNT(*) PATTERN Request GROUP-BY driver WITHIN 1 h"), path
    )
    found = equal(asked)
    assert found.dead.num_rows == 4
    assert has_rows(found)


def test_a_generated_stream(spark, actor_pool, tmp_path: Path):
    """Several segments, of which each says how far the stream is."""
    spec = "ridesharing?events=150000&seed=5&groups=50"
    feed = GeneratedFeed(spec)
    queries = parse("""
        QUERY rides RETURN driver, COUNT(*) AS n, AVG(T.speed) AS a
        PATTERN SEQ(Request R, Travel T+) GROUP-BY driver WITHIN 30 seconds
    """)
    asked = JobInput(queries, tmp_path / "segments")
    source = SegmentSource(spark, feed, asked.path, asked.needs, bounded=True, schema=feed.schema)
    found = to_the_end(spark, actor_pool(2), asked, source, tmp_path / "checkpoint")
    assert_same(found, locally(asked, f"generate:{spec}"))
    assert has_rows(found)
    assert not list(asked.path.iterdir())  # what is committed is not kept


# ---- rows and files that cannot be used ----------------------------------------------------

BAD = {
    "csv": "time,type,driver,zone,speed\n"
    "1,Request,a,1,\n2,Travel,a,1,3.5\nx,Travel,a,1,3.5\n3,,a,1,1\n,Travel,a,1,1\n"
    "4,Travel,a,1,fast\n5,Travel,a\n6,Travel,a,1,inf\n7,Travel,a,1,9\n",
    "jsonl": '{"time": 1, "type": "Request", "driver": "a", "zone": 1, "speed": null, "more": 1}\n'
    '{"time": 2, "type": "Travel", "driver": "a", "zone": 1, "speed": 3.5}\n'
    "{not json\n[1, 2]\n\n"
    '{"time": null, "type": "Travel"}\n'
    '{"time": 3, "type": null, "other": {"a": [1]}}\n'
    '{"time": 4, "type": "Travel", "driver": "a", "zone": 1, "speed": "fast"}\n'
    '{"time": 5, "type": "Travel", "driver": "a", "zone": 1, "speed": 9}\n',
}


@pytest.mark.parametrize("suffix", BAD)
def test_bad_rows_of_text(equal, tmp_path: Path, suffix: str):
    path = tmp_path / f"bad.{suffix}"
    path.write_text(BAD[suffix])
    found = equal(JobInput(RIDES, path))
    assert found.dead.num_rows > 3
    assert found.tables["by_driver"].num_rows


@pytest.mark.parametrize("actors", ACTORS)
def test_bad_rows_of_parquet(equal, tmp_path: Path, actors: int):
    table = rides(1_000, seed=9)
    times = table["time"].to_pylist()
    types, speeds = table["type"].to_pylist(), table["speed"].to_pylist()
    for row in (3, 400, 999):
        times[row] = None
    types[5], types[900] = None, None
    speeds[6], speeds[901] = float("inf"), float("-inf")
    table = table.set_column(0, "time", pa.array(times, pa.int64()))
    table = table.set_column(1, "type", pa.array(types))
    table = table.set_column(4, "speed", pa.array(speeds))
    table = table.append_column("unused", pa.array(range(1_000)))
    write_parquet(table, tmp_path / "bad.parquet")
    assert equal(JobInput(RIDES, tmp_path / "bad.parquet"), actors).dead.num_rows == 7


UNREADABLE = {
    "no parquet": ("1.parquet", b"PAR1 but no more"),
    "no gzip": ("1.csv.gz", b"time,type,driver,zone,speed\n1,Request,a,1,2\n"),
    "nothing": ("1.csv", b""),
    "no json": ("1.jsonl", b"[1, 2]\n"),
    "two columns of one name": (
        "1.csv",
        b"time,type,driver,zone,speed,speed\n1,Request,a,1,2,3\n",
    ),
    "no time": ("1.csv", b"type,driver,zone,speed\nRequest,a,1,2\n"),
    "no column that is used": ("1.csv", b"time,type,driver,zone\n1,Request,a,1\n"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_file_that_cannot_be_read(equal, tmp_path: Path, what: str):
    name, content = UNREADABLE[what]
    folder = tmp_path / "rides"
    folder.mkdir()
    first, second = pieces(rides(600, seed=10), 2)
    write_csv(first, folder / "0.csv")
    (folder / name).write_bytes(content)
    write_parquet(second, folder / "2.parquet")
    assert has_rows(equal(JobInput(RIDES, folder)), "by_driver", "by_zone")


def test_parquet_with_two_columns_of_one_name(equal, tmp_path: Path):
    folder = tmp_path / "rides"
    folder.mkdir()
    table = rides(300, seed=11)
    write_parquet(table, folder / "0.parquet")
    write_parquet(table.append_column("speed", table["speed"]), folder / "1.parquet")
    found = equal(JobInput(RIDES, folder))
    assert found.dead.num_rows == 1


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """A packed file, of which the first blocks can be read."""
    path = tmp_path / "rides" / "1.csv.gz"
    path.parent.mkdir()
    FORMATS["csv.gz"](rides(250_000, seed=12, step=0.01), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 9 // 10])
    return path


def test_packed_text_that_is_cut(equal, cut: Path):
    write_csv(rides(1_000, seed=13, start=3_000), cut.parent / "2.csv")
    found = equal(JobInput(KEPT, cut.parent))
    (letter,) = found.dead.to_pylist()
    assert letter["source"] == str(cut)
    assert letter["reason"].startswith("damaged: ")
    assert found.events == 1_000  # of the others


def test_nothing_but_text_that_is_cut(spark, actor_pool, tmp_path: Path, cut: Path):
    asked = JobInput(KEPT, cut)
    with pytest.raises(InputError, match=r"cannot read .*1.csv.gz: ") as wanted:
        locally(asked)
    with pytest.raises(InputError, match=r"cannot read .*1.csv.gz: ") as found:
        on_cluster(spark, actor_pool(2), asked, tmp_path / "checkpoint")
    assert wanted.value.message in str(found.value)


@pytest.fixture
def spoilt(tmp_path: Path) -> Path:
    """A file of which the footer is whole, but not the columns."""
    path = tmp_path / "rides" / "1.parquet"
    path.parent.mkdir()
    write_parquet(rides(2_000, seed=30), path)
    data = bytearray(path.read_bytes())
    data[2_000:4_000] = bytes(2_000)
    path.write_bytes(data)
    return path


def test_parquet_that_is_damaged_inside(spark, actor_pool, tmp_path: Path, spoilt: Path):
    """In process, the rows before the damage are used; Spark does not tell which these are."""
    folder = spoilt.parent
    write_parquet(rides(300, seed=31), folder / "0.parquet")
    write_parquet(rides(300, seed=32), folder / "2.parquet")
    found = on_cluster(spark, actor_pool(2), JobInput(RIDES, folder), tmp_path / "checkpoint")
    (letter,) = found.dead.to_pylist()
    assert (letter["source"], letter["row"]) == (str(spoilt), None)
    assert letter["reason"].startswith("damaged: ")
    spoilt.unlink()
    wanted = locally(JobInput(RIDES, folder))
    assert found.events == 600
    assert found.tables == wanted.tables


def test_nothing_but_parquet_that_is_damaged(spark, actor_pool, tmp_path: Path, spoilt: Path):
    asked = JobInput(RIDES, spoilt)
    with pytest.raises(InputError, match=r"cannot read .*1.parquet: "):
        on_cluster(spark, actor_pool(2), asked, tmp_path / "checkpoint")


def test_text_whose_name_does_not_tell_that_it_is_packed(equal, tmp_path: Path):
    folder = tmp_path / "rides"
    folder.mkdir()
    first, second, third = pieces(rides(900, seed=14), 3)
    FORMATS["csv.gz"](first, folder / "0.csv")
    FORMATS["jsonl"](second, folder / "1.jsonl.gz")
    FORMATS["jsonl.gz"](third, folder / "2.jsonl.gz")
    found = equal(JobInput(RIDES, folder))
    assert found.events == third.num_rows
    assert [each["reason"].partition(" ")[2] for each in found.letters()] == [
        "is gzip",
        "is not gzip, as its name says",
    ]


# ---- what queries mean ---------------------------------------------------------------------


@pytest.mark.parametrize("actors", ACTORS)
def test_exact_numbers(equal, tmp_path: Path, actors: int):
    write_parquet(rides(1_200, seed=13), tmp_path / "rides.parquet")
    asked = JobInput(RIDES, tmp_path / "rides.parquet", Settings(numeric="exact"))
    found = equal(asked, actors)
    assert has_rows(found)
    assert found.tables["by_driver"].schema.field("n").type == pa.string()


@pytest.mark.parametrize("actors", ACTORS)
@pytest.mark.parametrize("numeric", ["float", "exact"])
def test_ties_by_arrival(equal, tmp_path: Path, numeric: str, actors: int):
    """Many events have one time, over several files: the order of arrival decides."""
    folder = tmp_path / "rides"
    folder.mkdir()
    for n, piece in enumerate(pieces(rides(1_200, seed=14, step=0.1), 5)):
        write_parquet(shuffled(piece, seed=n, reach=30), folder / f"{n}.parquet")
    asked = JobInput(RIDES, folder, Settings(numeric, "arrival"))
    by_arrival = equal(asked, actors)
    strict = locally(replace(asked, settings=Settings(numeric, "strict")))
    assert not by_arrival.tables["kept"].equals(strict.tables["kept"])


@pytest.mark.parametrize("actors", ACTORS)
def test_windows_of_events_and_contiguity(equal, tmp_path: Path, actors: int):
    """Events of types that no pattern names are counted by these windows, and break contiguity."""
    write_parquet(rides(3_000, seed=15), tmp_path / "rides.parquet")
    queries = parse("""
        QUERY counted RETURN driver, COUNT(*) AS n, SUM(T.speed) AS s PATTERN SEQ(Request, Travel T+)
        GROUP-BY driver WITHIN 10 events SLIDE 5 events
        QUERY all_counted RETURN COUNT(*) AS n PATTERN Travel+ WITHIN 25 events
        QUERY contiguous RETURN driver, COUNT(*) AS n PATTERN SEQ(Travel+, Dropoff)
        SEMANTICS contiguous GROUP-BY driver WITHIN 2 minutes
        QUERY next RETURN zone, COUNT(*) AS n PATTERN SEQ(Request, Travel+)
        SEMANTICS skip-till-next-match WHERE [driver] GROUP-BY zone WITHIN 2 minutes
    """)  # noqa: E501
    assert has_rows(equal(JobInput(queries, tmp_path / "rides.parquet"), actors))


@pytest.mark.parametrize("actors", ACTORS)
def test_one_group_is_spread_over_shards(equal, tmp_path: Path, actors: int):
    """A row is merged from the partitions of 500 drivers, wherever these lie."""
    rows = 4_000
    table = rides(rows, seed=16)
    drivers = pa.array([n * 7919 % 500 for n in range(rows)])
    zones = pa.array(["only"] * rows)
    table = table.set_column(2, "driver", drivers).set_column(3, "zone", zones)
    write_parquet(table, tmp_path / "rides.parquet")
    queries = parse("""
        QUERY spread
        RETURN zone, COUNT(*) AS n, SUM(T.speed) AS s, AVG(T.speed) AS a, MIN(T.speed) AS low, MAX(T.speed) AS high
        PATTERN SEQ(Request R, Travel T+) WHERE [driver] GROUP-BY zone WITHIN 1 hour
    """)  # noqa: E501
    found = equal(JobInput(queries, tmp_path / "rides.parquet"), actors)
    assert found.tables["spread"].num_rows == 1


@pytest.mark.parametrize("actors", ACTORS)
def test_counts_beyond_doubles(spark, actor_pool, tmp_path: Path, actors: int):
    """Beyond 2^53, sums over partitions are rounded; where they are split may show in the last
    bits."""
    write_parquet(rides(8_000, seed=17), tmp_path / "rides.parquet")
    queries = parse("""
        QUERY many RETURN zone, COUNT(*) AS n, SUM(T.speed) AS s, AVG(T.speed) AS a
        PATTERN Travel T+ WHERE [driver] GROUP-BY zone WITHIN 2000 seconds
        QUERY huge RETURN COUNT(*) AS n PATTERN Travel+ WITHIN 1 hour
    """)
    asked = JobInput(queries, tmp_path / "rides.parquet")
    wanted = locally(asked)
    found = on_cluster(spark, actor_pool(actors), asked, tmp_path / "checkpoint")
    assert_same_beside(found, wanted)
    for name, table in wanted.tables.items():
        assert found.tables[name].schema == table.schema
        for column in table.schema.names:
            values = found.tables[name][column].to_pylist()
            assert values == [near(each) for each in table[column].to_pylist()]
    assert max(wanted.tables["many"]["n"].to_pylist()) > 2**53
    assert wanted.tables["huge"].num_rows
    assert "n_log2" in wanted.tables["huge"].schema.names


def near(value: object) -> object:
    return pytest.approx(value, rel=1e-9) if isinstance(value, float) else value


# ---- times and kinds of columns ------------------------------------------------------------

TIMES = {
    "ns": lambda t: t.cast(pa.timestamp("s")).cast(pa.timestamp("ns")),
    "us in Tokyo": lambda t: t.cast(pa.timestamp("s", "Asia/Tokyo")).cast(
        pa.timestamp("us", "Asia/Tokyo")
    ),
    "ms": lambda t: t.cast(pa.timestamp("s")).cast(pa.timestamp("ms")),
    "dates": lambda t: t.cast(pa.int32()).cast(pa.date32()),
    "int32": lambda t: t.cast(pa.int32()),
    "uint64": lambda t: t.cast(pa.uint64()),
    "text": lambda t: t.cast(pa.timestamp("s")).cast(pa.string()),
}


@pytest.mark.parametrize("kind", TIMES)
def test_times(equal, tmp_path: Path, kind: str):
    table = rides(600, seed=18, start=100)
    table = table.set_column(0, "time", TIMES[kind](table["time"]))
    write_parquet(table, tmp_path / "rides.parquet")
    text = "RETURN driver, COUNT(*) AS n PATTERN SEQ(Request, Travel+) GROUP-BY driver WITHIN "
    queries = parse(text + ("5 days" if kind == "dates" else "1 minute"))
    assert has_rows(equal(JobInput(queries, tmp_path / "rides.parquet")))


def test_times_finer_than_microseconds_are_cut(equal, tmp_path: Path):
    times = pa.array([1_000, 2_001, 3_000_000_999], pa.timestamp("ns"))
    table = pa.table({"time": times, "type": ["Request"] * 3})
    write_parquet(table, tmp_path / "fine.parquet")
    queries = parse("RETURN COUNT(*) AS n PATTERN Request+ WITHIN 1 minute")
    assert equal(JobInput(queries, tmp_path / "fine.parquet")).truncated == 2


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_times_in_text(equal, tmp_path: Path, suffix: str):
    table = rides(600, seed=19)
    table = table.set_column(0, "time", table["time"].cast(pa.timestamp("ms", "UTC")))
    FORMATS[suffix](table, tmp_path / f"rides.{suffix}")
    assert has_rows(equal(JobInput(RIDES, tmp_path / f"rides.{suffix}")), "by_driver")


def test_other_columns_and_unit(equal, tmp_path: Path):
    table = rides(600, seed=20).rename_columns(["at", "what", "driver", "zone", "speed"])
    write_parquet(table, tmp_path / "rides.parquet")
    asked = JobInput(RIDES, tmp_path / "rides.parquet", Settings(), "at", "what", "ms")
    assert has_rows(equal(asked), "by_driver")


KEYS = {
    "int8": pa.int8(),
    "int64": pa.int64(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal": pa.decimal128(18, 2),
    "text": pa.string(),
    "large text": pa.large_string(),
    "words": pa.dictionary(pa.int32(), pa.string()),
    "bytes": pa.binary(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "moment": pa.timestamp("us"),
    "moment in ns": pa.timestamp("ns"),
    "duration": pa.duration("ms"),
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_every_kind(equal, tmp_path: Path, kind: str):
    table = rides(600, seed=21)
    numbers = table["zone"].combine_chunks()
    values = _as(numbers, KEYS[kind])
    write_parquet(table.set_column(3, "zone", values), tmp_path / "rides.parquet")
    queries = parse("""
        QUERY grouped RETURN zone, COUNT(*) AS n PATTERN SEQ(Request, Travel+)
        GROUP-BY zone WITHIN 30 seconds
        QUERY largest RETURN MAX(T.zone) AS high, COUNT(*) AS n PATTERN Travel T WHERE [driver]
        WITHIN 30 seconds
    """)
    if kind_of(KEYS[kind]) is not AttributeKind.NUMBER:
        queries = queries.without_query("largest")
    assert has_rows(equal(JobInput(queries, tmp_path / "rides.parquet")))


def _as(numbers: pa.Array, wanted: pa.DataType) -> pa.Array:
    if wanted == pa.bool_():
        return pa.compute.equal(numbers, 1)
    if pa.types.is_date32(wanted):
        return numbers.cast(pa.int32()).cast(wanted)
    if pa.types.is_dictionary(wanted):
        return numbers.cast(pa.string()).dictionary_encode()
    if pa.types.is_binary(wanted):
        return numbers.cast(pa.string()).cast(wanted)
    if pa.types.is_decimal(wanted):  # from 9987887020180089.00 on: some become one double
        digits = pa.compute.add(numbers.cast(pa.int64()), 998788702018008900)
        return digits.cast(pa.decimal128(19, 0)).cast(pa.decimal128(18, 0)).view(wanted)
    return numbers.cast(wanted)


def test_columns_that_no_query_uses_may_be_anything(equal, tmp_path: Path):
    table = rides(300, seed=22)
    rows = table.num_rows
    others = {
        "time of day": pa.array([1] * rows, pa.time64("us")),
        "TIME": pa.array([None] * rows, pa.string()),
        "Speed": pa.array([{"a": [1]}] * rows),
        "nothing": pa.nulls(rows),
        "dotted.name": pa.array([1] * rows),
    }
    for name, values in others.items():
        table = table.append_column(name, values)
    write_parquet(table, tmp_path / "rides.parquet")
    assert has_rows(equal(JobInput(RIDES, tmp_path / "rides.parquet")), "by_driver")


def test_odd_names_of_columns(equal, tmp_path: Path):
    names = ["the.time", "`type`", "driver", "zone", "speed"]
    write_parquet(rides(300, seed=23).rename_columns(names), tmp_path / "rides.parquet")
    asked = JobInput(RIDES, tmp_path / "rides.parquet", Settings(), *names[:2])
    assert has_rows(equal(asked), "by_driver")


def test_times_before_the_calendar_was_changed(equal, tmp_path: Path):
    table = rides(300, seed=24, start=-13_000_000_000)
    times = table["time"].cast(pa.timestamp("s")).cast(pa.timestamp("us"))
    write_parquet(table.set_column(0, "time", times), tmp_path / "rides.parquet")
    assert has_rows(equal(JobInput(RIDES, tmp_path / "rides.parquet")), "by_driver")


@pytest.mark.parametrize("missing", [("time",), ("type",), ("time", "type"), ("speed",)])
def test_a_file_without_some_columns(equal, tmp_path: Path, missing: tuple[str, ...]):
    folder = tmp_path / "rides"
    folder.mkdir()
    table = rides(300, seed=25)
    write_parquet(table, folder / "0.parquet")
    write_parquet(table.drop_columns(list(missing)), folder / "1.parquet")
    assert has_rows(equal(JobInput(RIDES, folder)), "by_driver")


def test_a_file_with_none_of_the_columns(equal, tmp_path: Path):
    folder = tmp_path / "rides"
    folder.mkdir()
    write_parquet(rides(300, seed=26), folder / "0.parquet")
    write_parquet(pa.table({"other": [1, 2, 3]}), folder / "1.parquet")
    assert equal(JobInput(RIDES, folder)).dead.num_rows == 3


def test_files_with_other_types_of_numbers(equal, tmp_path: Path):
    folder = tmp_path / "rides"
    folder.mkdir()
    kinds = zip(pieces(rides(900, seed=27), 3), (pa.int16(), pa.int64(), pa.float64()), strict=True)
    for n, (piece, kind) in enumerate(kinds):
        zones = piece["zone"].cast(kind)
        write_parquet(piece.set_column(3, "zone", zones), folder / f"{n}.parquet")
    assert has_rows(equal(JobInput(RIDES, folder)), "by_zone")


def test_a_file_that_spark_cannot_open(spark, actor_pool, tmp_path: Path):
    folder = tmp_path / "rides"
    folder.mkdir()
    first, second = pieces(rides(300, seed=29), 2)
    write_parquet(first, folder / "0.parquet")
    halves = pa.array([1.0] * second.num_rows, pa.float16())
    write_parquet(second.append_column("half", halves), folder / "1.parquet")
    found = on_cluster(spark, actor_pool(2), JobInput(RIDES, folder), tmp_path / "checkpoint")
    assert found.events == first.num_rows
    (letter,) = found.dead.to_pylist()
    assert letter["reason"] == "Spark cannot read float16 columns such as `half`"


def test_what_spark_cannot_read_is_said(spark, actor_pool, tmp_path: Path):
    table = rides(10, seed=28)
    clock = pa.array(range(10), pa.time64("us"))
    write_parquet(table.set_column(3, "zone", clock), tmp_path / "rides.parquet")
    queries = parse("RETURN zone, COUNT(*) PATTERN Travel GROUP-BY zone WITHIN 30 seconds")
    asked = JobInput(queries, tmp_path / "rides.parquet")
    with pytest.raises(InputError, match=r"does not read column `zone` of .*, which is time64"):
        on_cluster(spark, actor_pool(2), asked, tmp_path / "checkpoint")
