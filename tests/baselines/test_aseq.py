"""What A-Seq keeps."""

from baselines.sequences import long_stream
from benchmarks.baselines.aseq import ASeq
from benchmarks.baselines.aseq_start import ASeqStart
from benchmarks.baselines.same import different
from engine.judge import parsed
from engine.streams import stream


def test_keeps_a_counter_for_each_prefix_of_each_flattened_sequence() -> None:
    query = "RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 us"
    prepared = ASeq().prepare(parsed(query), stream("a1 b2 b3 b4"))
    (answer,) = prepared.run().values()
    assert answer["COUNT(*)"].to_pylist() == [7.0]
    assert prepared.state_bytes == 8 * (2 + 3 + 4)


def test_to_the_letter_it_keeps_a_counter_for_each_start_event_too() -> None:
    """Sequences A B, A B B and A B B B, of two START events; and a final count for the window."""
    query = "RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 us"
    prepared = ASeqStart().prepare(parsed(query), stream("a1 b2 a3 b4 b5"))
    (answer,) = prepared.run().values()
    assert answer["COUNT(*)"].to_pylist() == [10.0]
    assert prepared.state_bytes == 8 * (2 * (1 + 2 + 3) + 1)


def test_to_the_letter_start_events_expire() -> None:
    """Room for START events is used again, and what is not expired is not lost."""
    query = parsed(
        "RETURN COUNT(*), SUM(A.x), MIN(B.x) PATTERN SEQ(A, B, C) WITHIN 19 us SLIDE 4 us"
    )
    table = long_stream(3_000).drop_columns("key")
    found, wanted = (each.prepare(query, table).run() for each in (ASeqStart(), ASeq()))
    assert len(wanted["q1"]) > 250
    assert different(query, found, wanted) is None
