"""Where actors begin, on a cluster with a head that has no cores."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import ray
from ray.cluster_utils import Cluster
from actors.crew import WORKER, Crew

cluster = Cluster()
head = cluster.add_node(num_cpus=0)
workers = {cluster.add_node(num_cpus=1, resources={WORKER: 1}).node_id for _ in range(2)}
cluster.wait_for_nodes()
ray.init(address=cluster.address)
crew = Crew(2, 4)
where = lambda actor: ray.get_runtime_context().get_node_id()
found = ray.get([each.__ray_call__.remote(where) for each in crew.routers])
assert set(found) <= workers, (found, workers, head.node_id)
assert len(found) == 4
crew.close()
ray.shutdown()
cluster.shutdown()
print("all routers began on workers")
"""


def test_routers_begin_on_workers() -> None:
    root = Path(__file__).parents[2]
    told = {"capture_output": True, "text": True, "timeout": 240}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], check=False, cwd=root, **told)
    assert "all routers began on workers" in ran.stdout, ran.stderr[-3_000:]
