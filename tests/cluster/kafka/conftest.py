"""One broker for all tests of Kafka."""

import pytest

from runtime.errors import HamletError
from tools.kafka import Broker, broker_jars


@pytest.fixture(scope="session")
def fetched_jars(jars_of_kafka):
    try:
        broker_jars()
    except HamletError as error:
        pytest.skip(f"tool: the Kafka broker is not to be had: {error.message}")
    if not jars_of_kafka:
        pytest.skip("tool: the Kafka connector is not to be had")


@pytest.fixture(scope="session")
def broker(fetched_jars, tmp_path_factory):
    broker = Broker(tmp_path_factory.mktemp("broker"))
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def topic(request):
    """A name that no other test has."""
    return request.node.name.replace("[", ".").replace("]", "")[:200]
