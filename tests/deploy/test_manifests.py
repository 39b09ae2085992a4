"""What the chart makes is valid, whatever the release is called, and as closed as it says."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from ray.autoscaler._private.kuberay.node_provider import (
    IN_CLUSTER_CA_CERT_PATH,
    IN_CLUSTER_TOKEN_PATH,
)

from actors.actor_pool import WORKER
from tools.kubernetes import (
    EXAMPLES,
    PROMETHEUS_OPERATOR,
    VERSIONS,
    definition,
    of_kind,
    pods,
    render,
    schema_errors,
)

pytestmark = pytest.mark.usefixtures("chart_tools")
BY_NAME = {path.stem: path for path in EXAMPLES}
each_example = pytest.mark.parametrize("values", EXAMPLES, ids=lambda path: path.stem)
# Names that YAML takes for something else, or that are too long or begin with a digit.
RELEASES = ["y", "1e3", "true", "0x10", "null", "1-2-3", "hamlet", "r" * 53]
NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def everything(values, *options, **more):
    return render(values, *options, apis=(PROMETHEUS_OPERATOR,), **more)


@pytest.mark.parametrize("version", VERSIONS)
@each_example
def test_valid(values, version):
    manifests = everything(values)
    for each in [*manifests, *pods(manifests)]:
        assert schema_errors(each, version) == [], (each["kind"], each["metadata"]["name"])


def test_schema_errors_would_be_found():
    manifests = everything(BY_NAME["laptop"])
    cluster, claim = (of_kind(manifests, kind) for kind in ("RayCluster", "PersistentVolumeClaim"))
    cluster["spec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] = 0
    cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "x"
    found = " ".join(schema_errors(cluster, VERSIONS[-1]))
    assert "num-cpus" in found
    assert "imagePullPolice" in found
    claim["spec"]["accessMode"] = "ReadWriteOnce"
    assert schema_errors(claim, VERSIONS[-1])
    monitor = of_kind(manifests, "PodMonitor")
    monitor["spec"]["podMetricsEndpoints"][0]["intervall"] = "1s"
    assert schema_errors(monitor, VERSIONS[-1])


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("example", ["laptop", "batch"])
def test_any_release_name(example, release):
    manifests = everything(BY_NAME[example], release=release)
    for each in [*manifests, *pods(manifests)]:
        assert schema_errors(each, VERSIONS[-1]) == [], (each["kind"], each["metadata"])
        labels = each["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == release
        for value in labels.values():
            assert isinstance(value, str)
            assert len(value) <= 63
    for each in manifests:
        name = each["metadata"]["name"]
        assert NAME.fullmatch(name), name
        # The operator wants room for what it appends.
        assert len(name) <= (53 if each["kind"] != "RayJob" else 47) or each["kind"] == "ConfigMap"
    names = [(each["kind"], each["metadata"]["name"]) for each in manifests]
    assert len(set(names)) == len(names)


def test_long_releases_have_names_of_their_own():
    """Also where they differ at the end."""
    releases = ["r" * 52 + end for end in "ab"] + ["r" * 33]
    names = [of_kind(render(BY_NAME["laptop"], release=each), "RayCluster") for each in releases]
    found = [each["metadata"]["name"] for each in names]
    assert len(set(found)) == 3
    assert all(len(each) == 40 for each in found)


def test_a_laptop_has_the_cores(root):
    """As many as the page says, beside what Kubernetes and the operator run for themselves."""
    asked = 0.0
    for pod in pods(render(BY_NAME["laptop"])):
        for container in pod["spec"]["containers"]:
            cpu = container["resources"]["requests"]["cpu"]
            asked += float(cpu.removesuffix("m")) / (1000 if cpu.endswith("m") else 1)
    told = (root / "docs" / "kubernetes.md").read_text()
    assert f"the example with its test requests {asked:g} CPUs" in told
    (cpus,) = re.findall(r"minikube with (\d+) CPUs", told)
    own = 0.95 + 0.1  # of kind, which has more of its own than minikube; of the operator
    assert asked + own <= int(cpus)


@each_example
def test_only_with_the_prometheus_operator(values):
    of_operator = {"PodMonitor", "PrometheusRule"}
    assert of_operator <= {each["kind"] for each in everything(values)}
    assert not of_operator & {each["kind"] for each in render(values)}


def test_switched_off():
    off = (
        "metrics.podMonitor,metrics.rules,metrics.dashboards,networkPolicy,podDisruptionBudget,test"
    )
    options = [each for name in off.split(",") for each in ("--set", f"{name}.enabled=false")]
    found = [each["kind"] for each in render(BY_NAME["laptop"], *options)]
    assert sorted(found) == [
        *("ConfigMap", "Deployment", "PersistentVolumeClaim", "RayCluster"),
        "ServiceAccount",
    ]


@each_example
def test_every_pod_is_closed(values):
    manifests = everything(values)
    found = list(pods(manifests))
    assert len(found) == (2 if values.stem == "batch" else 4)
    for pod in found:
        spec = pod["spec"]
        security = spec["securityContext"]
        assert security["runAsNonRoot"]
        assert security["runAsUser"] > 0
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            closed = container["securityContext"]
            assert closed["readOnlyRootFilesystem"]
            assert not closed["allowPrivilegeEscalation"]
            assert closed["capabilities"] == {"drop": ["ALL"]}
            resources = container["resources"]
            assert resources["requests"] == resources["limits"]
            assert resources["limits"].keys() == {"cpu", "memory"}
            mounts = {mount["name"] for mount in container["volumeMounts"]}
            assert mounts <= {volume["name"] for volume in spec["volumes"]}


@each_example
def test_tokens_of_kubernetes(values):
    """No container has one but the autoscaler, which the operator puts beside the head."""
    manifests = everything(values)
    scaled = values.stem == "production"
    for pod in pods(manifests):
        spec = pod["spec"]
        assert spec["automountServiceAccountToken"] is False
        tokens = {
            volume["name"]
            for volume in spec["volumes"]
            for source in volume.get("projected", {}).get("sources", [])
            if "serviceAccountToken" in source
        }
        head = pod["metadata"]["labels"]["app.kubernetes.io/component"] == "ray-head"
        assert tokens == ({"kubernetes"} if head and scaled else set())
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            for mount in container["volumeMounts"]:
                assert mount["name"] not in tokens
                assert not mount["mountPath"].startswith("/var/run/secrets")
    assert of_kind(manifests, "ServiceAccount")["automountServiceAccountToken"] is False


@pytest.mark.parametrize("example", ["laptop", "batch"])
def test_the_autoscaler_finds_its_token(example):
    """Where Ray looks for it, with all that Kubernetes would put there."""
    manifests = everything(BY_NAME[example], "--set", "workers.autoscaling.enabled=true")
    kind = "RayJob" if example == "batch" else "RayCluster"
    manifest = of_kind(manifests, kind)
    assert schema_errors(manifest, VERSIONS[-1]) == []
    spec = manifest["spec"]
    cluster = spec["rayClusterSpec"] if example == "batch" else spec
    options, head = cluster["autoscalerOptions"], cluster["headGroupSpec"]["template"]["spec"]
    assert options["imagePullPolicy"] == head["containers"][0]["imagePullPolicy"]
    volumes = {volume["name"]: volume for volume in head["volumes"]}
    mounts = {mount["mountPath"]: mount["name"] for mount in options["volumeMounts"]}
    assert set(mounts.values()) <= set(volumes)
    places = {Path(IN_CLUSTER_TOKEN_PATH).parent, Path(IN_CLUSTER_CA_CERT_PATH).parent}
    (folder,) = places
    sources = volumes[mounts[str(folder)]]["projected"]["sources"]
    paths = set()
    for source in sources:
        (given,) = source.values()
        paths |= {each["path"] for each in given.get("items", [given])}
    assert paths == {"token", "ca.crt", "namespace"}
    assert Path(IN_CLUSTER_TOKEN_PATH).name in paths
    assert Path(IN_CLUSTER_CA_CERT_PATH).name in paths


@each_example
def test_selectors_find_their_pods(values):
    manifests = everything(values)
    labels = {
        pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod["metadata"]["labels"]
        for pod in pods(manifests)
    }

    def found(selector):
        return {name for name, own in labels.items() if selector.items() <= own.items()}

    monitor = of_kind(manifests, "PodMonitor")
    assert found(monitor["spec"]["selector"]["matchLabels"]) == {"ray-head"}
    policy = of_kind(manifests, "NetworkPolicy")
    assert found(policy["spec"]["podSelector"]["matchLabels"]) == set(labels)
    budgets = [each["spec"] for each in manifests if each["kind"] == "PodDisruptionBudget"]
    # Of two workers one may go, of one head none.
    least = {next(iter(found(each["selector"]["matchLabels"]))): each for each in budgets}
    assert {name: each["minAvailable"] for name, each in least.items()} == (
        {} if values.stem == "laptop" else {"ray-head": 1, "ray-worker": 1}
    )


def test_budgets_do_not_ask_for_a_scale():
    """Kubernetes counts by `maxUnavailable` only where the owner of pods has one."""
    assert "scale" not in definition("RayCluster")["subresources"]
    for budget in everything(BY_NAME["kafka"]):
        if budget["kind"] == "PodDisruptionBudget":
            assert budget["spec"].keys() == {"minAvailable", "selector"}


def test_what_the_network_lets_through():
    spec = of_kind(everything(BY_NAME["production"]), "NetworkPolicy")["spec"]
    among, operator, metrics = spec["ingress"]
    (own,) = among["from"]
    assert own["podSelector"] == spec["podSelector"]
    assert "ports" not in among  # Ray takes ports as it likes
    assert operator["ports"] == [{"port": 8265}]
    assert [each["port"] for each in metrics["ports"]] == [9464, 8080]
    inside, names, *others = spec["egress"]
    assert inside == {"to": among["from"]}
    assert {each["protocol"] for each in names["ports"]} == {"UDP", "TCP"}
    assert "to" not in names
    assert len(others) == 2


def test_all_pods_of_a_release_run_where_the_head_may():
    place = 'head={"nodeSelector": {"kubernetes.io/arch": "amd64"}, "priorityClassName": "high"}'
    for pod in pods(render(BY_NAME["laptop"], "--set-json", place)):
        if pod["metadata"]["labels"]["app.kubernetes.io/component"] != "ray-worker":
            assert pod["spec"]["nodeSelector"] == {"kubernetes.io/arch": "amd64"}
            assert pod["spec"]["priorityClassName"] == "high"


@each_example
def test_the_head_ends_its_job_first(values):
    """But not of a batch: the operator takes one that was stopped for one that is done."""
    for pod in pods(everything(values)):
        (container,) = pod["spec"]["containers"]
        wanted = container["name"] == "ray-head" and values.stem != "batch"
        assert ("lifecycle" in container) is wanted


@each_example
def test_the_cluster(values):
    manifests = everything(values)
    batch = values.stem == "batch"
    spec = of_kind(manifests, "RayJob" if batch else "RayCluster")["spec"]
    cluster = spec["rayClusterSpec"] if batch else spec
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    assert cluster["authOptions"]["mode"] == "token"
    (group,) = cluster["workerGroupSpecs"]
    written = group["rayStartParams"]["resources"]
    (resources,) = shlex.split(written)
    by_the_operator = written.strip("'\"` ")  # as getResourcesMap does
    by_the_autoscaler = written[1:-1].replace("\\", "")  # as _get_custom_resources does
    for read in (resources, by_the_operator, by_the_autoscaler):
        assert json.loads(read) == {WORKER: 1}
    assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    (head,) = cluster["headGroupSpec"]["template"]["spec"]["containers"]
    assert "hamlet-metrics" in [port["name"] for port in head["ports"]]
    (endpoint,) = of_kind(manifests, "PodMonitor")["spec"]["podMetricsEndpoints"]
    assert endpoint["port"] == "hamlet-metrics"


def test_state_stays():
    claim = of_kind(everything(BY_NAME["laptop"]), "PersistentVolumeClaim")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}


def test_a_change_of_queries_changes_nothing_but_their_config_map():
    changed = ("--set", "workload.queries=RETURN COUNT(*) PATTERN A+ WITHIN 1 minute")
    before, after = (
        everything(BY_NAME["laptop"]),
        render(BY_NAME["laptop"], *changed, apis=(PROMETHEUS_OPERATOR,)),
    )
    different = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [each["metadata"]["name"] for each in different] == ["hamlet-rides-workload"]


def test_dashboards_and_rules_arrive_as_they_are(root):
    """Not only their copies in the chart are equal: what Helm makes of them is."""
    manifests = everything(BY_NAME["laptop"])
    maps = [each["data"] for each in manifests if "grafana_dashboard" in each["metadata"]["labels"]]
    found = {name.removeprefix("hamlet-"): text for data in maps for name, text in data.items()}
    dashboards = (root / "grafana" / "dashboards").glob("*.json")
    assert found == {path.name: path.read_text() for path in dashboards}
    rules = yaml.safe_load((root / "grafana" / "prometheus" / "rules.yml").read_text())
    assert of_kind(manifests, "PrometheusRule")["spec"] == rules


def test_tokens_of_ray():
    """The operator gives them to head and workers. Without them, Ray is told so in words."""

    def modes(*options):
        found = {}
        for pod in pods(render(BY_NAME["laptop"], *options)):
            (container,) = pod["spec"]["containers"]
            given = {each["name"]: each.get("value") for each in container["env"]}
            found[container["name"]] = given.get("RAY_AUTH_MODE"), "RAY_AUTH_TOKEN" in given
        return found

    with_token, by_operator, without = ("token", True), (None, False), ("disabled", False)
    assert modes() == {
        **dict.fromkeys(("ray-head", "ray-worker"), by_operator),
        **dict.fromkeys(("job", "test"), with_token),
    }
    scaled = ("--set", "ray.auth.enabled=false", "--set", "workers.autoscaling.enabled=true")
    spec = of_kind(render(BY_NAME["laptop"], *scaled), "RayCluster")["spec"]
    assert {"name": "RAY_AUTH_MODE", "value": "disabled"} in spec["autoscalerOptions"]["env"]
    off = modes("--set", "ray.auth.enabled=false")
    assert off == dict.fromkeys(("ray-head", "ray-worker", "job", "test"), without)
