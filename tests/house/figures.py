"""Counts what a newcomer notices about a tree: sizes, import cycles, names defined twice."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import PurePosixPath
from statistics import median

from house.imports import cycles, imports_of, package_graph
from house.layers import LAYERS, layer_of
from house.source_tree import Sources

LONGEST_FILE = 400
LONGEST_FUNCTION = 50
# Numba compiles what these decorate. A kernel is one loop: splitting it moves it, no more.
_KERNEL_DECORATORS = {
    *("apart", "brief", "compiled", "entry", "inlined", "scanning"),  # of runtime/execution/jit.py
    *("intrinsic", "njit"),
}
# Files that may share a basename, since they implement one interface: folder pattern to basenames.
SAME_INTERFACE = {
    "*": {"__init__.py"},
    # What every operator consists of.
    "runtime/execution/operators/*": {
        "operator.py",
        "kernel.py",
        "tables.py",
        "build_tables.py",
        "step.py",
    },
    "runtime/plan/operators": {"declaration.py"},
    "runtime/plan/operators/*": {"declaration.py"},
    # The two backends, compiled and whole numbers of any size, and the interface of operators.
    "runtime/execution": {"backend.py", "executor.py", "operator.py"},
    "runtime/execution/exact": {"backend.py", "executor.py"},
    # What every planner consists of, and what calls them.
    "runtime/plan": {"planner.py"},
    "runtime/plan/planners/*": {"planner.py", "greedy.py", "rationale.py"},
    # What a job reads from and writes to.
    "spark_ingest/sources": {"kafka.py"},
    "spark_ingest/sinks": {"kafka.py"},
}


@dataclass(frozen=True)
class Function:
    """A function or method. `lines` counts its body, without the signature and the docstring."""

    name: str
    path: str
    lines: int
    kernel: bool

    def __str__(self) -> str:
        return f"{self.path}:{self.name} ({self.lines})"


@dataclass(frozen=True)
class LayerSize:
    files: int
    lines: int
    functions: tuple[int, ...]

    @property
    def median(self) -> float:
        return median(self.functions) if self.functions else 0

    @property
    def p90(self) -> int:
        return percentile(self.functions, 0.9)

    @property
    def longest(self) -> int:
        return max(self.functions, default=0)


@dataclass(frozen=True)
class House:
    """The figures of one tree."""

    sources: Sources

    @cached_property
    def _trees(self) -> dict[str, ast.Module]:
        return {path: ast.parse(text, path) for path, text in self.sources.items()}

    @cached_property
    def functions(self) -> list[Function]:
        return [found for path, tree in self._trees.items() for found in functions_of(path, tree)]

    @cached_property
    def layers(self) -> dict[str, LayerSize]:
        """Sizes by layer, from the bottom up, without layers that have no files; then the total."""
        sizes = {layer: self._size({layer}) for layer in LAYERS}
        sizes["all"] = self._size(set(LAYERS))
        return {layer: size for layer, size in sizes.items() if size.files}

    def _size(self, layers: set[str]) -> LayerSize:
        texts = [text for path, text in self.sources.items() if layer_of(path) in layers]
        return LayerSize(
            files=len(texts),
            lines=sum(len(text.splitlines()) for text in texts),
            functions=tuple(f.lines for f in self.functions if layer_of(f.path) in layers),
        )

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        return imports_of(self._trees)

    @property
    def package_cycles(self) -> list[str]:
        return [" <-> ".join(cycle) for cycle in cycles(package_graph(self.imports))]

    @property
    def module_cycles(self) -> list[str]:
        return [" <-> ".join(cycle) for cycle in cycles(self.imports)]

    @property
    def duplicate_classes(self) -> dict[str, list[str]]:
        """Public classes that more than one module defines, with the files."""
        places = defaultdict(list)
        for path, tree in self._trees.items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(path)
        return _repeated(places)

    @property
    def shared_basenames(self) -> dict[str, list[str]]:
        """Basenames that several files of one package have, unless all of them are declared in
        `SAME_INTERFACE`."""
        places = defaultdict(list)
        for path in self.sources:
            places[f"{path.split('/')[0]}: {PurePosixPath(path).name}"].append(path)
        return {
            name: paths
            for name, paths in _repeated(places).items()
            if not all(map(implements_interface, paths))
        }

    @property
    def long_files(self) -> list[str]:
        lengths = {path: len(text.splitlines()) for path, text in self.sources.items()}
        return [f"{path} ({n})" for path, n in sorted(lengths.items()) if n > LONGEST_FILE]

    @property
    def long_functions(self) -> list[str]:
        return [str(f) for f in self.functions if f.lines > LONGEST_FUNCTION and not f.kernel]


def functions_of(path: str, tree: ast.Module) -> Iterable[Function]:
    kernels = "kernel" in PurePosixPath(path).parts[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kernel = kernels or not _KERNEL_DECORATORS.isdisjoint(
                map(_name_of, node.decorator_list)
            )
            yield Function(node.name, path, _body_lines(node), kernel)


def implements_interface(path: str) -> bool:
    """Whether the file may have the same basename as another one, by `SAME_INTERFACE`."""
    folder, _, name = path.rpartition("/")
    return any(
        name in names and fnmatch(folder, pattern) for pattern, names in SAME_INTERFACE.items()
    )


def percentile(values: Iterable[int], part: float) -> int:
    """The smallest value that at least `part` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-len(ordered) * part // 1) - 1)] if ordered else 0


def _body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


def _name_of(decorator: ast.expr) -> str:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")


def _repeated(places: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {name: paths for name, paths in sorted(places.items()) if len(paths) > 1}
