"""Addresses of Spark's formats, and their options in files: secrets stay out of sight."""

import pytest

from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions
from hamlet.job.spark_input import SparkInput
from runtime.errors import InputError
from runtime.io.reader import ReadRequest
from spark_ingest.jars import AVRO, KAFKA_SOURCE
from spark_ingest.option_file import read_option_file
from spark_ingest.spark_address import parse_spark_address

SECRET = "hunter2"


def resolved(text, **options) -> SparkInput:
    found = resolve_input(InputOptions(text, ReadRequest(), **options))
    assert isinstance(found, SparkInput)
    return found


def test_an_address_has_a_format_and_options():
    address = parse_spark_address("spark:csv?path=/data/a%26b.csv&header=true&schema=time%20INT")
    assert address.format == "csv"
    assert address.options == {"path": "/data/a&b.csv", "header": "true", "schema": "time INT"}


def test_a_plus_is_a_plus():
    assert parse_spark_address("spark:orc?path=a+b.orc").options["path"] == "a+b.orc"


def test_the_name_is_the_same_for_every_order_of_options():
    one = parse_spark_address("spark:csv?path=/data/a%26b.csv&header=true")
    other = parse_spark_address("spark:csv?header=true&path=/data/a%26b.csv")
    assert str(one) == str(other) == "spark:csv?header=true&path=/data/a%26b.csv"
    assert parse_spark_address(str(one)) == other


@pytest.mark.parametrize("text", ["spark:", "spark:?path=a", "spark:a/b", "spark:a b?path=c"])
def test_a_format_is_a_name(text):
    with pytest.raises(InputError, match="names no format of Spark"):
        parse_spark_address(text)


@pytest.mark.parametrize("text", ["spark:orc?", "spark:orc?path", "spark:orc?=x", "spark:orc?a=1&"])
def test_options_have_names_and_values(text):
    with pytest.raises(InputError, match="no name and value"):
        parse_spark_address(text)


def test_spark_ignores_the_case_of_options():
    assert parse_spark_address("spark:orc?PATH=a").options == {"path": "a"}
    with pytest.raises(InputError, match="`Header` is given twice"):
        parse_spark_address("spark:csv?header=true&Header=false")


@pytest.mark.parametrize(
    "options",
    [
        f"password={SECRET}",
        f"kafka.ssl.truststore.PassWord={SECRET}",
        f"sfToken={SECRET}",
        f"client_secret={SECRET}",
        f"fs.s3a.access.key={SECRET}",
        f"url=jdbc:postgresql://me:{SECRET}@host/db",
        f"url=jdbc:postgresql://host/db%3Fpassword={SECRET}",
    ],
)
def test_secrets_are_refused_and_not_repeated(options):
    with pytest.raises(InputError) as caught:
        parse_spark_address(f"spark:jdbc?{options}")
    assert SECRET not in caught.value.render()
    assert "--spark-options" in caught.value.hint


def test_more_options_come_from_a_file_and_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("DATABASE_PASSWORD", SECRET)
    file = tmp_path / "jdbc.properties"
    file.write_text("# how to get in\npassword = ${DATABASE_PASSWORD}\nuser=me\n")
    found = list(read_option_file(file))
    assert [(each.name, each.value) for each in found] == [("password", SECRET), ("user", "me")]
    assert SECRET not in repr(found)
    input = resolved("spark:jdbc?dbtable=rides", spark_options=file)
    assert input.name == "spark:jdbc?dbtable=rides"
    monkeypatch.delenv("DATABASE_PASSWORD")
    with pytest.raises(InputError, match="has no variable DATABASE_PASSWORD"):
        resolved("spark:jdbc?dbtable=rides", spark_options=file)


def test_an_option_has_one_place(tmp_path):
    file = tmp_path / "more.properties"
    file.write_text("dbTable=rides\n")
    with pytest.raises(InputError, match=r"more.properties:1: `dbTable` is in the address as well"):
        resolved("spark:jdbc?dbtable=rides", spark_options=file)


def test_a_format_says_which_jars_it_needs():
    assert resolved("spark:avro?path=a.avro").spark_needs.jars == AVRO
    assert resolved("spark:kafka?subscribe=rides").spark_needs.jars == KAFKA_SOURCE
    assert resolved("spark:orc?path=a.orc").spark_needs.jars == ()


def test_the_format_is_in_the_address():
    with pytest.raises(InputError, match="names a format already"):
        resolved("spark:orc?path=a.orc", format="parquet")


def test_a_run_that_has_ended_can_be_repeated_but_not_one_in_the_middle():
    """It then only publishes its results again."""
    input = resolved("spark:orc?path=a.orc")
    input.check_resumable(finished=True)
    with pytest.raises(InputError, match="cannot be read from where an earlier run stopped"):
        input.check_resumable(finished=False)
