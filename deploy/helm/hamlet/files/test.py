"""Sends a small workload to the cluster and checks its result, and that the job can be looked at.

Stands by itself, so that it runs wherever Hamlet is installed: RAY_API_SERVER_ADDRESS is the
cluster's dashboard, HAMLET_METRICS the metrics of the release's own job.
"""

import json
import os
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
PATIENCE_S = 300


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
    print(f"the job has committed {committed():.0f} epochs")


def committed() -> float:
    """Epochs of the release's job, which may still be starting."""
    url, until = os.environ["HAMLET_METRICS"], time.monotonic() + PATIENCE_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                lines = answer.read().decode().splitlines()
            return sum(
                float(line.split()[-1]) for line in lines if line.startswith("hamlet_epochs_total")
            )
        except OSError as error:
            if time.monotonic() > until:
                sys.exit(f"the job does not answer at {url}: {error}")
            time.sleep(2)


if __name__ == "__main__":
    main()
