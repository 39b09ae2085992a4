"""What the hub gives a browser: one page, and a policy that lets nothing else run."""

import json
import re
import urllib.request
from collections.abc import Iterator
from email.message import Message

import pytest

from hamlet import parse
from metrics.example_job import HOSTILE, after_epoch, collector, replanned
from runtime.metrics.http_server import MetricsServer
from runtime.metrics.web.live_page import live_page
from runtime.plan.explain.live import MOST_QUERIES, MOST_STEPS, drawings
from tools.patience import PATIENCE_S

QUERIES = ("one", "two", "three")


@pytest.fixture
def hub() -> Iterator[MetricsServer]:
    found = MetricsServer()
    yield found
    found.close()


def asked(url: str) -> tuple[str, Message]:
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        return answer.read().decode(), answer.headers


def test_the_page_is_one_file_with_a_strict_policy(hub: MetricsServer):
    text, headers = asked(hub.url + "/")
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert text == live_page().text
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.search(r"script-src 'sha256-[^' ]+';", policy)
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert not re.search(r'(src|href)="(http|//)', text)
    assert not re.search(r' (on\w+|style)="', text)
    for never in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert never not in text


def test_answers_that_are_no_pages_may_do_nothing(hub: MetricsServer):
    for path in ("/metrics.json", "/drawings"):
        assert asked(hub.url + path)[1]["Content-Security-Policy"].startswith("default-src 'none'")


def test_pictures_are_asked_for_when_their_mark_changes(hub: MetricsServer):
    kept = collector(QUERIES)
    hub.update(after_epoch(kept, 0, QUERIES))
    before = json.loads(asked(hub.url + "/metrics.json")[0])["drawings"]
    kept.set_drawings({"one +2": "<svg/>"})
    hub.update(after_epoch(kept, 1, QUERIES))
    after = json.loads(asked(hub.url + "/metrics.json")[0])["drawings"]
    assert before != after
    assert json.loads(asked(hub.url + "/drawings")[0]) == {"one +2": "<svg/>"}


def test_facts_say_why(hub: MetricsServer):
    hub.update(replanned(after_epoch(collector(QUERIES), 0, QUERIES), 1.0, "rates"))
    (shared, split) = json.loads(asked(hub.url + "/metrics.json")[0])["log"]
    assert shared["why"]["sentences"][0] == "A burst of 5 events of type B, for 3 queries."
    assert "So it was split: every query was evaluated separately." in split["why"]["sentences"]


# ---- pictures ------------------------------------------------------------------------------


def workload(*patterns: str):
    return parse(
        "\n".join(
            f"QUERY q{n} RETURN COUNT(*) PATTERN {pattern} WITHIN 10 seconds"
            for n, pattern in enumerate(patterns, start=1)
        )
    )


def test_a_picture_for_each_share_group_with_what_can_be_lit():
    found = drawings(workload("SEQ(A, B+)", "SEQ(C, B+)", "SEQ(A, X)"), None)
    (name, svg) = next(iter(found.items()))
    assert name.startswith("q1 +")
    assert re.search(r'data-into="B" data-queries="2"', svg), "the loop of B, for both queries"
    assert "<style" not in svg
    assert json.loads(re.search(r"data-names='([^']*)'", svg)[1])[:2] == ["q1", "q2"]


def test_names_in_pictures_are_escaped():
    quoted = HOSTILE.replace('"', "'")
    (svg,) = drawings(workload(f'SEQ(A, "{quoted}"+)'), None).values()
    assert "<img" not in svg
    assert "&lt;img" in svg


def test_what_nobody_could_read_is_not_drawn():
    many = [f"SEQ(A{n}, B{n}, C+)" for n in range(MOST_STEPS)]
    assert drawings(workload(*many), None) == {}
    assert drawings(workload(*["SEQ(A, B+)"] * (MOST_QUERIES + 1)), None) == {}
    assert len(drawings(workload(*["SEQ(A, B+)"] * 100), None)) == 1
