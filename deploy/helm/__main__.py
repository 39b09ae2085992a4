"""Writes the generated files of the chart: `make chart`.

Helm can read only files inside the chart, so dashboards and rules are copied. The README lists the
values with their comments, and names the operator version that `Chart.yaml` requires.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parent / "hamlet"
GRAFANA = Path(__file__).parents[2] / "grafana"
BEGIN, END = "<!-- values -->\n", "<!-- end of values -->\n"
MARK = "# -- "
OPERATOR = re.compile(r"(\[KubeRay\]\(\S+\) )[0-9.]+[0-9]")


def written() -> dict[Path, bytes]:
    """Files of the chart and what they should hold."""
    files = {CHART / "files" / "rules.yml": (GRAFANA / "prometheus" / "rules.yml").read_bytes()}
    for path in sorted((GRAFANA / "dashboards").glob("*.json")):
        files[CHART / "files" / "dashboards" / path.name] = path.read_bytes()
    readme = CHART / "README.md"
    files[readme] = _readme(readme.read_text("utf-8")).encode()
    return files


def _readme(text: str) -> str:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    operator = chart["annotations"]["hamlet/kuberay"].removeprefix(">=")
    text = OPERATOR.sub(rf"\g<1>{operator}", text)
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    rows = [f"| `{name}` | `{value}` | {told} |" for name, value, told in described()]
    table = "\n".join(["| value | default | |", "|---|---|---|", *rows])
    return f"{before}{BEGIN}{table}\n{END}{after}"


def described() -> Iterator[tuple[str, str, str]]:
    """Values in their order: name, default, and the comment before them."""
    text = (CHART / "values.yaml").read_text("utf-8")
    values = yaml.safe_load(text)
    parents: list[tuple[int, str]] = []
    told: list[str] = []
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith(MARK):
            told = [bare.removeprefix(MARK)]
        elif bare.startswith("# ") and told:
            told.append(bare.removeprefix("# "))
        elif ":" in bare and not bare.startswith(("#", "-")):
            depth = len(line) - len(line.lstrip())
            parents = [each for each in parents if each[0] < depth]
            parents.append((depth, bare.partition(":")[0]))
            if told:
                name = ".".join(key for _, key in parents)
                yield name, _default(values, name), " ".join(told)
            told = []


def _default(values: Any, name: str) -> str:
    value = values
    for key in name.split("."):
        value = value[key]
    return yaml.safe_dump(value, default_flow_style=True, width=1000).replace("...", "").strip()


def main() -> None:
    for path, content in written().items():
        path.write_bytes(content)


if __name__ == "__main__":
    main()
