"""What Prometheus is told is what the run has counted and written, to the last row."""

from __future__ import annotations

import subprocess

from cluster.monitoring import rides
from cluster.monitoring.job import (
    Job,
    assert_agrees,
    assert_counted,
    assert_written,
    by,
    scrape,
    values,
)
from tools.prometheus import programs


def test_a_stopped_job(watched):
    counts = watched.counts
    assert_agrees(watched.job, counts)
    assert counts.late > 0
    assert counts.dead.total() > 0
    assert set(by(watched.job.scraped, "hamlet_results_total", "query")) >= {"added", "drives"}
    assert by(watched.job.scraped, "hamlet_restarts_total", "part")["aggregator"] == 1


def test_promtool_likes_the_metrics(watched):
    done = subprocess.run(
        [programs()[1], "check", "metrics"],
        input=watched.job.scraped,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_two_jobs_that_end(prometheus, job):
    """Side by side, each with its own queries and rows. Prometheus has the totals of both."""

    def scraped(one: Job) -> None:
        of = f'{{hamlet_job="{one.name}"}}'
        one.wait(lambda: prometheus.value(f"hamlet_rows_total{of}") == one.rows)

    first = job("first", rides.SHARING, follow=False, last=scraped)
    second = job("second", rides.MORE, follow=False, last=scraped)
    for one, files in ((first, rides.files(4, seed=5)), (second, rides.files(3, seed=6))):
        for number, table in enumerate(files):
            rides.put(one.input, number, table)
        one.start()
    first.wait(lambda: first.url and second.url)
    assert first.url != second.url
    prometheus.watch(first.url, second.url)
    counts = {one.name: one.end() for one in (first, second)}
    for one in (first, second):
        assert one.outcome is not None
        assert one.outcome.finished
        assert_agrees(one, counts[one.name])
    assert counts["first"].rows == 4 * rides.ROWS
    assert counts["second"].rows == 3 * rides.ROWS
    assert set(by(second.scraped, "hamlet_results_total", "query")) == {"added"}


def test_a_job_that_goes_on(job):
    """From a checkpoint: totals are those of all runs, before it has read anything."""
    tables = rides.files(4)
    one = job("goes-on", rides.SHARING)
    for number, table in enumerate(tables[:2]):
        rides.put(one.input, number, table)
    one.start()
    one.wait(lambda: one.rows == 2 * rides.ROWS)
    before = one.stop()
    again = job("goes-on", rides.SHARING)
    again.start()
    again.wait(lambda: again.url and scrape(again.url))
    text = scrape(again.url)
    assert values(text)["hamlet_epochs_total"] == 0
    assert_counted(text, before)
    for number, table in enumerate(tables[2:], 2):
        rides.put(again.input, number, table)
    again.wait(lambda: again.rows == 4 * rides.ROWS)
    after = again.stop()
    assert after.rows == 4 * rides.ROWS
    assert_counted(again.scraped, after)
    assert_written(again.scraped, again.output)
