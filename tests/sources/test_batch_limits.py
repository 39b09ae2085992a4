"""Micro-batches have our limit unless the user gives one; a limit is not part of the name."""

import pytest

from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions
from hamlet.job.spark_input import SparkStreamInput, check_spark_checkpoint
from runtime.errors import InputError
from runtime.io.reader import ReadRequest
from spark_ingest.sources.spark_format import with_batch_limit, without_batch_limit
from spark_ingest.spark_address import parse_spark_address


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ("spark:delta?path=t", {"path": "t", "maxFilesPerTrigger": "16"}),
        ("spark:Delta?path=t", {"path": "t", "maxFilesPerTrigger": "16"}),
        ("spark:delta?path=t&maxFilesPerTrigger=3", {"path": "t", "maxFilesPerTrigger": "3"}),
        ("spark:delta?path=t&maxbytespertrigger=1g", {"path": "t", "maxbytespertrigger": "1g"}),
        ("spark:orc?path=t", {"path": "t", "maxFilesPerTrigger": "16"}),
        ("spark:kafka?subscribe=t", {"subscribe": "t", "maxOffsetsPerTrigger": "500000"}),
        ("spark:rate?rowsPerSecond=5", {"rowsPerSecond": "5"}),
    ],
)
def test_limits(given, options):
    assert with_batch_limit(parse_spark_address(given)).options == options


def test_limit_is_not_part_of_the_name():
    def name(text: str) -> str:
        return str(without_batch_limit(parse_spark_address(text)))

    assert name("spark:delta?path=t&maxFilesPerTrigger=3") == name("spark:delta?path=t")
    assert name("spark:delta?path=t&maxBytesPerTrigger=1g") == name("spark:delta?path=t")
    assert name("spark:rate?rowsPerSecond=3") != name("spark:rate")


def test_followed_format_of_spark():
    options = InputOptions("spark:delta?path=t", ReadRequest(), follow=True)
    found = resolve_input(options)
    assert isinstance(found, SparkStreamInput)
    assert len(found.spark_needs.jars) == 2
    assert "DeltaSparkSessionExtension" in found.spark_needs.settings["spark.sql.extensions"]


def test_checkpoint_in_an_object_store_is_refused():
    with pytest.raises(InputError, match="cannot keep its checkpoint in s3://bucket/job"):
        check_spark_checkpoint("s3://bucket/job")
    check_spark_checkpoint("/mnt/shared/job")
    check_spark_checkpoint(None)
