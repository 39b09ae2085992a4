"""Sends a small workload to the cluster and checks its result, and that the job can be looked at.

Stands by itself, so that it runs wherever Hamlet is installed: RAY_API_SERVER_ADDRESS is the
cluster's dashboard, HAMLET_METRICS the metrics of the release's own job.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

QUERY = """QUERY ride
RETURN COUNT(*) AS n, SUM(T.speed) AS total
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WITHIN 10 minutes
"""
EVENTS = "time,type,speed\n1,Request,\n2,Travel,10\n3,Travel,20\n4,Dropoff,\n"
# The trends are 10, 20, and 10 with 20.
WANTED = {"n": 3, "total": 60}
# Each of submission, workload and job has some minutes: `helm test --timeout 12m`.
PATIENCE_S = 300
IDLE_S = 60
PAUSE_S = 2.0


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "ride.sase").write_text(QUERY)
        Path(folder, "ride.csv").write_text(EVENTS)
        # In the process of the job, so that it needs no core that the release's own job has.
        options = ["--input", "ride.csv", "--engine", "local", "--format", "json", "--quiet"]
        command = ["hamlet", "submit", "--wait", "5m", "--working-dir", folder, "--quiet"]
        done = subprocess.run(
            [*command, "--", "run", "ride.sase", *options],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        sys.exit(f"the workload failed with {done.returncode}:\n{done.stdout}")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = [{name: row.get(name) for name in WANTED} for row in rows]
    if found != [WANTED]:
        sys.exit(f"the result is {found}, and should be {[WANTED]}")
    print("the workload gave the right result")
    print(looked_at())


def looked_at() -> str:
    """What the release's job has done, which may still be starting. One that has something to read
    must commit an epoch of it; one whose input is idle need only answer, and say so for a while,
    since one that starts looks the same."""
    url, began = os.environ["HAMLET_METRICS"], time.monotonic()
    idle_since = None
    while True:
        waited = time.monotonic() - began
        try:
            epochs, waiting = counted(url)
        except OSError as error:
            idle_since, found = None, f"the job does not answer at {url}: {error}"
        else:
            if epochs:
                return f"the job has committed {epochs:.0f} epochs"
            found = "the job reads, and has committed no epoch"
            if waiting:
                idle_since = None
            elif idle_since is None:
                idle_since = waited
            elif waited - idle_since >= IDLE_S:
                return "the job answers, and its input is idle: there is no epoch to commit"
        if waited > PATIENCE_S:
            sys.exit(f"{found}, for {PATIENCE_S} s")
        time.sleep(PAUSE_S)


def counted(url: str) -> tuple[float, float]:
    """Epochs that are committed; and what waits: epochs on their way, and input."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        lines = answer.read().decode().splitlines()

    def total(*names: str) -> float:
        found = [line for line in lines if re.split(r"[ {]", line, maxsplit=1)[0] in names]
        return sum(float(line.split()[-1]) for line in found)

    return total("hamlet_epochs_total"), total("hamlet_epochs_in_flight", "hamlet_backlog")


if __name__ == "__main__":
    main()
