"""Every format, whole and damaged, from a file, a folder or standard input."""

import gzip
import io
import json
import math
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import InputError
from runtime.io import csv_split, json_lines
from runtime.io.json_lines import JsonReader, _Lines
from runtime.io.read import open_input
from runtime.io.reader import ReadRequest
from runtime.pipeline.normalize import Preparer
from runtime.pipeline.reorder_buffer import ordered
from runtime.pipeline.spool import Spool
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.columns import TIME
from runtime.types.schema import Schema

NUMBER, TEXT, BOOL, ANY = (
    AttributeKind.NUMBER,
    AttributeKind.TEXT,
    AttributeKind.BOOL,
    AttributeKind.ANY,
)

TABLE = pa.table({"time": [1, 2, 3], "type": ["A", "B", "A"], "v": [1.5, None, 2.5]})
CSV = b"time,type,v\n1,A,1.5\n2,B,\n3,A,2.5\n"
JSON = b"".join(json.dumps(row).encode() + b"\n" for row in TABLE.to_pylist())


@pytest.fixture
def put(tmp_path):
    """Writes a file; folders are made."""

    def put(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    return put


def parquet(table=TABLE, **options):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def ipc(kind, table=TABLE, rows=100):
    buffer = io.BytesIO()
    with kind(buffer, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=rows):
            writer.write_batch(batch)
    return buffer.getvalue()


FILES = {
    "a.parquet": parquet(),
    "a.csv": CSV,
    "a.jsonl": JSON,
    "a.json": JSON,
    "a.ndjson.gz": gzip.compress(JSON, mtime=0),
    "a.csv.gz": gzip.compress(CSV, mtime=0),
    "a.arrow": ipc(pa.ipc.new_file),
    "a.ipc": ipc(pa.ipc.new_stream),
    "a.feather": ipc(pa.ipc.new_file),
}


def read(path, **options):
    """All rows, and the dead ones as (source's name, row, reason, event)."""
    rows, dead = [], []
    with open_input(path, **options) as source:
        for block in source:
            assert len(block.rows) == block.batch.num_rows
            rows += block.batch.to_pylist()
            dead += [
                (os.path.basename(d["source"]), d["row"], d["reason"], d["event"])
                for d in block.dead.to_pylist()
            ]
        assert source.rows == len(rows) + sum(d[1] is not None for d in dead)
        assert source.dead.total() == len(dead)
    return rows, dead


def times(rows):
    return [int(row["time"]) for row in rows]


def reasons(dead):
    return [(row, reason) for _, row, reason, _ in dead]


# --- every format -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_every_format_by_its_name(put, name):
    rows, dead = read(put(name, FILES[name]), uses={"v": NUMBER})
    assert times(rows) == [1, 2, 3]
    assert [row["v"] for row in rows] == [1.5, None, 2.5]
    assert dead == []


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith(".gz")])
def test_every_format_by_its_content(put, name):
    rows, _ = read(put("data", FILES[name]), uses={"v": NUMBER})
    assert times(rows) == [1, 2, 3]


@pytest.mark.parametrize("name", ["data", "a.csv", "a.gz"])
def test_the_name_of_a_file_says_whether_it_is_gzip(put, name):
    content = CSV if name.endswith(".gz") else gzip.compress(CSV, mtime=0)
    with pytest.raises(InputError, match="gzip") as caught:
        read(put(name, content), uses={"v": NUMBER})
    assert "names that end in .gz" in caught.value.hint


@pytest.mark.parametrize("name", FILES)
def test_every_format_from_standard_input(name):
    rows, dead = read("-", stdin=io.BytesIO(FILES[name]), uses={"v": NUMBER})
    assert times(rows) == [1, 2, 3]
    assert dead == []


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_real_slow_pipe(name, root):
    code = (
        "from runtime.io.read import open_input\n"
        "with open_input('-') as s: print(sum(b.batch.num_rows for b in s))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        cwd=root,
    )
    for i in range(0, len(FILES[name]), 7):
        process.stdin.write(FILES[name][i : i + 7])
    out, _ = process.communicate()
    assert out.strip() == b"3"


@pytest.mark.parametrize("name", ["a.csv"])
def test_an_input_that_is_left_in_the_middle_ends_quietly(put, root, name):
    """Nothing may still be reading while Python shuts down."""
    code = (
        "from runtime.io.read import open_input\n"
        f"for _ in range(5): inputs = open_input({str(put(name, FILES[name]))!r})\n"
        "blocks = iter(inputs); next(blocks)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", FILES)
def test_only_what_is_asked_for_is_given_but_all_is_known(put, name):
    with open_input(put(name, FILES[name]), uses={}) as source:
        assert set(source.schema.names) == {"time", "type", "v"}
        assert all(set(block.batch.schema.names) == {"time", "type"} for block in source)


@pytest.mark.parametrize("name", FILES)
def test_the_whole_chain(put, name):
    preparer = Preparer(uses={"v": NUMBER})
    with open_input(put(name, FILES[name]), uses=preparer.uses) as source, Spool() as spool:
        preparer.bind(source.schema)
        for block in source:
            made = preparer.prepare(block.batch, block.source, block.rows, block.raw)
            spool.add(made.events)
        out = [row for batch in ordered(spool, spool.disorder) for row in batch.to_pylist()]
    assert [row[TIME] for row in out] == [1_000_000, 2_000_000, 3_000_000]
    assert [row["v"] for row in out] == [1.5, None, 2.5]


