"""What A-Seq keeps."""

from benchmarks.baselines.aseq import ASeq
from engine.judge import parsed
from engine.streams import stream


def test_keeps_a_counter_for_each_prefix_of_each_flattened_sequence() -> None:
    query = "RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 us"
    prepared = ASeq().prepare(parsed(query), stream("a1 b2 b3 b4"))
    (answer,) = prepared.run().values()
    assert answer["COUNT(*)"].to_pylist() == [7.0]
    assert prepared.state_bytes == 8 * (2 + 3 + 4)
