"""Archives are fetched once, whole, and only if they are the right ones."""

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from runtime.errors import HamletError
from spark_ingest.jars import Jar, fetched

CONTENT = b"an archive"
JAR = Jar("org.some:thing:1.0", hashlib.sha256(CONTENT).hexdigest())


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def registry(tmp_path, monkeypatch):
    root = tmp_path / "registry"
    file = root / "org/some/thing/1.0/thing-1.0.jar"
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HAMLET_MAVEN", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("HAMLET_CACHE", str(tmp_path / "cache"))
    yield file
    server.shutdown()
    server.server_close()


def test_fetched_once_into_the_cache_folder(registry, tmp_path):
    (path,) = fetched([JAR])
    assert path == tmp_path / "cache" / "jars" / "thing-1.0.jar"
    registry.unlink()
    assert fetched([JAR]) == [path]
    assert [each.name for each in path.parent.iterdir()] == ["thing-1.0.jar"]


def test_what_was_damaged_is_fetched_again(registry):
    (path,) = fetched([JAR])
    path.write_bytes(b"an arch")
    assert fetched([JAR]) == [path]
    assert path.read_bytes() == CONTENT


def test_another_content_is_refused_and_not_kept(registry, tmp_path):
    registry.write_bytes(b"something else")
    with pytest.raises(HamletError, match="has changed"):
        fetched([JAR])
    assert list((tmp_path / "cache" / "jars").iterdir()) == []


def test_a_registry_out_of_reach_is_said_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("HAMLET_MAVEN", "http://127.0.0.1:9")
    monkeypatch.setenv("HAMLET_CACHE", str(tmp_path))
    with pytest.raises(HamletError) as caught:
        fetched([JAR])
    assert "cannot fetch http://127.0.0.1:9/org/some/thing/1.0/thing-1.0.jar" in str(caught.value)
    assert f"put thing-1.0.jar into {tmp_path / 'jars'}" in caught.value.hint