def test_dead_letters_of_a_parquet_file_hold_the_columns_nobody_asked_for(put):
    table = pa.table({"time": [1, None, 3, None], "type": ["A"] * 4, "other": list("wxyz")})
    path = put("a.parquet", parquet(table, row_group_size=2))
    preparer = Preparer()
    events = []
    with open_input(path, uses={}) as source:
        for block in source:
            made = preparer.prepare(block.batch, block.source, block.rows, block.raw)
            events += made.dead.to_pylist()
    assert [e["row"] for e in events] == [1, 3]
    assert [json.loads(e["event"])["other"] for e in events] == ["x", "z"]


def test_rows_that_both_reader_and_preparer_refuse_keep_their_numbers(put):
    path = put("a.csv", b"time,type,v\n1,A,1\nshort\n,A,2\n4,A,x\n5,,3\n")
    preparer = Preparer(uses={"v": NUMBER})
    dead = []
    with open_input(path, uses=preparer.uses) as source:
        for block in source:
            made = preparer.prepare(block.batch, block.source, block.rows, block.raw)
            dead += block.dead.to_pylist() + made.dead.to_pylist()
    assert sorted(d["row"] for d in dead) == [1, 2, 3, 4]
    (null_type,) = (d for d in dead if d["row"] == 4)
    assert json.loads(null_type["event"]) == {"time": "5", "type": None, "v": "3"}


def test_a_missing_file_and_an_unknown_format_are_said(tmp_path, put):
    with pytest.raises(InputError, match=r"none\.csv.*No such file"):
        open_input(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"none: No such file"):
        open_input(tmp_path / "none")
    with pytest.raises(InputError, match="`xml`"):
        open_input(put("a.csv", CSV), format="xml")


def test_the_format_can_be_said(put):
    assert len(read(put("a.txt", JSON), format="jsonl")[0]) == 3
    assert len(read(put("b.dat", CSV), format="csv")[0]) == 3


# --- CSV --------------------------------------------------------------------------------------


def types(path, **options):
    with open_input(path, **options) as source:
        return {field.name: field.type for field in source.schema}


def test_types_are_inferred_from_the_first_values(put):
    path = put(
        "a.csv",
        b"time,type,i,d,b,t,z,day,code,s,n\n"
        b"1,A,1,1,true,2020-01-01T00:00:00,2020-01-01T00:00:00Z,2020-01-01,007,x,\n"
        b"2,2,-2,1.5,FALSE,2020-01-01 10:00,2020-01-01T00:00:00+01:00,2020-01-02,010,1,\n",
    )
    assert types(path) == {
        "time": pa.string(),  # the clock reads it
        "type": pa.string(),
        "i": pa.int64(),
        "d": pa.float64(),
        "b": pa.bool_(),
        "t": pa.timestamp("us"),
        "z": pa.timestamp("us", "UTC"),
        "day": pa.string(),
        "code": pa.string(),  # as 7 it would not be what it was
        "s": pa.string(),
        "n": pa.string(),
    }


def test_the_use_guides_the_type(put):
    path = put("a.csv", b"time,type,a,b,c,d\n1,A,1,007,1,1\n2,A,2,5,x,1.0\n")
    uses = {"a": TEXT, "b": NUMBER, "c": NUMBER, "d": NUMBER}
    assert list(types(path, uses=uses).values())[2:] == [
        pa.string(),
        pa.int64(),
        pa.int64(),  # all its numbers are whole
        pa.float64(),
    ]
    rows, dead = read(path, uses=uses)
    assert rows == [{"time": "1", "type": "A", "a": "1", "b": 7, "c": 1, "d": 1.0}]
    assert reasons(dead)[0][0] == 1
    assert "`c` is not a whole number" in dead[0][2]
    assert json.loads(dead[0][3])["c"] == "x"


def test_a_number_column_of_text_is_refused(put):
    path = put("a.csv", b"time,type,v\n1,A,x\n2,A,y\n")
    with pytest.raises(InputError, match=r"column `v` is text in .*a\.csv.*as a number"):
        open_input(path, uses={"v": NUMBER})
    with pytest.raises(InputError, match="as a boolean"):
        open_input(path, uses={"v": BOOL})


def test_a_later_value_of_another_type_is_dead_and_the_reason_tells_of_schema(put, monkeypatch):
    monkeypatch.setattr(csv_split, "BLOCK_BYTES", 1_000)
    path = put("a.csv", b"time,type,v\n" + b"1,A,5\n" * 500 + b"2,A,5.5\n3,A,6\n")
    rows, dead = read(path, uses={"v": NUMBER})
    assert len(rows) == 501
    assert dead[0][1] == 500
    assert "inferred" in dead[0][2]
    assert "--schema" in dead[0][2]


def test_declared_types_win(put):
    path = put("a.csv", b"time,type,v,w\n1,A,5,1\n2,A,x,2\n")
    declared = Schema({"v": pa.float64(), "w": pa.string()})
    rows, dead = read(path, declared=declared)
    assert rows == [{"time": "1", "type": "A", "v": 5.0, "w": "1"}]
    assert reasons(dead) == [(1, "`v` is not a number")]


