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
        # A scheme that Arrow does not know, or only with libraries that the image does not have.
        (
            "checkpoint.uri=s3a://bucket/state",
            "at '/checkpoint/uri': 's3a://bucket/state' does not",
        ),
        ("checkpoint.uri=hdfs://name/state", "at '/checkpoint/uri': 'hdfs://name/state' does not"),
        # Lists are as closed as the rest.
        ("env[0].value=x", "at '/env/0': missing property 'name'"),
        ("env[0].name=A,env[0].vale=x", "at '/env/0': additional properties 'vale' not allowed"),
        ("env[0].name=A,env[0].value=1", "at '/env/0/value': got number, want string"),
        (
            "env[0].name=A,env[0].valueFrom.secretKeyRef.name=s",
            "at '/env/0/valueFrom/secretKeyRef': missing property 'key'",
        ),
        ("envFrom[0].secret.name=s", "at '/envFrom/0': additional properties 'secret' not allowed"),
        ("envFrom[0].secretRef.nam=s", "at '/envFrom/0/secretRef': "),
        ("volumes[0].emptyDir.medium=Memory", "at '/volumes/0': missing property 'name'"),
        ("volumeMounts[0].name=data", "at '/volumeMounts/0': missing property 'mountPath'"),
        (
            "volumeMounts[0].name=data,volumeMounts[0].mountPath=data",
            "at '/volumeMounts/0/mountPath': 'data' does not match pattern '^/'",
        ),
        ("head.tolerations[0].keyy=a", "at '/head/tolerations/0': additional properties 'keyy'"),
        ("workers.tolerations[0].effect=No", "at '/workers/tolerations/0/effect': value must be"),
        ("head.affinity.nodes=x", "at '/head/affinity': additional properties 'nodes' not allowed"),
        ("networkPolicy.egress[0].foo=1", "at '/networkPolicy/egress/0': additional properties"),
        ("networkPolicy.egress[0].to[0].podSelector.app=x", "/egress/0/to/0/podSelector': addit"),
        ("networkPolicy.metricsFrom[0].namespace=x", "at '/networkPolicy/metricsFrom/0': addit"),
        ("networkPolicy.dashboardFrom[0].ipBlock.from=x", "/dashboardFrom/0/ipBlock': "),
        # With null, Helm takes a value away.
        ("mode=null", "at '': missing property 'mode'"),
        ("head=null", "at '': missing property 'head'"),
        ("workload=null", "at '': missing property 'workload'"),
        ("job.actors=null", "at '/job': missing property 'actors'"),
        ("checkpoint.claim=null", "at '/checkpoint': missing property 'claim'"),
        ("workers.autoscaling.enabled=null", "'/workers/autoscaling': missing property 'enabled'"),
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
        ("metrics.port=44227", "metrics.port is 44227, where Ray listens itself"),
        ("metrics.port=10002", "metrics.port is 10002, where Ray listens itself"),
        ("metrics.port=19999", "metrics.port is 19999, where Ray listens itself"),
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


@pytest.mark.parametrize("none", ["0", "0.0", "0m", "00"])
def test_a_head_without_a_core_is_refused(none):
    done = run_helm("template", "rides", CHART, "-f", LAPTOP, "--set-string", f"head.cpu={none}")
    assert done.returncode != 0
    assert f"at '/head/cpu': '{none}' does not match pattern" in done.stderr


@pytest.mark.parametrize(
    "right",
    [
        "workers.cpu=4",
        "head.cpu=1500m",
        "head.cpu=0.5",
        "metrics.port=20000",
        "checkpoint.uri=abfss://state@account.dfs.core.windows.net/rides",
        "env[0].name=A,env[0].valueFrom.fieldRef.fieldPath=status.podIP,env[1].name=B",
        "envFrom[0].prefix=A_,envFrom[0].configMapRef.name=s,envFrom[0].configMapRef.optional=true",
        "volumes[0].name=a,volumes[0].csi.driver=example.com,volumes[0].csi.readOnly=true",
        "networkPolicy.egress[0].to[0].ipBlock.cidr=10.0.0.0/8,networkPolicy.egress[0].ports[0].port=kafka",
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
