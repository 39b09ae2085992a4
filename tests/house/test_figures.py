"""The counting behind `make house`, on a small made-up tree."""

import ast

import pytest

from house.figures import House, LayerSize, functions_of, percentile
from house.imports import cycles, imports_of
from house.layers import LAYERS, layer_of
from house.source_tree import PACKAGES


def long(name: str, lines: int) -> str:
    return f"def {name}(\n    a,\n):\n    '''Says why.'''\n" + "    a += 1\n" * lines


SOURCES = {
    "actors/__init__.py": "",
    "actors/hub.py": "from runtime.plan import planner\nclass Hub: ...\nclass _Own: ...\n",
    "hamlet/__init__.py": "",
    "hamlet/hub.py": "def f():\n    import actors.hub\nclass Hub: ...\nclass _Own: ...\n",
    "runtime/__init__.py": "",
    "runtime/errors.py": "class Odd(Exception):\n    class Hub: ...\n" + "#\n" * 399,
    "runtime/execution/__init__.py": "",
    "runtime/execution/run.py": "from runtime.plan.planner import plan\n" + long("run", 51),
    "runtime/execution/step.py": "@compiled(fast=True)\n" + long("step", 60),
    "runtime/execution/exact/__init__.py": "",
    "runtime/execution/exact/run.py": "from ..run import run\nfrom . import other\n",
    "runtime/execution/exact/other.py": "from runtime.execution.exact.run import run\n",
    "runtime/plan/__init__.py": "",
    "runtime/plan/planner.py": "from runtime import errors\n" + long("plan", 50),
    "runtime/plan/planners/a/planner.py": "",
    "runtime/plan/planners/c/greedy.py": "",
    "runtime/types/greedy.py": "",
    "runtime/plan/planners/b/planner.py": "import runtime.execution.step\n",
}


@pytest.fixture
def house() -> House:
    return House(SOURCES)


def test_sizes_of_layers(house):
    assert list(house.layers) == [
        "runtime (base)",
        "types",
        "plan",
        "execution",
        "actors",
        "hamlet",
        "all",
    ]
    assert house.layers["plan"] == LayerSize(files=5, lines=56, functions=(50,))
    assert house.layers["execution"].functions == (51, 60)
    assert house.layers["all"].files == len(SOURCES)
    assert house.layers["all"].longest == 60


def test_imports_are_found_wherever_they_stand(house):
    assert house.imports["hamlet.hub"] == {"actors.hub"}  # in a function
    assert house.imports["actors.hub"] == {"runtime.plan.planner"}  # a module of a package
    assert house.imports["runtime.execution.run"] == {"runtime.plan.planner"}  # a name of a module
    assert house.imports["runtime.execution.exact.run"] == {  # relative
        "runtime.execution.run",
        "runtime.execution.exact.other",
    }


def test_cycles(house):
    assert house.module_cycles == [
        "runtime.execution.exact.other <-> runtime.execution.exact.run",
    ]
    assert house.package_cycles == ["runtime.execution <-> runtime.plan"]


def test_repeated_names(house):
    assert house.duplicate_classes == {"Hub": ["actors/hub.py", "hamlet/hub.py"]}
    assert house.shared_basenames == {
        # Declared for planners, but the other file is none.
        "runtime: greedy.py": ["runtime/plan/planners/c/greedy.py", "runtime/types/greedy.py"],
        "runtime: run.py": ["runtime/execution/run.py", "runtime/execution/exact/run.py"],
    }


def test_long_files_and_functions(house):
    assert house.long_files == ["runtime/errors.py (401)"]
    assert house.long_functions == ["runtime/execution/run.py:run (51)"]


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}, []),
        ({"a": {"a"}}, []),  # a module that imports itself is no cycle of several
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, [["a", "b", "c"]]),
        ({"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c"}}, [["a", "b"], ["c", "d"]]),
        ({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"a"}}, [["a", "b", "c", "d"]]),
    ],
)
def test_strongly_connected_components(graph, found):
    assert cycles(graph) == found


def test_an_import_of_another_library_is_no_edge():
    tree = ast.parse("import os\nfrom numpy import linalg\nfrom runtime.a import b")
    trees = {"runtime/a.py": ast.parse(""), "runtime/c.py": tree}
    assert imports_of(trees) == {"runtime.a": set(), "runtime.c": {"runtime.a"}}


def test_functions_in_a_kernel_folder_are_kernels():
    tree = ast.parse("def f():\n    return 1")
    for path, kernel in (("a/kernel/x.py", True), ("a/kernel_args.py", False), ("a/x.py", False)):
        assert [f.kernel for f in functions_of(path, tree)] == [kernel]


@pytest.mark.parametrize(("part", "value"), [(0.0, 1), (0.5, 5), (0.9, 9), (0.91, 10), (1.0, 10)])
def test_percentile(part, value):
    assert percentile(range(1, 11), part) == value
    assert percentile([], part) == 0


@pytest.mark.parametrize(
    ("path", "layer"),
    [
        ("runtime/errors.py", "runtime (base)"),
        ("runtime/types/schema.py", "types"),
        ("runtime/execution/operators/general/step.py", "execution"),
        ("actors/hub.py", "actors"),
        ("runtime/compiled/general/step.py", "execution"),  # before the layers
        ("runtime/events/kinds.py", "types"),
        ("runtime/events/order.py", "pipeline"),
    ],
)
def test_layer_of_a_file(path, layer):
    assert layer_of(path) == layer


def test_every_package_is_a_layer():
    assert set(PACKAGES) - {"runtime"} <= set(LAYERS)
