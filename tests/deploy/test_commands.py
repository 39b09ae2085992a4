"""The commands that are deployed are commands of Hamlet."""

import json
import shlex
from pathlib import Path

import pytest
import typer
import yaml

from hamlet.cli.commands import app
from tools.kubernetes import EXAMPLES, of_kind, pods, render

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "deploy" / "compose" / "compose.yaml"
SERVICES = yaml.safe_load(COMPOSE.read_text())["services"]
VOLUMES = yaml.safe_load(COMPOSE.read_text())["volumes"]
COMMANDS = typer.main.get_command(app).commands


def check(words: list[str]) -> dict:
    """Options and their values, as the command would take them."""
    name, *rest = words
    return COMMANDS[name].make_context(name, rest).params


def submitted(words: list[str]) -> tuple[dict, dict]:
    """What is submitted, and how."""
    outer = check(words)
    return outer, check(outer["arguments"])


@pytest.mark.usefixtures("chart_tools")
@pytest.mark.parametrize("values", EXAMPLES, ids=lambda path: path.stem)
def test_of_the_chart(values):
    given = yaml.safe_load(values.read_text())
    manifests = render(values)
    if given.get("mode") == "batch":
        words = shlex.split(of_kind(manifests, "RayJob")["spec"]["entrypoint"])
        assert words[:3] == ["python", "-m", "hamlet.cli.submit_entrypoint"]
        run = check(words[3:])
        assert not run["follow"]
    else:
        (container,) = of_kind(manifests, "Deployment")["spec"]["template"]["spec"]["containers"]
        outer, run = submitted([*container["command"], *container["args"]][1:])
        assert outer["no_upload"]
        assert outer["name"] == run["name"] == "hamlet-rides"
        assert run["follow"]
        assert run["watch_workload"]
        seconds = int(outer["stop_within"].removesuffix("s"))
        for pod in pods([of_kind(manifests, "Deployment"), of_kind(manifests, "RayCluster")]):
            assert pod["spec"]["terminationGracePeriodSeconds"] > seconds
        head = of_kind(manifests, "RayCluster")["spec"]["headGroupSpec"]["template"]["spec"]
        (ray,) = head["containers"]
        stop = check(ray["lifecycle"]["preStop"]["exec"]["command"][1:])
        assert stop["name"] == run["name"]
        assert stop["within"] == outer["stop_within"]
    assert run["input"] == given["input"]["uri"]
    assert run["checkpoint"]
    assert run["metrics_host"] == "0.0.0.0"


@pytest.mark.usefixtures("chart_tools")
def test_an_entry_point_survives_the_shell():
    batch = next(path for path in EXAMPLES if path.stem == "batch")
    odd = 'it\'s $HOME `x` "y" \\ ; rm'
    options = ("--set-json", f'job.extraArgs=["--schema", {json.dumps(odd)}]')
    words = shlex.split(of_kind(render(batch, *options), "RayJob")["spec"]["entrypoint"])
    assert words[-1] == odd


def test_of_compose():
    outer, run = submitted(SERVICES["job"]["command"])
    assert run["follow"]
    assert outer["name"] == run["name"]
    assert SERVICES["job"]["stop_grace_period"] == "75s"


def test_compose_keeps_what_the_job_writes_to_until_it_has_ended():
    """And as long as the job's state is kept."""
    assert SERVICES["job"]["depends_on"] == {
        "ray": {"condition": "service_healthy"},
        "kafka": {"condition": "service_started"},
    }
    kafka = SERVICES["kafka"]
    assert kafka["volumes"] == [f"kafka:{kafka['environment']['KAFKA_LOG_DIRS']}"]
    output = submitted(SERVICES["job"]["command"])[1]["output"]
    assert kafka["environment"]["KAFKA_ADVERTISED_LISTENERS"].split("//")[1] in output
    assert set(VOLUMES) == {"state", "kafka"}


def test_compose_finds_its_files_and_listens_here_alone():
    for name, service in SERVICES.items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in VOLUMES or (COMPOSE.parent / source).is_dir(), name
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:")
        assert ":" in service["image"]
        assert not service["image"].endswith(":latest")
    assert "ports" not in {key for n, s in SERVICES.items() if n != "ray" for key in s}
    workload = SERVICES["job"]["command"]
    path = next(each for each in workload if each.endswith(".sase"))
    mounts = dict(v.split(":")[1::-1] for v in SERVICES["ray"]["volumes"])
    assert (COMPOSE.parent / mounts[str(Path(path).parent)] / Path(path).name).is_file()
