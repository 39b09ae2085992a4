"""Addresses and options: what is wrong is said, what is secret is not."""

import logging

import pytest

from cluster.kafka.records import everything, send, source
from runtime.errors import HamletError, InputError
from spark_ingest.kafka.address import parse_address
from spark_ingest.kafka.options import read_options
from tools.certificates import KEY_PASSWORD, write_certificates
from tools.kafka import USER

SECRET = "hunter2"


def options(tmp_path, *lines, environment=None):
    file = tmp_path / "kafka.properties"
    file.write_text("\n".join(lines))
    return read_options(file, environment or {})


def test_addresses():
    address = parse_address("kafka://one:1,two/events")
    assert address.brokers == ("one:1", "two:9092")
    assert (address.topic, str(address)) == ("events", "kafka://one:1,two:9092/events")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("kafka://one:1", "is not a Kafka address"),
        ("kafka://one:1/", "cannot be the name of a Kafka topic"),
        ("kafka://one:1/a b", "cannot be the name of a Kafka topic"),
        ("kafka:///events", "is not HOST:PORT"),
        ("kafka://one:x/events", "is not HOST:PORT"),
        ("kafka://one:99999/events", "is not a port"),
    ],
)
def test_addresses_that_are_none(text, reason):
    with pytest.raises(InputError, match=reason):
        parse_address(text)


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(InputError) as caught:
        parse_address(f"kafka://me:{SECRET}@one:1/events")
    assert SECRET not in caught.value.render()
    assert "--kafka-options" in caught.value.hint


def test_values_come_from_the_environment(tmp_path):
    found = options(
        tmp_path,
        "# how to get in",
        "security.protocol = sasl_ssl",
        "sasl.mechanism=PLAIN",
        "sasl.username=me",
        "sasl.password=${KAFKA_PASSWORD}",
        environment={"KAFKA_PASSWORD": SECRET},
    )
    assert found.librdkafka()["sasl.password"] == SECRET
    assert found.java() == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="me" password="{SECRET}";',
    }
    assert SECRET not in repr(found)


def test_certificates_and_keys_go_by_their_content(tmp_path):
    write_certificates(tmp_path)
    lines = [
        "security.protocol=SSL",
        f"ssl.ca.location={tmp_path}/ca.pem",
        f"ssl.certificate.location={tmp_path}/client.pem",
        f"ssl.key.location={tmp_path}/locked.key",
    ]
    found = options(tmp_path, *lines, f"ssl.key.password={KEY_PASSWORD}").java()
    assert found["ssl.truststore.certificates"] == (tmp_path / "ca.pem").read_text()
    assert found["ssl.keystore.key"] == (tmp_path / "client.key").read_text()
    assert found["ssl.keystore.type"] == found["ssl.truststore.type"] == "PEM"
    for wrong in ([], ["ssl.key.password=wrong"]):
        with pytest.raises(InputError, match=r"locked\.key cannot be read"):
            options(tmp_path, *lines, *wrong)
    (tmp_path / "ca.pem").write_text("a certificate")
    with pytest.raises(InputError, match="is not a PEM file"):
        options(tmp_path, *lines)


@pytest.mark.parametrize(
    ("lines", "reason", "hint"),
    [
        (
            ["sasl.user=me"],
            "kafka.properties:1: `sasl.user` is not an allowed option",
            "`sasl.username`",
        ),
        (["security.protocol"], "`name=value` is expected", None),
        (["sasl.username=a"], "has no effect with security.protocol=PLAINTEXT", None),
        (["security.protocol=TLS"], "security.protocol is one of", None),
        (["security.protocol=SASL_SSL"], "SASL_SSL needs sasl.mechanism", None),
        (["", "sasl.password=${NONE}"], ":2: the environment has no variable NONE", None),
        (["security.protocol=SSL", "ssl.key.location=x"], "must be set together", None),
        (["security.protocol=SSL", "ssl.ca.location=/none"], "cannot read /none", None),
        (["security.protocol=SSL", "security.protocol=SSL"], "is given twice", None),
    ],
)
def test_options_that_are_wrong(tmp_path, lines, reason, hint):
    with pytest.raises(InputError, match=reason) as caught:
        options(tmp_path, *lines)
    if hint is not None:
        assert hint in caught.value.hint


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_topic_behind_a_password(spark, broker, topic, tmp_path, caplog, mechanism):
    broker.create(topic)
    send(broker, topic, [{"time": 1, "type": "A"}])
    password = broker.passwords[mechanism]
    lines = ["security.protocol=SASL_PLAINTEXT", f"sasl.mechanism={mechanism}"]
    lines += [f"sasl.username={USER}", "sasl.password=${SECRET}"]
    found = options(tmp_path, *lines, environment={"SECRET": password})
    with caplog.at_level(logging.DEBUG):
        read = source(spark, broker, topic, servers=broker.secured, options=found)
        assert everything(read, ["time", "type"])[0] == [(f"{topic}/0", 0, 1, "A")]
    assert password not in caplog.text
    wrong = options(tmp_path, *lines, environment={"SECRET": "wrong"})
    with pytest.raises(HamletError, match="uthentication fail") as caught:
        source(spark, broker, topic, servers=broker.secured, options=wrong)
    assert "--kafka-options" in caught.value.hint


@pytest.mark.parametrize("key", ["client.key", "locked.key"])
def test_a_topic_behind_certificates(spark, broker, topic, tmp_path, key):
    broker.create(topic)
    send(broker, topic, [{"time": 1, "type": "A"}])
    files = broker.certificates
    lines = [
        "security.protocol=SASL_SSL",
        "sasl.mechanism=SCRAM-SHA-256",
        f"sasl.username={USER}",
        f"sasl.password={broker.passwords['SCRAM-SHA-256']}",
        f"ssl.ca.location={files}/ca.pem",
        f"ssl.certificate.location={files}/client.pem",
        f"ssl.key.location={files}/{key}",
    ]
    if key == "locked.key":
        lines.append(f"ssl.key.password={KEY_PASSWORD}")
    given = {"servers": broker.encrypted, "options": options(tmp_path, *lines)}
    rows, _, _ = everything(source(spark, broker, topic, **given), ["time", "type"])
    assert rows == [(f"{topic}/0", 0, 1, "A")]


def test_no_broker_at_all_is_said_with_its_address(spark, broker):
    said = []
    with pytest.raises(HamletError, match=r"no broker of 127\.0\.0\.1:9 has answered"):
        source(spark, broker, "t", servers="127.0.0.1:9", patience=6, say=said.append)
    assert said[0].startswith("Kafka at 127.0.0.1:9 does not answer: ")
