"""The driver is killed at random moments, and the same command goes on."""

import random
import signal
import time

from cluster.faults import stream
from cluster.faults.command import Command

EPOCH_S = 1.5


def killed(command: Command, times: int, seed: int) -> None:
    """So many times, each time while it has files to read."""
    chance = random.Random(seed)
    each = (stream.FILES - 5) // (times + 1)
    for life in range(times):
        command.fill(life * each, (life + 1) * each)
        command.start()
        command.next_epoch()
        time.sleep(chance.uniform(0, EPOCH_S))
        command.kill()
    command.fill(times * each, stream.FILES)


def test_killed_and_interrupted(command, undisturbed):
    killed(command, 5, seed=10)
    command.start()
    command.next_epoch()
    assert command.signal(signal.SIGINT) == 130, command.said
    assert f"the same command resumes from {command.checkpoint}" in command.said
    assert command.files() < stream.FILES

    command.start()
    command.all_files()
    assert command.signal(signal.SIGTERM) == 0, command.said
    assert stream.written(command.output) == undisturbed
    hidden = [path for path in command.folder.rglob(".*") if path.is_file()]
    assert hidden == []


def test_killed_while_it_starts(command, undisturbed):
    chance = random.Random(20)
    command.fill(0, stream.FILES)
    for _ in range(2):
        command.start()
        time.sleep(chance.uniform(5, 25))
        command.kill()
    command.start()
    command.all_files()
    assert command.signal(signal.SIGTERM) == 0, command.said
    assert stream.written(command.output) == undisturbed
