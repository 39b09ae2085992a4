"""How many bytes an epoch reads depends on how long epochs take."""

from hamlet.job.epoch_pacing import BOUNDED_BYTES, LEAST_BYTES, MOST_BYTES, EpochPacer


def stages(**seconds: float) -> dict[str, float]:
    return {"spark": 0.1, "hand-over": 0.1, "compute": 0.1, "sink": 0.1, **seconds}


def test_quick_and_full_epochs_grow_up_to_a_limit():
    pacer = EpochPacer()
    limits = []
    for _ in range(6):
        pacer.adjust(pacer.limit, stages())
        limits.append(pacer.limit)
    assert limits[:2] == [2 * LEAST_BYTES, 4 * LEAST_BYTES]
    assert limits[-1] == MOST_BYTES


def test_an_epoch_that_was_not_full_does_not_grow():
    pacer = EpochPacer()
    pacer.adjust(pacer.limit // 2 - 1, stages())
    assert pacer.limit == LEAST_BYTES


def test_slow_epochs_shrink_down_to_a_limit():
    pacer = EpochPacer()
    pacer.limit = 4 * LEAST_BYTES
    pacer.adjust(pacer.limit, {**stages(spark=2.5), "hand-over": 2.0})  # reading is both
    assert pacer.limit == 2 * LEAST_BYTES
    for _ in range(3):
        pacer.adjust(pacer.limit, stages(compute=5.0))
    assert pacer.limit == LEAST_BYTES


def test_in_between_nothing_changes():
    pacer = EpochPacer()
    pacer.limit = 2 * LEAST_BYTES
    pacer.adjust(pacer.limit, stages(compute=2.0))
    assert pacer.limit == 2 * LEAST_BYTES


def test_epochs_of_a_bounded_input_are_large_from_the_start():
    pacer = EpochPacer(bounded=True)
    assert pacer.limit == BOUNDED_BYTES
    pacer.adjust(pacer.limit, stages(compute=60.0))
    assert pacer.limit == BOUNDED_BYTES