def test_empty_fields_are_null_and_quoted_ones_are_empty(put):
    path = put("a.csv", b'time,type,s,v\n1,A,,\n2,A,"",7\n')
    rows, _ = read(path, uses={"s": TEXT, "v": NUMBER})
    assert [(r["s"], r["v"]) for r in rows] == [(None, None), ("", 7)]


def test_rows_with_a_wrong_number_of_fields_are_dead(put):
    path = put("a.csv", b"time,type\n1,A\n2\n\n3,A\n4,A,x\n")
    rows, dead = read(path)
    assert times(rows) == [1, 3]
    assert dead == [
        ("a.csv", 1, "fields: 1, not 2", '"2"'),
        ("a.csv", 3, "fields: 3, not 2", '"4,A,x"'),
    ]


def test_ordinals_hold_over_blocks(put, monkeypatch):
    monkeypatch.setattr(csv_split, "BLOCK_BYTES", 300)
    lines = [b"%d,A" % i if i % 10 else b"bad" for i in range(1_000)]
    path = put("a.csv", b"time,type\n" + b"\n".join(lines))
    with open_input(path) as source:
        blocks = list(source)
    assert len(blocks) > 10
    for block in blocks:
        assert block.rows.tolist() == [int(t) for t in block.batch.column("time").to_pylist()]
    dead = [row for block in blocks for row in block.dead["row"].to_pylist()]
    assert dead == list(range(0, 1_000, 10))


def test_bom_crlf_and_no_last_newline(put):
    path = put("a.csv", b"\xef\xbb\xbftime,type,v\r\n1,A,x\r\n2,B,y")
    assert read(path)[0] == [
        {"time": "1", "type": "A", "v": "x"},
        {"time": "2", "type": "B", "v": "y"},
    ]


def test_an_empty_last_field_is_null_also_without_a_newline(put):
    rows, _ = read(put("a.csv", b'time,type\n"a\r\r",'), multiline=True)
    assert rows == [{"time": "a\r\r", "type": None}]


def test_quotes_commas_and_newlines_inside_values(put, monkeypatch):
    monkeypatch.setattr(csv_split, "BLOCK_BYTES", 64)
    lines = [b'%d,A,"a, ""b""\nc"' % i for i in range(100)]
    path = put("a.csv", b'time,type,"odd\nname"\n' + b"\n".join(lines) + b"\n")
    rows, dead = read(path, multiline=True)
    assert [row["odd\nname"] for row in rows] == ['a, "b"\nc'] * 100
    assert dead == []


def test_text_of_any_script_over_block_ends(put, monkeypatch):
    monkeypatch.setattr(csv_split, "BLOCK_BYTES", 101)
    words = ["é", "日本語", "😀", "x"] * 100
    path = put("a.csv", ("time,type\n" + "".join(f"1,{w}\n" for w in words)).encode())
    rows, dead = read(path)
    assert [row["type"] for row in rows] == words
    assert dead == []


def test_rows_that_are_not_utf8_are_dead(put, monkeypatch):
    monkeypatch.setattr(csv_split, "BLOCK_BYTES", 50)
    content = b"time,type\n" + b"1,A\n" * 30 + b"2,\xff\xe9\n3,\xc3\xa9\n\xff\n4,B\n"
    rows, dead = read(put("a.csv", content))
    assert [row["type"] for row in rows] == ["A"] * 30 + ["é", "B"]
    assert reasons(dead) == [(30, "the row is not UTF-8"), (32, "the row is not UTF-8")]
    assert json.loads(max(dead)[3]) == "\\xff"
    assert json.loads(min(dead)[3]) == {"time": "2", "type": "\\xff\\xe9"}


@pytest.mark.parametrize("tail", [b'3,A,"abc', b'3,A,"abc\n4,A,x\n5,A,y\n', b'3,"'])
def test_a_quote_that_is_never_closed_kills_the_row_not_the_input(put, tail):
    rows, dead = read(put("a.csv", b"time,type,v\n1,A,x\n2,A,y\n" + tail), multiline=True)
    assert times(rows) == [1, 2]
    assert reasons(dead) == [(2, "a quote is not closed before the end")]
    assert json.loads(dead[0][3]) == tail.decode()


def test_a_quote_inside_a_word_is_a_character(put):
    rows, dead = read(put("a.csv", b'time,type,v\n1,A,5" disk\n2,A,y\n'))
    assert rows[0]["v"] == '5" disk'
    assert len(rows) == 2
    assert dead == []


def test_an_open_quote_in_a_large_file_is_said(put, monkeypatch):
    monkeypatch.setattr(csv_split, "BLOCK_BYTES", 1_000)
    monkeypatch.setattr(csv_split, "LONGEST_RECORD", 2_000)
    path = put("a.csv", b'time,type\n1,A\n2,"A\n' + b"3,A\n" * 1_000)
    with pytest.raises(InputError, match="has a row of more than") as caught:
        read(path, multiline=True)
    assert "quote" in caught.value.render()


