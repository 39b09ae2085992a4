"""Rows that were read are lost from the object store before aggregators have taken them."""

import random
import time
from unittest.mock import patch

import ray
from ray.exceptions import OwnerDiedError

from cluster.faults.job import Jobs, RecordingScreen
from cluster.faults.stream import written
from hamlet.job.epoch_reader import EpochReader

FILES = 10
# So large that no portion travels within the call.
ROWS = 12_000
TIMES = 4


def lost(portion):
    """The same rows, in the care of somebody who has died."""

    class Keeper:
        def keep(self, rows):
            return [ray.put(rows)]

    keeper = ray.remote(num_cpus=0)(Keeper).remote()
    found = ray.get(keeper.keep.remote(portion))[0]
    ray.kill(keeper)
    while _is_there(found):
        time.sleep(0.05)
    return found


def _is_there(ref):
    try:
        ray.get(ref)
    except OwnerDiedError:
        return False
    return True


def test_lost_portions_are_read_again(cluster, spark, tmp_path):
    job = Jobs(cluster, spark, tmp_path, FILES, ROWS)
    calm = job.elsewhere()
    calm.fill()
    calm.run(RecordingScreen())
    job.fill()
    chance, losses, seen = random.Random(7), [], RecordingScreen()
    route = EpochReader.route

    def losing(self, parked):
        found = route(self, parked)
        if len(losses) < TIMES and found.rows > 1 and chance.random() < 0.5:
            block = chance.choice(found.portions)
            place = chance.randrange(len(block))
            block[place] = lost(block[place])
            losses.append(found.range)
        return found

    with patch.object(EpochReader, "route", losing):
        job.run(seen)
    assert len(losses) == TIMES
    assert len(seen.troubles) == TIMES
    assert written(job.output) == written(calm.output)
