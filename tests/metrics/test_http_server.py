"""What is served, to whom, and what is refused."""

import json
import socket
from dataclasses import replace
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from runtime.errors import HamletError
from runtime.metrics.collector import EpochStats, MetricsCollector
from runtime.metrics.http_server import MetricsServer
from tools.patience import PATIENCE_S


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


REBOUND = [
    "evil.example",
    "evil.example:80",
    "127.0.0.1.evil.example:1",
    "localhost.evil.example",
    "evil.example@localhost:80",
    "evil.example:80@127.0.0.1:80",
    "[evil.example]:80",
    "[::1].evil.example",
    "localhost:80:evil.example",
    "2130706433.evil.example",
    "0.0.0.0:80",
    "",
]


@pytest.mark.parametrize("bound", ["127.0.0.1", "localhost", "LOCALHOST", "127.0.0.2", "::1"])
def test_a_page_of_another_name_is_refused(bound: str):
    """DNS rebinding: the name of a web page elsewhere points to this machine's loopback device."""
    hub = MetricsServer(host=bound)
    try:
        for host in REBOUND:
            for path in ("/", "/metrics", "/metrics.json", "/drawings"):
                assert status(hub, path, host) == 403, host
        own = ["127.0.0.1", "localhost", "LocalHost", f"localhost:{hub.port}", "127.9.9.9:1"]
        for host in (*own, f"[::1]:{hub.port}", "[::1]", hub.url.removeprefix("http://")):
            assert status(hub, "/metrics.json", host) == 200, host
    finally:
        hub.close()


def test_who_serves_everyone_is_asked_by_any_name():
    hub = MetricsServer(host="0.0.0.0")
    assert status(hub, "/metrics.json", "job.example:9000") == 200
    hub.close()


def status(hub: MetricsServer, path: str, host: str) -> int:
    """Of a request with this Host header, as a browser would send it."""
    there = "127.0.0.1" if hub.url.startswith("http://0.") else urlsplit(hub.url).hostname
    connection = HTTPConnection(there, hub.port, timeout=PATIENCE_S)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host)
    connection.endheaders()
    found = connection.getresponse().status
    connection.close()
    return found


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(HamletError, match=f"cannot serve metrics on 127.0.0.1:{port}"):
            MetricsServer(port)
