"""What Spark's thread and the driver do with a batch, in every order."""

import threading
from typing import Any

import pytest

from spark_ingest.sources.batch_handover import BatchHandover, BatchNotCommitted
from tools.patience import PATIENCE_S

FRAME: Any = object()


class Offer(threading.Thread):
    """Spark's thread. `refused` is the error that Spark gets."""

    def __init__(self, handover: BatchHandover, number: int) -> None:
        super().__init__(daemon=True)
        self.refused: BatchNotCommitted | None = None
        self._handover, self._number = handover, number
        self.start()

    def run(self) -> None:
        try:
            self._handover.offer(FRAME, self._number)
        except BatchNotCommitted as error:
            self.refused = error

    def end(self) -> None:
        self.join(PATIENCE_S)
        assert not self.is_alive()


def await_batch(handover: BatchHandover, after: int):
    ready = threading.Event()
    for _ in range(int(PATIENCE_S / 0.01)):
        found = handover.after(after)
        if found is not None:
            return found
        ready.wait(0.01)
    raise AssertionError("no batch")


def test_spark_waits_until_the_batch_is_committed():
    handover = BatchHandover(-1)
    spark = Offer(handover, 0)
    batch = await_batch(handover, -1)
    assert (batch.number, batch.frame) == (0, FRAME)
    assert handover.after(0) is None  # it is in flight
    handover.commit(-1)  # an epoch without rows
    spark.join(0.05)
    assert spark.is_alive()
    handover.commit(0)
    spark.end()
    assert spark.refused is None
    assert handover.after(-1) is None
    assert handover.committed == 0


@pytest.mark.parametrize("number", [0, 4, 5])
def test_batch_that_was_committed_before_spark_knew_is_skipped(number):
    handover = BatchHandover(5)
    spark = Offer(handover, number)
    spark.end()
    assert spark.refused is None
    assert handover.after(4) is None


def test_skipped_even_after_the_end():
    """The job has it, so Spark may commit it."""
    handover = BatchHandover(5)
    handover.close()
    spark = Offer(handover, 5)
    spark.end()
    assert spark.refused is None


def test_gap():
    handover = BatchHandover(5)
    spark = Offer(handover, 7)
    spark.end()
    assert "Spark is at batch 7, but the job has committed 5" in str(spark.refused)


def test_job_ends_before_the_batch_is_committed():
    handover = BatchHandover(2)
    spark = Offer(handover, 3)
    await_batch(handover, 2)
    handover.close()
    spark.end()
    assert "the job has not committed batch 3" in str(spark.refused)


def test_job_commits_the_batch_and_ends_at_once():
    handover = BatchHandover(2)
    spark = Offer(handover, 3)
    await_batch(handover, 2)
    handover.commit(3)
    handover.close()
    spark.end()
    assert spark.refused is None


def test_no_batch_is_taken_after_the_end():
    handover = BatchHandover(2)
    handover.close()
    spark = Offer(handover, 3)
    spark.end()
    assert spark.refused is not None
    assert handover.after(2) is None


def test_failed_query_offers_the_batch_again():
    """The thread of the query that failed is gone, and so is its frame."""
    handover = BatchHandover(-1)
    first = Offer(handover, 0)
    await_batch(handover, -1)
    handover.commit(0)
    first.end()
    for _ in range(2):
        again = Offer(handover, 0)
        again.end()
        assert again.refused is None
    second = Offer(handover, 1)
    assert await_batch(handover, 0).number == 1
    handover.commit(1)
    second.end()
