"""`hamlet bench pipeline`: each of its measurements on a few events, on real processes."""

import pytest

from benchmarks import _aggregator_cpu, _cold_run, _driver_bytes, pipeline
from benchmarks import _pipeline as job
from benchmarks import _streams as streams

EVENTS = 5_000


def test_the_table_says_which_targets_are_met():
    found = dict.fromkeys(pipeline.TARGETS, 1.0) | {"events": 7}
    met = {row["measure"]: row["met"] for row in pipeline.table(found)}
    assert met == {
        "over_spark_sorting": "no",
        "over_spark_reading": "yes",
        "latency_over_spark_trigger": "yes",
        "cold_over_spark_alone": "yes",
        "driver_bytes_over_input": "no",
        "aggregator_cpu_dynamic_over_never": "yes",
        "aggregator_cpu_dynamic_over_always": "yes",
        "events": "",
    }


@pytest.mark.slow
def test_a_cold_run_and_spark_alone(tmp_path):
    data = job.written(tmp_path / "events", EVENTS, file_rows=EVENTS)
    found = _cold_run.measure(data, tmp_path, repeats=1)
    ours = [found[f"cold_seconds_to_{moment}"] for moment in ("start", "first_rows", "end")]
    alone = [found[f"spark_alone_seconds_to_{moment}"] for moment in ("start", "rows", "end")]
    for moments in (ours, alone):
        assert moments == sorted(moments)
        assert moments[0] > 0
    assert found["cold_over_spark_alone"] == ours[-1] / alone[-1]


@pytest.mark.slow
def test_the_driver_on_a_node_of_its_own(tmp_path):
    data = job.written(tmp_path / "events", EVENTS, file_rows=1_000)
    found = _driver_bytes.measure(data, tmp_path)
    assert found["driver_bytes_before_reading"] > 0
    assert found["driver_bytes"] > 0
    assert found["driver_bytes_of_results"] > 0
    assert found["driver_bytes_over_input"] == found["driver_bytes"] / found["input_bytes"]


@pytest.mark.slow
def test_throughput_and_what_sharing_saves(tmp_path):
    data = job.written(tmp_path / "events", EVENTS, file_rows=1_000)
    changing = job.stored(tmp_path / "changing", streams.changing(EVENTS, 10), 1_000)
    with job.started() as running:
        rates = pipeline._throughput(running, data, tmp_path, lambda text: None)
        spent = _aggregator_cpu.measure(running, changing, tmp_path, repeats=1)
    reading = rates["events_per_second_pipeline"] / rates["events_per_second_reading"]
    assert rates["over_spark_reading"] == reading
    for mode in _aggregator_cpu.MODES:
        assert spent[f"aggregator_cpu_seconds_{mode}"] > 0
    assert spent["optimizer_cpu_seconds_dynamic"] > 0