def test_a_header_alone_is_no_rows_and_nothing_at_all_is_an_error(put):
    for content in (b"time,type,v", b"time,type,v\n", b"time,type,v\r\n\r\n"):
        path = put("a.csv", content)
        assert read(path, uses={"v": NUMBER}) == ([], [])
        assert types(path, uses={"v": NUMBER})["v"] == pa.float64()
    for content in (b"", b"\n\n", b"\xef\xbb\xbf"):
        with pytest.raises(InputError, match="empty"):
            open_input(put("a.csv", content))
    with pytest.raises(InputError, match="standard input is empty"):
        open_input("-", stdin=io.BytesIO(b""))


def test_duplicate_names_in_a_header_are_refused(put):
    with pytest.raises(InputError, match="more than one column `a`"):
        open_input(put("a.csv", b"a,b,a\n1,2,3\n"))


def test_a_file_in_another_encoding_is_said(put):
    with pytest.raises(InputError, match="not CSV in UTF-8"):
        open_input(put("a.csv", "time,type\n1,A\n".encode("utf-16")))


def test_types_are_inferred_from_a_whole_block(put):
    path = put("a.csv", b"time,type,v\n" + b"1,A,5\n" * 100_000 + b"2,A,5.5\n")
    assert types(path, uses={"v": NUMBER})["v"] == pa.float64()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_columns_without_a_value_in_the_first_rows_are_read_later(put, monkeypatch, name):
    monkeypatch.setattr(csv_split, "BLOCK_BYTES", 40)
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 40)
    if name == "a.csv":
        content = b"time,type,v,w\n" + b",,,\n" * 30 + b"5,A,1.5,x\n"
    else:
        empty = b'{"time":null,"type":null,"v":null,"w":null}\n'
        content = empty * 30 + b'{"time":5,"type":"A","v":1.5,"w":"x"}\n'
    rows, dead = read(put(name, content), uses={"v": NUMBER, "w": ANY})
    assert rows[-1] == {"time": "5", "type": "A", "v": 1.5, "w": "x"}
    assert len(rows) == 31
    assert dead == []


def test_numbers_as_people_write_them(put):
    values = [b"1", b" 2 ", b"+3", b"1e2", b".5", b"nan", b"inf", b"0x10", b"1_0", b"1,5"]
    lines = b"".join(b'1,A,"%s"\n' % v for v in values)
    rows, dead = read(put("a.csv", b"time,type,v\n" + lines), uses={"v": NUMBER})
    assert [str(r["v"]) for r in rows] == ["1.0", "2.0", "3.0", "100.0", "0.5", "nan", "inf"]
    assert [d[1] for d in dead] == [7, 8, 9]


@given(st.text(',"\n\ra', max_size=40), st.integers(1, 20))
def test_any_text_is_cut_where_arrow_sees_the_end_of_a_record(text, size):
    """Quotes in all places: what is read block by block is what is read at once."""
    content = b"time,type\n" + text.encode() + b"\n"
    whole = read("-", stdin=io.BytesIO(content), multiline=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_split, "BLOCK_BYTES", size)
        assert read("-", stdin=io.BytesIO(content), multiline=True) == whole
    if not any("quote" in reason for _, reason in reasons(whole[1])):
        strings = pa_csv.ConvertOptions(column_types={"time": pa.string(), "type": pa.string()})
        skip = pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=lambda row: "skip")
        table = pa_csv.read_csv(io.BytesIO(content), parse_options=skip, convert_options=strings)
        assert table.num_rows == len(whole[0])


values = st.sampled_from(
    ["1", "2.5", "-7", "", "x", "007", "1e3", "nan", "true", " 5", "+1", "2020-01-01T00:00:00", '"']
)


@given(st.lists(st.tuples(values, values), min_size=1, max_size=30), st.integers(40, 200))
def test_where_blocks_are_cut_does_not_matter(pairs, size):
    lines = [f"{i},A,{_quoted(a)},{_quoted(b)}\n" for i, (a, b) in enumerate(pairs)]
    content = ("time,type,v,w\n" + "".join(lines)).encode()
    declared = Schema({"v": pa.int64(), "w": pa.float64()})
    whole = read("-", stdin=io.BytesIO(content), declared=declared)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_split, "BLOCK_BYTES", size)
        cut = read("-", stdin=io.BytesIO(content), declared=declared)
    assert repr(cut[0]) == repr(whole[0])  # NaN is not equal to itself
    assert cut[1] == whole[1]


def _quoted(text):
    return '"' + text.replace('"', '""') + '"' if text else text


def test_truncated_gzip_is_said(put):
    whole = gzip.compress(b"time,type\n" + os.urandom(1 << 16).hex().encode() + b",A\n")
    with pytest.raises(InputError, match=r"a\.csv\.gz"):
        read(put("a.csv.gz", whole[:-100]))


# --- JSON lines -------------------------------------------------------------------------------


def test_malformed_lines_are_dead_and_the_others_live(put):
    lines = [
        b'{"time": 1, "type": "A"}',
        b'{"time": 2, "type"',
        b"",
        b"null",
        b"[1]",
        b'{"time": 5, "type": "A"} {"time": 6}',
        b'{"time": 6, "type": "\xff"}',
        b'{"time": 7, "type": "\\ud800"}',
        b'{"time": 8, "type": "A"}',
        b'{"time": 9, "ty',
    ]
    rows, dead = read(put("a.jsonl", b"\n".join(lines)))
    assert times(rows) == [1, 8]
    assert [row for row, _ in reasons(dead)] == [1, 2, 3, 4, 5, 6, 8]
    assert dead[0][2] == "malformed JSON"
    assert dead[1][2] == "malformed JSON: not an object"
    assert json.loads(dead[0][3]) == '{"time": 2, "type"'
    assert dead[4][2] == "the row is not UTF-8"
    assert dead[5][2] == "malformed JSON"  # half a character


