"""What is served, to whom, and what is refused."""

import json
import socket
from dataclasses import replace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from runtime.errors import HamletError
from runtime.metrics.collector import EpochStats, MetricsCollector
from runtime.metrics.http_server import MetricsServer


@pytest.fixture
def hub():
    found = MetricsServer()
    yield found
    found.close()


def test_nothing_is_known_yet(hub: MetricsServer):
    assert hub.url.startswith("http://127.0.0.1:")
    assert json.load(urlopen(f"{hub.url}/metrics.json")) is None
    assert urlopen(f"{hub.url}/metrics").read() == b""


def test_the_newest_facts(hub: MetricsServer):
    collector = MetricsCollector("j", "ray", ["q"])
    for epoch in range(2):
        collector.record_epoch(
            EpochStats(epoch, events=10 * epoch, results={"q": 1}, latencies={"q": [0.1]})
        )
        hub.update(collector.snapshot)
    snapshot = json.load(urlopen(f"{hub.url}/metrics.json"))
    assert (snapshot["job"], snapshot["epoch"], snapshot["events"]) == ("j", 1, 10)
    assert snapshot["queries"]["q"]["latency"]["count"] == 2
    text = urlopen(f"{hub.url}/metrics").read().decode()
    assert 'hamlet_events_total{hamlet_job="j"} 10.0' in text


def test_two_hubs_do_not_mix(hub: MetricsServer):
    other = MetricsServer()
    snapshot = MetricsCollector("first job", "ray", []).snapshot
    hub.update(snapshot)
    other.update(replace(snapshot, job="second job"))
    assert "first job" not in urlopen(f"{other.url}/metrics").read().decode()
    assert "second job" not in urlopen(f"{hub.url}/metrics").read().decode()
    other.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_it_only_shows(hub: MetricsServer, method: str):
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(f"{hub.url}/metrics.json", method=method, data=b"{}"))
    assert refused.value.code == 405
    with pytest.raises(HTTPError) as missing:
        urlopen(f"{hub.url}/../etc/passwd")
    assert missing.value.code == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example:1"])
def test_a_page_of_another_name_is_refused(hub: MetricsServer, host: str):
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(f"{hub.url}/metrics.json", headers={"Host": host}))
    assert refused.value.code == 403
    assert urlopen(f"{hub.url.replace('127.0.0.1', 'localhost')}/metrics.json").status == 200


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(HamletError, match=f"cannot serve metrics on 127.0.0.1:{port}"):
            MetricsServer(port)
