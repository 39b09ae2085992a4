"""What Prometheus is told is what the run has counted and written, to the last row."""

from __future__ import annotations

import subprocess

from cluster.monitoring import rides
from cluster.monitoring.job import Job, assert_agrees, by, values
from tools.prometheus import programs


def test_a_stopped_job(watched):
    counts = watched.counts
    assert_agrees(watched.job, counts)
    assert counts.late > 0
    assert counts.dead.total() > 0
    assert set(by(watched.job.scraped, "hamlet_results_total", "query")) >= {"added", "drives"}
    assert values(watched.job.scraped)["hamlet_restarts_total"] == len(watched.job.troubles)


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