@pytest.mark.parametrize("first", [b"null\n", b"5\n", b"true\n", b' null {"time": 0}\n'])
def test_a_first_line_that_crashes_arrow_is_only_dead(put, first):
    rows, dead = read(put("a.jsonl", first + JSON))
    assert times(rows) == [1, 2, 3]
    assert reasons(dead)[0][0] == 0


def test_wrong_types_are_dead(put):
    lines = b'{"time":1,"type":"A","v":1.5,"s":"x"}\n{"time":2,"type":"A","v":"2","s":"x"}\n'
    lines += b'{"time":3,"type":"A","v":[1],"s":"x"}\n{"time":4,"type":"A","v":true,"s":"x"}\n'
    lines += b'{"time":5,"type":"A","v":5,"s":6}\n{"time":6,"type":"A"}\n'
    rows, dead = read(put("a.jsonl", lines), uses={"v": NUMBER, "s": TEXT})
    assert [(r["time"], r["v"], r["s"]) for r in rows] == [(1, 1.5, "x"), (6, None, None)]
    assert reasons(dead) == [
        (1, "`v` is not a number"),
        (2, "`v` is not a number"),
        (3, "`v` is not a number"),
        (4, "`s` is not text"),
    ]
    assert json.loads(dead[0][3])["v"] == "2"


def test_integers_stay_integers(put):
    big = 2**53 + 1
    path = put("a.jsonl", b'{"time":1,"type":"A","v":%d}\n{"time":2,"type":"A","v":3.0}\n' % big)
    declared = Schema({"v": pa.int64()})
    assert [r["v"] for r in read(path, declared=declared)[0]] == [big, 3]
    path = put("b.jsonl", b'{"time":1,"type":"A","v":%d}\n' % big)
    assert read(path)[0][0]["v"] == big


def test_numbers_that_do_not_fit_their_type(put):
    huge = b"1" + b"0" * 400
    path = put("a.jsonl", b'{"time":1,"type":"A","v":1}\n{"time":2,"type":"A","v":-%s}\n' % huge)
    for lines in (b"", b"nonsense\n"):  # by Arrow, and line by line
        path.write_bytes(path.read_bytes() + lines)
        declared = Schema({"v": pa.float64()})
        assert [r["v"] for r in read(path, declared=declared)[0]] == [1.0, -math.inf]
    rows, dead = read(path, declared=Schema({"v": pa.int64()}))
    assert len(rows) == 1
    assert reasons(dead)[0] == (1, "`v` is beyond a 64-bit integer")


def test_whole_numbers_in_json_lose_no_digits(put):
    """As a double, the second would be another number, and two such keys could become one."""
    row = b'{"time":1,"type":"A","v":%s}\n'
    most, beyond = b"%d" % (2**63 - 1), b"9007199254740993123123"
    path = put("a.jsonl", row % most + row % beyond + row % b"-9223372036854775809")
    for use in (NUMBER, ANY):
        rows, dead = read(path, uses={"v": use})
        assert [r["v"] for r in rows] == [2**63 - 1]
        reason = "`v` is beyond a 64-bit integer"
        assert reasons(dead) == [(1, reason), (2, reason)]
        assert beyond.decode() in dead[0][3]
    fractions = put("b.jsonl", row % b"0.5" + row % beyond)
    assert [r["v"] for r in read(fractions, uses={"v": NUMBER})[0]] == [0.5, float(beyond)]


def test_a_json_key_that_stands_twice(put):
    good = b'{"time":1,"type":"A","v":1}\n'
    twice = b'{"time":2,"type":"A","v":1,"v":2}\n'
    unused = b'{"time":3,"type":"A","v":1,"w":1,"w":{"v":1,"v":2}}\n'
    for more in (b"", b"nonsense\n"):
        rows, dead = read(put("a.jsonl", good + twice + unused + more), uses={"v": NUMBER})
        assert times(rows) == [1, 3]
        assert reasons(dead)[0] == (1, "malformed JSON: more than one `v`")
    rows, dead = read(put("a.jsonl", good + unused), uses={"v": NUMBER})
    assert (times(rows), dead) == ([1, 3], [])


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(allow_nan=False),
    st.sampled_from(["x", "5", "2020-01-01T00:00:00", "é", "NaN"]),
    st.just([1]),
    st.just({"a": None}),
)
targets = [pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.timestamp("us")]


@given(
    st.lists(st.dictionaries(st.sampled_from("vw"), scalars), min_size=1, max_size=6),
    st.sampled_from(targets),
    st.sampled_from([NUMBER, TEXT, BOOL, ANY]),
)
def test_arrow_reads_what_the_careful_way_reads(objects, data_type, use):
    """Whatever Arrow takes must be what line by line gives."""
    lines = _Lines("".join(json.dumps(each) + "\n" for each in objects).encode())
    reader = JsonReader("x", ReadRequest(uses={"v": use}), io.BytesIO())
    target = pa.schema([("v", data_type)])
    fast = reader._fast(lines, target, 0)
    if fast is not None:
        careful = reader._careful(lines, target, 0)
        assert fast.batch.equals(careful.batch)
        assert fast.dead.equals(careful.dead)


