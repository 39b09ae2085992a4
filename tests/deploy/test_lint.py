"""The chart passes Helm's own checks, and describes all of its values."""

import json
import tarfile

import pytest
import yaml

from deploy.helm.__main__ import described, written
from tools.kubernetes import _RAY, CHART, EXAMPLES, definition, run_helm

pytestmark = pytest.mark.usefixtures("chart_tools")
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
WRITTEN = written()
SCHEMA = json.loads((CHART / "values.schema.json").read_text())


@pytest.mark.parametrize(
    "values", [None, *EXAMPLES], ids=lambda each: each.stem if each else "none"
)
def test_lint(values):
    done = run_helm("lint", "--strict", CHART, *(() if values is None else ("-f", values)))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("values", EXAMPLES, ids=lambda path: path.stem)
def test_notes_say_what_to_do_next(values):
    done = run_helm("install", "rides", CHART, "-f", values, "--dry-run=client", "-n", "streams")
    assert done.returncode == 0, done.stderr
    notes = done.stdout.partition("\nNOTES:\n")[2]
    assert "kubectl -n streams " in notes
    stem = values.stem
    assert ("helm test -n streams rides --timeout 12m" in notes) == (stem != "batch")
    assert ("--force-conflicts" in notes) == (stem == "production")
    assert ("delete raycluster hamlet-rides --wait" in notes) == (stem == "production")
    assert ("storage classes do not support" in notes) == (stem in ("batch", "kafka"))
    assert ("another output.uri and checkpoint.uri" in notes) == (stem == "batch")
    assert ("on the claim hamlet-rides-state" in notes) == (values.stem != "production")
    assert "The Prometheus operator is not installed" in notes


def test_notes_of_a_batch_with_redis():
    batch, redis = CHART / "examples" / "batch.yaml", "ray.redis.address=redis:6379"
    options = ("-f", batch, "--set", redis, "--dry-run=client", "-n", "streams")
    notes = run_helm("install", "rides", CHART, *options).stdout
    assert "kubectl -n streams delete rayjob hamlet-rides --cascade=foreground" in notes


def test_a_package_has_all_files(tmp_path):
    done = run_helm("package", CHART, "--destination", tmp_path)
    assert done.returncode == 0, done.stderr
    (package,) = tmp_path.glob("*.tgz")
    with tarfile.open(package) as tar:
        names = {name.removeprefix("hamlet/") for name in tar.getnames()}
    assert {str(path.relative_to(CHART)) for path in WRITTEN} <= names
    assert "values.schema.json" in names
    assert not [name for name in names if name.startswith("examples")]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_copies_are_equal(path):
    """`make chart` writes them."""
    assert path.read_bytes() == WRITTEN[path]


def test_nothing_else_is_in_the_folder_of_copies():
    found = {path for path in (CHART / "files").rglob("*") if path.is_file()}
    assert found == {path for path in WRITTEN if "files" in path.parts} | {
        CHART / "files" / "test.py"
    }


def test_all_name_the_same_operator(root):
    """And it is the one whose schemas the manifests are checked against."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    wanted = chart["annotations"]["hamlet/kuberay"].removeprefix(">=")
    assert f"v{wanted}" in _RAY
    assert f"/index.html) {wanted} or" in (CHART / "README.md").read_text()
    told = (root / "docs" / "kubernetes.md").read_text()
    assert f"Install the operator, version {wanted} or newer" in told


def test_every_value_is_described():
    assert {name for name, _, _ in described()} == set(leaves(VALUES))


def test_the_schema_knows_every_value_and_no_other():
    """And wants every one: with null, Helm takes a value away that a template reads."""

    def compare(values, schema, where):
        known = set(schema["properties"]) - {"global"}
        assert known == set(values), where
        assert set(schema["required"]) == known, where
        for name, value in values.items():
            below = schema["properties"][name]
            if "properties" in below:
                compare(value, below, f"{where}.{name}")

    compare(VALUES, SCHEMA, "")


def test_the_schema_is_closed_in_lists_too():
    """But for what is given to others, and volumes, of which Kubernetes has too many kinds."""
    found = dict(nodes(SCHEMA, ""))
    objects = {where for where, each in found.items() if each.get("type") == "object"}
    opened = {where for where in objects if "additionalProperties" not in found[where]}
    assert opened == {".global", ".volumes[]"}
    assert {".env[].valueFrom.secretKeyRef", ".networkPolicy.egress[].to[].podSelector"} <= objects
    for where, each in found.items():
        if each.get("type") == "array":
            assert f"{where}[]" in found, where


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("env", "containers[].env"),
        ("envFrom", "containers[].envFrom"),
        ("volumeMounts", "containers[].volumeMounts"),
        ("volumes", "volumes"),
        ("head.tolerations", "tolerations"),
        ("workers.affinity", "affinity"),
    ],
)
def test_the_schema_has_the_fields_of_kubernetes(value, place):
    """No name that a pod does not have, and all that it must have."""
    root = definition("RayCluster")["schema"]["openAPIV3Schema"]
    theirs = dict(nodes(root, "", refs=False))
    start = f".spec.headGroupSpec.template.spec.{place}"
    for where, each in nodes(SCHEMA, ""):
        if where == f".{value}" or where.startswith((f".{value}.", f".{value}[")):
            other = theirs[start + where.removeprefix(f".{value}")]
            assert set(each.get("properties", ())) <= set(other.get("properties", ())), where
            assert set(other.get("required", ())) <= set(each.get("required", ())), where


def nodes(schema, where, refs=True):
    """Every schema below one, by its place."""
    if refs and "$ref" in schema:
        schema = SCHEMA["definitions"][schema["$ref"].removeprefix("#/definitions/")]
    yield where, schema
    for name, each in schema.get("properties", {}).items():
        yield from nodes(each, f"{where}.{name}", refs)
    if "items" in schema:
        yield from nodes(schema["items"], f"{where}[]", refs)


def leaves(values, before=""):
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{before}{name}.")
        else:
            yield before + name
