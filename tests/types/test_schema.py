"""What can be said of an input before it is read."""

import gzip

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from runtime.errors import InputError
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.schema import Schema

TABLE = pa.table({"time": [1], "speed": [1.5], "driver": ["d"], "pool": [True]})


@pytest.fixture
def write(tmp_path):
    def write(text, name="schema.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_from_arrow():
    schema = Schema.from_arrow(TABLE.schema)
    assert schema.attributes() == {"time", "speed", "driver", "pool"}
    assert schema.attributes("Any") == schema.attributes()
    assert schema.types() is None
    assert schema.kind("speed") is AttributeKind.NUMBER
    assert schema.kind("driver") is AttributeKind.TEXT
    assert schema.kind("pool") is AttributeKind.BOOL
    assert schema.kind("nothing") is None


def test_from_yaml(write):
    text = """
    Request: {driver: text, rider: int, speed: double}
    Travel: [driver, speed]   # no types of values
    2: {pool: Boolean, at: timestamp}
    yes:
    """
    schema = Schema.from_file(write(text))
    assert schema.types() == {"Request", "Travel", "2", "yes"}
    assert schema.attributes("Travel") == {"driver", "speed"}
    assert schema.attributes("2") == {"pool", "at"}
    assert schema.attributes("yes") == frozenset()
    assert schema.attributes("Unknown") == frozenset()
    assert schema.attributes() == {"driver", "rider", "speed", "pool", "at"}
    assert schema.kind("driver") is AttributeKind.TEXT
    assert schema.data_type("rider") == pa.int64()
    assert schema.data_type("at") == pa.timestamp("us")
    assert schema.kind("missing") is None


def test_an_attribute_without_a_type_may_be_anything(write):
    schema = Schema.from_yaml(write("A: [x]"))
    assert schema.kind("x") is AttributeKind.ANY
    assert schema.data_type("x") is None


def test_numbers_of_two_types_are_widened(write):
    schema = Schema.from_yaml(write("A: {x: int}\nB: {x: double}\nC: [x]"))
    assert schema.data_type("x") == pa.float64()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "declares nothing"),
        ("- A\n- B\n", ":1:1: a mapping"),
        ("A: 5\n", ":1:4: a mapping"),
        ("A: {x: intt}\n", "`intt` is not a type"),
        ("A: {x: int}\nA: {y: int}\n", ":2:1: `A` is declared twice"),
        ("A: {x: int, x: int}\n", "`x` is declared twice"),
        ("A: {x: int}\nB: {x: text}\n", "`x` is declared as int64 and as string"),
        ("A: [[x]]\n", "a name is expected"),
        ("A: {x: {y: int}}\n", "a name is expected"),
        ("A: {x: int\n", "is not YAML"),
        (b"A: \xff\n", "not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_yaml_file_and_where(write, text, message):
    with pytest.raises(InputError) as caught:
        Schema.from_yaml(write(text))
    assert message in caught.value.message


def test_a_near_type_is_suggested(write):
    with pytest.raises(InputError) as caught:
        Schema.from_yaml(write("A: {x: integr}"))
    assert "did you mean `integer`?" in caught.value.render()


def test_yaml_runs_nothing(write):
    with pytest.raises(InputError):
        Schema.from_yaml(write("A: !!python/object/apply:os.system [x, {y: z}]"))
    assert Schema.from_yaml(write("A: !!python/name:os.system [x]")).attributes("A") == {"x"}


def test_columns_of_typed_files(tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "a.parquet")
    pa.feather.write_feather(TABLE, tmp_path / "a.feather")
    with pa.ipc.new_stream(tmp_path / "a.arrow", TABLE.schema) as stream:
        stream.write_table(TABLE)
    for path in tmp_path.iterdir():
        schema = Schema.from_file(path)
        assert schema.attributes() == set(TABLE.schema.names)
        assert schema.kind("speed") is AttributeKind.NUMBER


DOUBLE = pa.table([[1], [2], [3]], names=["time", "v", "v"])


def test_a_name_that_two_columns_have_is_refused(tmp_path, write):
    pa.parquet.write_table(DOUBLE, tmp_path / "a.parquet")
    for kind, name in ((pa.ipc.new_file, "a.feather"), (pa.ipc.new_stream, "a.arrow")):
        with kind(tmp_path / name, DOUBLE.schema) as file:
            file.write_table(DOUBLE)
    write("time,v,v\n1,2,3\n", "a.csv")
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(InputError) as caught:
            Schema.from_file(path)
        assert caught.value.message == f"{path} has more than one column `v`"
    with pytest.raises(InputError, match="the input has more than one column `v`"):
        Schema.from_arrow(DOUBLE.schema)


def test_columns_of_csv_leave_open_what_looks_like_a_number(write):
    schema = Schema.from_file(write("time,zip,name\n1,007,x\n", "a.csv"))
    assert schema.attributes() == {"time", "zip", "name"}
    assert schema.kind("zip") is AttributeKind.ANY
    assert schema.kind("name") is AttributeKind.TEXT


def test_columns_of_json_lines(write):
    lines = b'{"time": 1, "at": "2020-01-01T00:00:00", "v": {"n": [1]}}\n{"time": 2, "x": 1.5}\n'
    for path in (write(lines, "a.jsonl"), write(gzip.compress(lines), "a.ndjson.gz")):
        schema = Schema.from_file(path)
        assert schema.attributes() == {"time", "at", "v", "x"}
        assert schema.kind("x") is AttributeKind.NUMBER
        assert schema.kind("at") is AttributeKind.TEXT


@pytest.mark.parametrize("name", ["none.yaml", "none.csv", "none.parquet", "none.jsonl"])
def test_a_missing_file_is_named(tmp_path, name):
    with pytest.raises(InputError, match=name):
        Schema.from_file(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.parquet", b"PAR1 no"),
        ("a.arrow", b"ARROW1"),
        ("a.feather", b""),
        ("a.csv", b""),
        ("a.json", b""),
        ("a.json", b"null\n"),
        ("a.json", b"[1]\n"),
        ("a.csv.gz", b"\x1f\x8b123"),
        ("a.csv", b"\xff\xfet\x00\n\x001\x00"),
        ("a.json", b'{"a": 1}\n{"a": "x"}\n'),
        ("a.txt", b"x"),
    ],
)
def test_a_file_that_is_none_is_named(write, name, content):
    with pytest.raises(InputError, match=name):
        Schema.from_file(write(content, name))