def test_nested_values_that_nobody_uses_are_ignored(put):
    path = put("a.jsonl", b'{"time":1,"type":"A","v":1,"n":{"a":[1,{"b":2}]}}\n' * 3)
    rows, dead = read(path, uses={"v": NUMBER})
    assert rows == [{"time": 1, "type": "A", "v": 1}] * 3
    assert dead == []
    with pytest.raises(InputError, match="column `n` is nested"):
        open_input(path, uses={"n": ANY})


def test_a_text_used_as_a_number_is_refused(put):
    path = put("a.jsonl", b'{"time":1,"type":"A","v":"x","w":1}\n')
    with pytest.raises(InputError, match="`v` is text"):
        open_input(path, uses={"v": NUMBER})
    with pytest.raises(InputError, match=r"`w` is int64 in .* as text"):
        open_input(path, uses={"w": TEXT})


def test_mixed_types_of_a_key_are_text(put):
    path = put("a.jsonl", b'{"time":1,"type":2,"k":1}\n{"time":2,"type":"2","k":"a"}\n')
    rows, dead = read(path, uses={"k": ANY})
    assert [(r["type"], r["k"]) for r in rows] == [("2", "1"), ("2", "a")]
    assert dead == []


def test_an_odd_time_is_one_bad_row(put):
    lines = b'{"time":1,"type":"A"}\n{"time":2.5,"type":"A"}\n{"time":"x","type":"A"}\n'
    preparer = Preparer()
    with open_input(put("a.jsonl", lines)) as source:
        (block,) = source
    made = preparer.prepare(block.batch, block.source, block.rows, block.raw)
    assert made.events.column(TIME).to_pylist() == [1_000_000]
    (fraction,), (word,) = block.dead.to_pylist(), made.dead.to_pylist()
    assert (fraction["row"], word["row"]) == (1, 2)
    assert fraction["reason"].startswith("`time` is not text")
    assert json.loads(fraction["event"]) == {"time": 2.5, "type": "A"}


def test_a_fraction_is_no_text(put):
    """It can be written in many ways, so as a text it would not equal itself."""
    lines = b'{"time":1,"type":"A","k":"a"}\n{"time":2,"type":"A","k":1.5}\n'
    rows, dead = read(put("a.jsonl", lines + lines.replace(b"1.5", b"true")), uses={"k": ANY})
    assert [r["k"] for r in rows] == ["a", "a", "true"]
    ((row, reason),) = reasons(dead)
    assert (row, reason.split(" (")[0]) == (1, "`k` is not text")


def test_numbers_that_json_does_not_have(put):
    """Python writes NaN and Infinity; other ways to write them are malformed."""
    row = b'{"time":1,"type":"A","v":1.5,"w":%s}\n{"time":2,"type":"A","v":%s}\n'
    read_values = {b"NaN": [None], b"Infinity": [math.inf], b"-Infinity": [-math.inf]}
    odd = {key: [] for key in (b"Inf", b"-NaN", b"INF", b"+Infinity", b"nan")}
    for value, expected in (read_values | odd).items():
        rows, dead = read(put("a.jsonl", row % (b"0", value)), uses={"v": NUMBER})
        assert [None if r["v"] != r["v"] else r["v"] for r in rows] == [1.5, *expected]
        assert [reason for _, reason in reasons(dead)] == ["malformed JSON"] * (not expected)
        assert len(read(put("b.jsonl", row % (value, b"1")))[0]) == 2 - (not expected)


def test_types_that_are_narrow(put):
    """A type declared by a file may be narrower than the numbers of JSON."""
    row = b'{"time":1,"type":"A","v":%s,"w":%s}\n'
    declared = Schema({"v": pa.int8(), "w": pa.float32()})
    path = put("a.jsonl", row % (b"127", b"0.1") + row % (b"128", b"1") + row % (b"1.0", b"1e300"))
    for more in (b"", b"nonsense\n"):
        path.write_bytes(path.read_bytes() + more)
        rows, dead = read(path, declared=declared)
        assert [r["v"] for r in rows] == [127, 1]
        assert [r["w"] for r in rows] == [pytest.approx(0.1), math.inf]
        assert reasons(dead)[0] == (1, "`v` is beyond a 64-bit integer")


def test_iso_times_in_json_are_read_by_the_clock(put):
    path = put("a.jsonl", b'{"time":"2020-01-01T00:00:00Z","type":"A"}\n')
    assert types(path)["time"] == pa.string()


def test_bom_crlf_blank_lines_and_no_last_newline_in_json(put):
    content = b"\xef\xbb\xbf" + JSON.replace(b"\n", b"\r\n\r\n").rstrip()
    rows, dead = read(put("a.jsonl", content))
    assert times(rows) == [1, 2, 3]
    assert dead == []


def test_empty_json_is_no_rows(put):
    for content in (b"", b"\n\n", b"\xef\xbb\xbf"):
        path = put("a.jsonl", content)
        assert read(path, uses={"v": NUMBER}) == ([], [])
        with open_input(path, uses={"v": NUMBER}) as source:
            Preparer(uses={"v": NUMBER}).bind(source.schema)


