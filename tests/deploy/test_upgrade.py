"""What the table of upgrades says is what a changed value does to the manifests."""

import json
import re

import pytest

from tools.kubernetes import CHART, of_kind, render

pytestmark = pytest.mark.usefixtures("chart_tools")
LAPTOP = CHART / "examples" / "laptop.yaml"
ROW = re.compile(r"\| (.*) \| (.*) \|")
NAME = re.compile(r"`([a-zA-Z.]+)`")
# By how the second column begins: what of the release is another one. Helm does not run again what
# is equal; the operator makes a new cluster for another `spec`, less what `hashed` leaves out.
MEANT = {
    "the job applies the change": {"queries"},
    "the operator adds or deletes": {"workers"},
    "nothing happens to running pods": {"tolerations"},
    "nothing happens to the job": set(),
    "the job finishes its epochs": {"job"},
    "the operator makes a new": {"cluster"},
    "the claim grows": {"claim"},
    "the upgrade fails": {"claim"},
}
# Options that change a value, for each that the table names.
CHANGES = {
    "workload.queries": "workload.queries=RETURN COUNT(*) PATTERN A+ WITHIN 1 minute",
    "workers.replicas": "workers.replicas=2",
    "workers.autoscaling.minReplicas": "workers.autoscaling.minReplicas=2",
    "workers.autoscaling.maxReplicas": "workers.autoscaling.maxReplicas=9",
    "workers.tolerations": "workers.tolerations[0].key=a",
    "metrics.podMonitor": "metrics.podMonitor.enabled=false",
    "metrics.rules": "metrics.rules.enabled=false",
    "metrics.dashboards": "metrics.dashboards.enabled=false",
    "networkPolicy": "networkPolicy.enabled=false",
    "podDisruptionBudget": "podDisruptionBudget.enabled=true",
    "serviceAccount.annotations": "serviceAccount.annotations.a=b",
    "test": "test.enabled=false",
    "job": "job.sharing=always",
    "input": "input.lateness=9s",
    "output": "output.format=csv",
    "workload.key": "workload.key=other.sase",
    "checkpoint.uri": "checkpoint.uri=s3://bucket/state",
    "head.tolerations": "head.tolerations[0].key=a",
    "image": "image.tag=v9",
    "ray": "ray.auth.enabled=false",
    "head": "head.memory=5Gi",
    "workers": "workers.memory=5Gi",
    "kafka": "kafka.optionsSecret=s",
    "security": "security.fsGroup=7",
    "serviceAccount.name": "serviceAccount.name=other",
    "workload.existingConfigMap": "workload.queries=,workload.existingConfigMap=other",
    "checkpoint.claim.existing": "checkpoint.claim.existing=other",
    "metrics.port": "metrics.port=9999",
    "job.drainSeconds": "job.drainSeconds=99",
    "env": "env[0].name=A",
    "envFrom": "envFrom[0].secretRef.name=s",
    "volumes": "volumes[0].name=a",
    "volumeMounts": "volumeMounts[0].name=tmp,volumeMounts[0].mountPath=/scratch",
    "checkpoint.claim.size": "checkpoint.claim.size=9Gi",
    "checkpoint.claim.storageClass": "checkpoint.claim.storageClass=other",
    "checkpoint.claim.accessMode": "checkpoint.claim.accessMode=ReadWriteMany",
}


def table(text):
    begin = text.index("| changed | then |")
    return text[begin:].partition("\n\n")[0]


def rows():
    """Each value of the table, and what is said of it."""
    for line in table((CHART / "UPGRADE.md").read_text()).splitlines()[2:]:
        changed, then = ROW.fullmatch(line).groups()
        for name in NAME.findall(changed.replace(" (but `drainSeconds`)", "")):
            yield name, then


def test_both_tables_are_equal(root):
    docs = (root / "docs" / "kubernetes.md").read_text()
    assert table(docs) == table((CHART / "UPGRADE.md").read_text())


def test_all_of_the_table_is_tried():
    assert sorted(name for name, _ in rows()) == sorted(CHANGES)


@pytest.mark.parametrize(("name", "then"), list(rows()), ids=lambda each: each.split(" ")[0])
def test_the_table(name, then):
    (meant,) = [what for start, what in MEANT.items() if then.startswith(start)]
    scaled = ("--set", "workers.autoscaling.enabled=true") if "autoscaling" in name else ()
    before, after = parts(*scaled), parts(*scaled, "--set", CHANGES[name])
    found = {part for part in before if before[part] != after[part]}
    if meant == {"cluster"}:
        assert "cluster" in found
    elif name == "head.tolerations":
        assert found == {"job", "tolerations"}
    else:
        assert found == meant


def parts(*options):
    manifests = render(LAPTOP, *options)
    spec = of_kind(manifests, "RayCluster")["spec"]
    claims = [each["spec"] for each in manifests if each["kind"] == "PersistentVolumeClaim"]
    queries = [
        list(each["data"].values())
        for each in manifests
        if each["metadata"]["name"].endswith("-workload")
    ]
    workers, tolerations, hashed = taken_apart(spec)
    return {
        "queries": queries,
        "job": of_kind(manifests, "Deployment")["spec"]["template"]["spec"],
        "claim": claims,
        "workers": workers,
        "tolerations": tolerations,
        "cluster": hashed,
    }


def taken_apart(spec):
    """The operator leaves these out of the hash by which it knows another cluster
    (GenerateHashWithoutReplicasAndWorkersToDelete)."""
    left = json.loads(json.dumps(spec))
    (group,) = left["workerGroupSpecs"]
    workers = [group.pop(name) for name in ("replicas", "minReplicas", "maxReplicas")]
    tolerations = [
        each["template"]["spec"].pop("tolerations", None) for each in (left["headGroupSpec"], group)
    ]
    return workers, tolerations, left
