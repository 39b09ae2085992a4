"""The graph of imports between modules, and its cycles."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TypeAlias

Graph: TypeAlias = dict[str, set[str]]


def imports_of(trees: Mapping[str, ast.Module]) -> Graph:
    """Every module with those of the tree that it imports, inside functions too."""
    modules = {module_name(path): path for path in trees}
    graph: Graph = {name: set() for name in modules}
    for name, path in modules.items():
        package = name if path.endswith("/__init__.py") else name.rpartition(".")[0]
        for imported in _imported_names(trees[path], package):
            target = _module_among(imported, graph)
            if target is not None and target != name:
                graph[name].add(target)
    return graph


def package_graph(imports: Graph) -> Graph:
    """The same between layers: the packages, and the folders directly below `runtime`."""
    graph: Graph = {}
    for module, targets in imports.items():
        graph.setdefault(_package(module), set()).update(map(_package, targets))
    return {package: targets - {package} for package, targets in graph.items()}


def cycles(graph: Graph) -> list[list[str]]:
    """The strongly connected components of more than one node, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    found: list[list[str]] = []

    def enter(node: str) -> Iterator[str]:
        order[node] = lowest[node] = len(order)
        path.append(node)
        on_path.add(node)
        return iter(sorted(graph.get(node, ())))

    def leave(node: str) -> None:
        if lowest[node] == order[node]:
            at = path.index(node)
            component = path[at:]
            del path[at:]
            on_path.difference_update(component)
            if len(component) > 1:
                found.append(sorted(component))

    for root in sorted(graph):
        if root in order:
            continue
        work = [(root, enter(root))]
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                leave(node)
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
            elif target not in order:
                work.append((target, enter(target)))
            elif target in on_path:
                lowest[node] = min(lowest[node], order[target])
    return sorted(found)


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imported_names(tree: ast.Module, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _module_among(name: str, modules: Graph) -> str | None:
    """The module that an import of `a.b.c` reads: `a.b.c`, or `a.b` if that defines `c`."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def _package(module: str) -> str:
    package, _, below = module.partition(".")
    return f"runtime.{below.split('.')[0]}" if package == "runtime" and below else package