@pytest.mark.parametrize(
    "content", [b'[{"time":1},\n{"time":2}]', b'[\n{"time":1},\n{"time":2}\n]']
)
def test_a_json_array_is_said(put, content):
    for options in ({"path": put("a.json", content)}, {"path": "-", "stdin": io.BytesIO(content)}):
        with pytest.raises(InputError, match="is a JSON array"):
            open_input(**options)


@pytest.mark.parametrize("content", [b"time,type\n1,A\n", b"null\n"])
def test_what_is_not_json_lines_is_said(put, content):
    with pytest.raises(InputError, match="not JSON lines"):
        open_input(put("a.jsonl", content))


def test_blocks_of_json_end_with_lines_and_count_on(put, monkeypatch):
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 100)
    lines = [b'{"time":%d,"type":"A"}' % i for i in range(500)]
    lines[250] = b'{"time":250,'
    with open_input(put("a.jsonl", b"\n".join(lines))) as source:
        blocks = list(source)
    assert len(blocks) > 50
    for block in blocks:
        assert block.rows.tolist() == block.batch.column("time").to_pylist()
    assert [row for block in blocks for row in block.dead["row"].to_pylist()] == [250]


def test_a_rare_attribute_is_looked_for_beyond_the_first_block(put, monkeypatch):
    monkeypatch.setattr(json_lines, "BLOCK_BYTES", 100)
    lines = [b'{"time":%d,"type":"A"}' % i for i in range(20)]
    lines[15] = b'{"time":15,"type":"B","fare":2.5}'
    path = put("a.jsonl", b"\n".join(lines))
    rows, dead = read(path, uses={"fare": NUMBER})
    assert times(rows) == list(range(20))
    assert rows[15]["fare"] == 2.5
    assert dead == []
    assert "none" not in types(path, uses={"none": NUMBER})


def test_an_attribute_that_is_declared_need_not_appear_early(put):
    path = put("a.jsonl", b'{"time":1,"type":"A"}\n')
    declared = Schema({"fare": pa.float64()})
    assert types(path, declared=declared)["fare"] == pa.float64()
    assert read(path, declared=declared)[0][0]["fare"] is None


def test_declared_times_are_read_from_text(put):
    path = put("a.jsonl", b'{"time":1,"type":"A","at":"2020-01-01T00:00:00"}\n')
    declared = Schema({"at": pa.timestamp("us")})
    assert str(read(path, declared=declared)[0][0]["at"]) == "2020-01-01 00:00:00"


# --- damage -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather"])
@pytest.mark.parametrize("keep", [0, 3, 6, 0.5, 0.9])
def test_a_truncated_file_is_an_error_that_names_it(put, name, keep):
    content = FILES[name]
    size = keep if keep > 1 or keep == 0 else int(len(content) * keep)
    with pytest.raises(InputError, match=name):
        read(put(name, content[:size]))


def test_damage_inside_a_parquet_file_is_an_error_that_names_it(put):
    table = pa.table({"time": range(5_000), "type": ["A"] * 5_000})
    content = bytearray(parquet(table))
    content[200:2_000] = b"\xff" * 1_800
    with pytest.raises(InputError, match=r"a\.parquet"):
        read(put("a.parquet", bytes(content)))


def test_damage_inside_an_ipc_file_does_not_crash(put):
    table = pa.table({"time": range(100), "type": ["Request"] * 100})
    content = bytearray(ipc(pa.ipc.new_file, table))
    at = content.index(b"\x07\x00\x00\x00\x0e\x00\x00\x00")  # the offsets of the strings
    content[at : at + 4] = b"\xff\xff\xff\x7f"
    with pytest.raises(InputError, match=r"a\.arrow"):
        read(put("a.arrow", bytes(content)))


