"""Where actors begin, on a cluster with a head that has no cores."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import ray
from ray.cluster_utils import Cluster
from actors.actor_pool import WORKER, ActorPool

cluster = Cluster()
head = cluster.add_node(num_cpus=0)
workers = {cluster.add_node(num_cpus=1, resources={WORKER: 1}).node_id for _ in range(2)}
cluster.wait_for_nodes()
ray.init(address=cluster.address)
actor_pool = ActorPool(2, 4)
where = lambda actor: ray.get_runtime_context().get_node_id()
found = ray.get([each.__ray_call__.remote(where) for each in actor_pool.routers])
assert set(found) <= workers, (found, workers, head.node_id)
assert len(found) == 4
actor_pool.close()
ray.shutdown()
cluster.shutdown()
print("all routers began on workers")
"""

# A head, then a job, and only then a worker.
LATER = """
import subprocess, sys
from ray.cluster_utils import Cluster
from actors.actor_pool import WORKER

cluster = Cluster()
cluster.add_node(num_cpus=0)
command = [sys.executable, "-c", sys.argv[1], cluster.address, sys.argv[2]]
job = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
try:
    for line in job.stderr:
        print(line, end="", file=sys.stderr)
        if "free cores" in line:
            break
    cluster.add_node(num_cpus=3, resources={WORKER: 1})
    print(job.stderr.read(), file=sys.stderr)
    job.wait()
finally:
    job.kill()
    cluster.shutdown()
"""

# In place of Spark stands what looks at where routers are, and asks for room that is not there.
JOB = """
import sys, time
import ray
from ray._private import state
from hamlet.cli.commands import app
from spark_ingest.session import SessionStart

def look(*_, **__):
    found = []
    while len(found) < 2:
        time.sleep(0.2)
        actors = [each for each in state.actors().values() if each["State"] == "ALIVE"]
        found = [a["Address"]["NodeID"] for a in actors if a["ActorClassName"] == "Router"]
    head = ray.get_runtime_context().get_node_id()
    print("routers on", "the head" if head in found else "workers", flush=True)
    ask()
    raise SystemExit

def ask():
    from actors.placement import ResourceRequest, wait_for_resources
    from runtime.errors import HamletError

    told = []
    try:  # two of the cores are aggregators'
        wait_for_resources(ResourceRequest([{"CPU": 2}], "two"), told.append, limit_s=2)
    except HamletError as error:
        print(*told, error.render(), sep="\\n")
    wait_for_resources(ResourceRequest([{"CPU": 1}], "one"), told.append, limit_s=300)
    print("room for another")

SessionStart.begin = SessionStart.wait_for_master = lambda *_: None
SessionStart.wait = look
app(
    ["run", "examples/ridesharing/workload.sase", "--address", sys.argv[1], "--checkpoint"]
    + [sys.argv[2], "--input", "generate:ridesharing?events=100&seed=1", "--spark-cores", "1"]
)
"""


def test_routers_begin_on_workers() -> None:
    root = Path(__file__).parents[2]
    told = {"capture_output": True, "text": True, "timeout": 500}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], check=False, cwd=root, **told)
    assert "all routers began on workers" in ran.stdout, ran.stderr[-3_000:]


def test_a_job_waits_for_workers(tmp_path) -> None:
    root = Path(__file__).parents[2]
    told = {"capture_output": True, "text": True, "timeout": 500}
    command = [sys.executable, "-c", LATER, JOB, str(tmp_path)]
    ran = subprocess.run(command, check=False, cwd=root, **told)
    assert "routers on workers" in ran.stdout, ran.stdout + ran.stderr[-3_000:]
    # What it waited for, and that it stops waiting for more than there is.
    waited = "waiting for 3 free cores (2 for --actors, 1 with 1g for each executor of Spark)"
    assert f"{waited}; the cluster has 0 of 0 cores" in " ".join(ran.stderr.split())
    assert "waiting for 2 free cores (two); the cluster has 1 of 3 cores" in ran.stdout
    assert "but after 2 s there are" in ran.stdout
    assert "room for another" in ran.stdout
