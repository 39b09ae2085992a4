"""The list of reasons is closed: each has a text, and a row for which Spark gives it, as does the
engine of one process where it reads such rows. The tests named here show that."""

from cluster.kafka import test_kafka_avro, test_kafka_source
from runtime.pipeline.event_contract import Reason, reason_text
from spark import test_event_pipeline, test_parse_csv, test_parse_json

#: In both renderings.
CSV = {Reason(fault % 256) for fault in test_parse_csv.FAULTS.values()}
JSON = {test_parse_json.REASONS[line][0] for line in test_parse_json.LINES}
EVENTS = {*test_event_pipeline.REASONS}
#: Values of Kafka, which only Spark reads.
KAFKA = {
    reason
    for rows in (
        test_parse_json.REASONS,
        test_kafka_avro.REASONS,
        test_kafka_avro.REASONS_OF_CONFLUENT,
        test_kafka_source.REASONS,
    )
    for reason, _ in rows.values()
}
ONLY_KAFKA = {
    Reason.TOMBSTONE,
    Reason.NO_CONFLUENT_HEADER,
    Reason.NOT_AVRO,
    Reason.AFTER_AVRO,
    Reason.NOT_TEXT,
}


def test_each_reason_has_a_row_in_both_renderings():
    assert {*Reason} - ONLY_KAFKA == CSV | JSON | EVENTS
    assert {*Reason} == CSV | JSON | EVENTS | KAFKA


def test_each_reason_has_a_text_of_its_own():
    about = {"column": "c", "noun": "a number", "count": 1, "expected": 2}
    texts = {reason_text(each, **about) for each in Reason if each is not Reason.VALID}
    assert len(texts) == len(Reason) - 1