def test_a_stream_that_breaks_off_keeps_its_whole_batches(put):
    table = pa.table({"time": range(100), "type": ["A"] * 100})
    content = ipc(pa.ipc.new_stream, table, rows=10)
    for options in ({"path": put("a.ipc", content[: len(content) // 2])}, {}):
        stdin = io.BytesIO(content[: len(content) // 2])
        rows, dead = read(options.get("path", "-"), stdin=stdin)
        assert 0 < len(rows) < 100
        assert times(rows) == list(range(len(rows)))
        ((_, row, reason, event),) = dead
        assert (row, event) == (None, None)
        assert f"ends unexpectedly after {len(rows)} rows" in reason


# --- folders ----------------------------------------------------------------------------------


def folder(put, **files):
    for name, content in files.items():
        put(f"in/{name}", content)


def test_a_folder_is_read_in_order_of_names_without_hidden_files(put, tmp_path):
    for i, name in enumerate(["b/2.csv", "a.csv", "c.jsonl", "b/1.csv"]):
        content = b'{"time":%d,"type":"A"}\n' if name.endswith("l") else b"time,type\n%d,A\n"
        put(f"in/{name}", content % i)
    put("in/_dead_letter/x.csv", b"nonsense")
    put("in/.hidden.csv", b"nonsense")
    put("in/_SUCCESS", b"")
    put("in/README.txt", b"hello")
    with open_input(tmp_path / "in") as source:
        assert source.skipped == ["README.txt"]
        blocks = list(source)
    assert [block.batch.column("time")[0].as_py() for block in blocks] == ["1", "3", "0", "2"]
    assert [os.path.basename(block.source) for block in blocks] == [
        "a.csv",
        "1.csv",
        "2.csv",
        "c.jsonl",
    ]
    assert all(block.rows.tolist() == [0] for block in blocks)


def test_schemas_of_a_folder_are_unified(put, tmp_path):
    put("in/1.parquet", parquet(pa.table({"time": pa.array([1], pa.int32()), "type": ["A"]})))
    table = pa.table({"time": [2], "type": pa.array(["B"]).dictionary_encode(), "v": [1]})
    put("in/2.parquet", parquet(table))
    put("in/3.arrow", ipc(pa.ipc.new_stream, pa.table({"time": [3], "type": ["C"], "v": [1.5]})))
    put("in/4.csv", b"time,type,v,w\n4,D,2,x\n")
    put("in/5.jsonl", b'{"time":5,"type":"E","v":3}\n')
    rows, dead = read(tmp_path / "in", uses={"v": NUMBER, "w": TEXT})
    assert rows == [
        {"time": 1, "type": "A", "v": None, "w": None},
        {"time": 2, "type": "B", "v": 1.0, "w": None},
        {"time": 3, "type": "C", "v": 1.5, "w": None},
        {"time": 4, "type": "D", "v": 2.0, "w": "x"},
        {"time": 5, "type": "E", "v": 3.0, "w": None},
    ]
    assert dead == []


def test_guesses_about_text_files_meet(put, tmp_path):
    put("in/1.csv", b"time,type,a,b,c\n1,A,1,1,x\n")
    put("in/2.csv", b"time,type,a,b,c\n2,A,2.5,x,7\n")
    with open_input(tmp_path / "in") as source:
        kinds = {field.name: field.type for field in source.schema}
    assert (kinds["a"], kinds["b"]) == (pa.float64(), pa.string())
    rows, dead = read(tmp_path / "in", uses={"c": NUMBER, "b": ANY})
    assert [(r["b"], r["c"]) for r in rows] == [("x", 7)]
    assert [d[0] for d in dead] == ["1.csv"]


def test_typed_files_that_disagree_are_refused(put, tmp_path):
    put("in/1.parquet", parquet(pa.table({"time": [1], "type": ["A"], "v": [1]})))
    put("in/2.parquet", parquet(pa.table({"time": [1], "type": ["A"], "v": ["x"]})))
    with pytest.raises(InputError, match=r"`v` is int64 in .*1\.parquet and string in .*2\.parq"):
        open_input(tmp_path / "in")


def test_coarse_times_do_not_round_those_of_text_beside_them(put, tmp_path):
    put(
        "in/1.parquet",
        parquet(pa.table({"time": pa.array([1], pa.timestamp("ms")), "type": ["A"]})),
    )
    put("in/2.csv", b"time,type\n1970-01-01T00:00:00.000001,A\n")
    rows, _ = read(tmp_path / "in")
    assert [r["time"].microsecond for r in rows] == [1_000, 1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("2.parquet", FILES["a.parquet"][:-9]),
        ("2.arrow", FILES["a.arrow"][:50]),
        ("2.csv", b""),
        ("2.jsonl", b"nonsense\n"),
        ("2.csv.gz", gzip.compress(CSV, mtime=0)[:-9]),
        ("2.csv", b"time,type,time\n1,A,1\n"),
    ],
)
def test_a_damaged_file_in_a_folder_is_one_dead_row(put, tmp_path, name, content):
    put("in/1.parquet", FILES["a.parquet"])
    put(f"in/{name}", content)
    put("in/3.jsonl", FILES["a.jsonl"])
    rows, dead = read(tmp_path / "in")
    assert sorted(times(rows)) == [1, 1, 2, 2, 3, 3]
    ((source, row, reason, event),) = dead
    assert (source, row, event) == (name, None, None)
    assert reason


def test_damage_in_the_middle_of_a_file_of_a_folder(put, tmp_path):
    table = pa.table({"time": range(5_000), "type": ["A"] * 5_000})
    content = bytearray(parquet(table, row_group_size=2_500))
    content[-9_000:-5_000] = b"\xff" * 4_000
    put("in/1.parquet", bytes(content))
    put("in/2.csv", CSV)
    rows, dead = read(tmp_path / "in")
    assert times(rows)[-3:] == [1, 2, 3]
    assert len(dead) == 1
    assert dead[0][2].startswith("damaged after")


def test_a_folder_without_data_is_said(put, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no data"):
        open_input(tmp_path / "empty")
    put("in/notes.txt", b"x")
    with pytest.raises(InputError, match=r"notes\.txt"):
        open_input(tmp_path / "in")
    put("bad/1.parquet", b"PAR1")
    with pytest.raises(InputError, match=r"1\.parquet"):
        open_input(tmp_path / "bad")


def test_large_parquet_files_come_in_batches(put):
    table = pa.table({"time": range(200_000), "type": ["A"] * 200_000})
    with open_input(put("a.parquet", parquet(table))) as source:
        sizes = [block.batch.num_rows for block in source]
    assert sum(sizes) == 200_000
    assert max(sizes) <= 65_536
