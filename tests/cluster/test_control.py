"""`hamlet query` and a job, while the actor between them dies and forgets everything."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest
import ray

from actors.control import KEPT_ANSWERS, PREFIX
from cluster.faults import processes
from hamlet.job import control_client, job_registry
from hamlet.job.control_client import ControlClient
from hamlet.job.control_server import ControlServer
from hamlet.job.job_registry import Job
from pipeline.records import COLUMNS
from runtime.errors import HamletError
from runtime.language.parser import parse
from runtime.pipeline.aggregation import WorkloadChange
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from tools.patience import PATIENCE_S

FIRST = "QUERY first RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 4 seconds\n"
SECOND = FIRST.replace("first", "second")
BOUND = BoundWorkload(parse(FIRST), InputFormat(columns=COLUMNS), "float")


class Conversation:
    """Both ends of it, and the actor between them."""

    def __init__(self) -> None:
        name = uuid4().hex
        self.job = Job(name, os.getpid())
        before = set(processes.of("control"))
        self.server = ControlServer(name)
        self.actor = ray.get_actor(PREFIX + name)
        self.client = ControlClient(self.job, self.actor)
        ray.get(self.actor.status.remote())
        (self.pid,) = set(processes.of("control")) - before

    def forget(self) -> None:
        """Returns when the actor is there again."""
        processes.kill(self.pid)
        wait_for(lambda: self.pid not in processes.of("control"))
        assert ray.get(self.actor.answer.remote("any")) is None

    def request(self, question: object) -> str:
        number = uuid4().hex
        ray.get(self.actor.request.remote(number, question))
        return number

    def next(self) -> WorkloadChange:
        until = time.monotonic() + PATIENCE_S
        while (change := self.server.next(BOUND)) is None:
            assert time.monotonic() < until
            time.sleep(0.01)
        return change

    def answer(self, number: str) -> dict | None:
        """While the job asks for requests, as it always does."""
        until = time.monotonic() + PATIENCE_S
        while (found := ray.get(self.actor.answer.remote(number))) is None:
            assert self.server.next(BOUND) is None
            assert time.monotonic() < until
            time.sleep(0.01)
        return found


@pytest.fixture
def control(cluster) -> Iterator[Conversation]:
    found = Conversation()
    with job_registry.registered(found.job):
        yield found
    found.server.close()


def wait_for(done: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_request_is_lost(control: Conversation, monkeypatch):
    """The client repeats it."""
    monkeypatch.setattr(control_client, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(control_client, "CHANGE_SECONDS", PATIENCE_S)
    waits = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(control.client.change, {"add": SECOND}, lambda _: waits.set())
        assert waits.wait(PATIENCE_S)
        control.forget()
        change = control.next()
        control.server.committed(replace(change, since=7), 3)
        answer = asked.result(PATIENCE_S)
    assert answer == {"added": ["second"], "removed": [], "since": 7, "epoch": 3}


def test_an_answer_is_lost(control: Conversation):
    """The change is not made again, and the answer comes again."""
    number = control.request({"add": SECOND})
    control.server.committed(control.next(), 3)
    wait_for(lambda: ray.get(control.actor.answer.remote(number)))
    control.forget()
    ray.get(control.actor.request.remote(number, {"add": SECOND}))
    answer = control.answer(number)
    assert answer is not None
    assert answer["epoch"] == 3


def test_a_request_is_repeated_while_its_change_is_made(control: Conversation):
    number = control.request({"add": SECOND})
    change = control.next()
    ray.get(control.actor.request.remote(number, {"add": SECOND}))
    other = control.request({"remove": ["nobody"]})
    assert "error" in (control.answer(other) or {})
    control.server.committed(change, 3)
    assert (control.answer(number) or {})["epoch"] == 3


def test_answers_do_not_pile_up(control: Conversation):
    numbers = [control.request({"remove": ["nobody"]}) for _ in range(KEPT_ANSWERS + 50)]
    control.answer(numbers[-1])
    assert ray.get(control.actor.answer.remote(numbers[0])) is None
    assert ray.get(control.actor.answer.remote(numbers[50])) is not None


@pytest.mark.parametrize(
    "question",
    [
        {},
        None,
        [],
        {"remove": None},
        {"remove": "first"},
        {"remove": [1]},
        {"add": 7},
        {"add": SECOND, "file": 3},
    ],
)
def test_an_unexpected_question(control: Conversation, question: object):
    """The job refuses it and goes on."""
    answer = control.answer(control.request(question))
    assert answer is not None
    assert isinstance(answer["error"], HamletError)
    assert control.answer(control.request({"remove": ["nobody"]})) is not None
