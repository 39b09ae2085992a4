"""Wrong values are refused, in words that say where and what would be right."""

import pytest

from tools.kubernetes import CHART, run_helm

pytestmark = pytest.mark.usefixtures("chart_tools")
LAPTOP = CHART / "examples" / "laptop.yaml"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("mode=streaming", "at '/mode': value must be one of 'stream', 'batch'"),
        ("workers.replica=3", "at '/workers': additional properties 'replica' not allowed"),
        ("Workers.replicas=3", "additional properties 'Workers' not allowed"),
        ("workers.replicas=0", "at '/workers/replicas': minimum: got 0, want 1"),
        ("workers.replicas=many", "at '/workers/replicas': got string, want integer"),
        ("workers.cpu=500m", "at '/workers/cpu': '500m' does not match pattern"),
        ("workers.memory=4", "at '/workers/memory': got number, want string"),
        ("workers.memory=4GB", "'4GB' does not match pattern '^[1-9][0-9]*(Mi|Gi|Ti)$'"),
        ("head.cpu=two", "at '/head/cpu': 'two' does not match pattern"),
        ("job.actors=0", "at '/job/actors': minimum: got 0, want 1"),
        ("job.actors=1.5", "at '/job/actors': got string, want integer"),
        ("job.sparkMemory=1Gi", "'1Gi' does not match pattern '^[1-9][0-9]*[mg]$'"),
        ("job.planner=best", "one of 'auto', 'greedy', 'sharon', 'gloria', 'none'"),
        ("job.sharing=sometimes", "value must be one of 'dynamic', 'always', 'never'"),
        ("job.drainSeconds=0", "at '/job/drainSeconds': minimum: got 0, want 5"),
        ("input.timeUnit=min", "at '/input/timeUnit': value must be one of 's', 'ms', 'us'"),
        ("input.lateness=soon", "at '/input/lateness': 'soon' does not match pattern"),
        ("output.uri=results", "at '/output/uri': 'results' does not match pattern '^(/|kafka://)"),
        ("output.format=xml", "at '/output/format': value must be one of 'parquet', 'json', 'csv'"),
        ("image.digest=sha256:12", "at '/image/digest': 'sha256:12' does not match pattern"),
        ("image.pullPolicy=Sometimes", "one of 'Always', 'IfNotPresent', 'Never'"),
        ("metrics.port=80", "at '/metrics/port': minimum: got 80, want 1,024"),
        ("metrics.podMonitor.enabled=maybe", "at '/metrics/podMonitor/enabled': got string"),
        ("fullnameOverride=My_Rides", "at '/fullnameOverride': 'My_Rides' does not match pattern"),
        ("security.userId=0", "at '/security/userId': minimum: got 0, want 1"),
        ("checkpoint.claim.accessMode=Many", "one of 'ReadWriteMany', 'ReadWriteOnce'"),
        ("ray.redis.address=redis", "at '/ray/redis/address': 'redis' does not match pattern"),
        ("env[0].value=x", "at '/env/0': missing property 'name'"),
        # What the schema cannot say.
        ("workload.queries=", "There are no queries: set workload.queries"),
        ("workload.existingConfigMap=q", "workload.existingConfigMap exclude each other"),
        ("input.uri=", "There is no input: set input.uri, such as kafka://broker:9092/rides"),
        ("checkpoint.claim.create=false", "The state has no place: set checkpoint.uri"),
        ("job.actors=2", "The job needs 3 cores"),
        ("job.sparkCores=3", "raise workers.replicas (with autoscaling its maxReplicas)"),
        (
            "workers.autoscaling.enabled=true,workers.autoscaling.minReplicas=9",
            "workers.autoscaling.minReplicas is 9 and maxReplicas is 4",
        ),
        ("workers.replicas=9,job.sparkCores=3", "An executor of Spark wants 3 cores on one worker"),
        # Cores enough, but Ray spreads the aggregators, and leaves one core of each worker.
        ("workers.replicas=2,job.actors=2,job.sparkCores=2", "up to 1 of them are for aggregators"),
        ("job.sparkMemory=4g", "An executor of Spark wants 4g of memory, and a worker has 4Gi"),
        ("metrics.port=8265", "metrics.port is 8265, where Ray listens itself"),
        ("output.uri=/data/results", "output.uri is /data/results, which is on no volume"),
        ("output.uri=/var/lib/hamlets", "output.uri is /var/lib/hamlets, which is on no volume"),
        ("checkpoint.uri=/data/state", "checkpoint.uri is /data/state, which is on no volume"),
        (
            "checkpoint.uri=s3://bucket/state,checkpoint.claim.create=false",
            "output.uri is /var/lib/hamlet/results, which is on no volume",
        ),
    ],
)
def test_refused(wrong, said):
    done = run_helm("template", "rides", CHART, "-f", LAPTOP, "--set", wrong)
    assert done.returncode != 0
    assert said in done.stderr


@pytest.mark.parametrize(
    "right",
    [
        "workers.cpu=4",
        "head.cpu=1500m",
        "ray.redis.address=rediss://redis:6379",
        "global.a=b",
        "workers.replicas=1,workers.cpu=4,job.actors=2,job.sparkCores=2",
        "job.sparkMemory=4095m",
        "output.uri=/data/results,volumeMounts[0].name=data,volumeMounts[0].mountPath=/data/",
        "output.uri=kafka://kafka:9092/out,checkpoint.uri=s3://b/s,checkpoint.claim.create=false",
    ],
)
def test_not_refused(right):
    done = run_helm("template", "rides", CHART, "-f", LAPTOP, "--set", right)
    assert done.returncode == 0, done.stderr
