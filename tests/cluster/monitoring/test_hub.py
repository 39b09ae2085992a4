"""A hub that is killed comes back on the same port, and nothing is lost."""

from __future__ import annotations

import os

from cluster import proc
from cluster.faults import processes
from cluster.monitoring import rides
from cluster.monitoring.job import assert_agrees, scrape, values

KIND = "ray::MetricsHubActor"


def test_killed(job):
    one = job("killed", rides.SHARING)
    tables = rides.files(6)
    others = hubs()
    for number, table in enumerate(tables[:3]):
        rides.put(one.input, number, table)
    one.start()
    one.wait(lambda: one.rows == 3 * rides.ROWS)
    one.wait(lambda: counted(one.url) == 3 * rides.ROWS)
    (hub,) = hubs() - others
    processes.kill(hub)
    # Nothing is read in the meantime: it is told again how things stand.
    one.wait(lambda: hubs() - others - {hub})
    one.wait(lambda: counted(one.url) == 3 * rides.ROWS)
    for number, table in enumerate(tables[3:], 3):
        rides.put(one.input, number, table)
    one.wait(lambda: one.rows == 6 * rides.ROWS)
    assert_agrees(one, one.stop())
    assert one.troubles == []


def hubs() -> set[int]:
    return {pid for pid in proc.tree(os.getpid()) if KIND in processes.command(pid)}


def counted(url: str) -> float | None:
    try:
        return values(scrape(url)).get("hamlet_rows_total")
    except OSError:  # it is away
        return None
