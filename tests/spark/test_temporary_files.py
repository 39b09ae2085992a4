"""JVMs keep their temporary files in the folder of the job, which is removed after a kill too."""

import pytest

from actors.cluster import Cluster
from spark_ingest import session

MASTER = "spark.ray.raydp_app_master.extraJavaOptions"
EXECUTOR = "spark.executor.extraJavaOptions"
DRIVER = "spark.driver.extraJavaOptions"


@pytest.mark.parametrize(
    ("embedded", "inside"), [(True, {DRIVER, EXECUTOR, MASTER}), (False, {DRIVER})]
)
def test_only_a_jvm_of_this_machine_keeps_them_in_a_folder_of_it(embedded: bool, inside: set[str]):
    with Cluster(embedded) as cluster:
        settings = session._settings(cluster, session.SparkSize(), [])
        flag = f"-Djava.io.tmpdir={cluster.folder}/java"
        assert {name for name, value in settings.items() if flag in value.split()} == inside
        assert (cluster.folder / "java").is_dir(), "Java does not make it"
