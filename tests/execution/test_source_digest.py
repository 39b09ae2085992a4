"""What compiled code is kept under: every source file that it is made of."""

import ast
import importlib
import inspect
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numba.extending
import pytest
from numba.core.registry import CPUDispatcher

import runtime
from runtime.execution.kernel_template import KernelTemplate
from runtime.execution.operators.graphlet import kernel as graphlet_kernel
from runtime.execution.source_digest import imports_in, source_digest, sources_of

ROOT = Path(runtime.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def modules_with_kernels():
    """The modules that have functions with compiled code on disk."""
    return sorted(
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        for path in FILES
        if any(f"\n@{name}" in path.read_text() for name in ("entry", "cached_njit"))
    )


def parsed_imports(path):
    """The imports of a file, by Python's own parser."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {(alias.name, None) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found |= {(module, alias.name) for alias in node.names}
    return found


def test_every_import_statement_is_found():
    for path in FILES:
        found = {
            (module, name)
            for module, names in imports_in(path.read_text())
            for name in (names or [None])
        }
        assert parsed_imports(path) - {(m, "*") for m, _ in found} <= found, path


def functions_in(dispatcher):
    """The Python functions whose code ends up in a compiled one, by following global names."""
    waiting, found = [dispatcher.py_func], set()
    while waiting:
        function = waiting.pop()
        if function in found or not function.__module__.startswith("runtime."):
            continue
        found.add(function)
        names = set()
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            names |= set(code.co_names)
            codes += [each for each in code.co_consts if inspect.iscode(each)]
        for value in (function.__globals__.get(name) for name in names):
            if isinstance(value, CPUDispatcher):
                waiting.append(value.py_func)
            elif isinstance(value, numba.extending._Intrinsic):
                waiting.append(value._defn)
            elif inspect.isfunction(value):
                waiting.append(value)
    return found


@pytest.mark.parametrize("name", modules_with_kernels())
def test_all_code_of_a_kernel_is_in_its_digest(name):
    module = importlib.import_module(name)
    files = set(sources_of([(name, ())]).values())
    dispatchers = [
        each
        for each in vars(module).values()
        if isinstance(each, CPUDispatcher) and each.py_func.__module__ == name
    ]
    assert dispatchers
    for dispatcher in dispatchers:
        assert {Path(f.__code__.co_filename) for f in functions_in(dispatcher)} <= files


@pytest.mark.parametrize("name", modules_with_kernels())
def test_all_imports_of_a_kernel_are_in_its_digest(name):
    """Constants too: they are compiled in, and do not say where they come from."""
    sources = sources_of([(name, ())])
    for module, path in sources.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for imported, attribute in parsed_imports(path):
            full = importlib.util.resolve_name(imported, package)
            if full.startswith("runtime"):
                assert full in sources or importlib.util.find_spec(full).origin is None
                assert (
                    attribute is None
                    or f"{full}.{attribute}" in sources
                    or not _is_module(f"{full}.{attribute}")
                )


def _is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


def test_what_extends_numba_is_in_every_digest():
    """A type that is passed to a kernel need not be imported by it."""
    extending = {
        path
        for path in FILES
        if "register_model" in path.read_text() or "typeof_impl" in path.read_text()
    }
    assert extending
    assert extending <= set(sources_of([]).values())


def test_editing_the_parser_leaves_the_large_kernels():
    """They take long to compile, so they import no more than they need."""
    for name in ("graphlet.kernel.loop", "range_index.kernel", "next_match.kernel"):
        sources = sources_of([(f"runtime.execution.operators.{name}", ())])
        assert not [each for each in sources if each.startswith("runtime.language.")]


EDIT = """
import sys
from collections import defaultdict
from pathlib import Path

import runtime
from runtime.execution.source_digest import source_digest
from runtime.execution import kernel_template
from runtime.execution.kernel_template import KernelTemplate

root = Path(runtime.__file__).parent
folder = root / "execution/operators/graphlet/kernel"

def digests():
    kernel_template._digest_of_imports.cache_clear()  # as in the next process
    kernel = KernelTemplate(folder, "record.py", defaultdict(int), {})
    return source_digest(sys.argv[1]), kernel._path.name

before = digests()
for name in sys.argv[2:]:
    with (root / name).open("a") as file:
        file.write("# edited\\n")
    after = digests()
    print(name, *(int(one != other) for one, other in zip(before, after)))
    before = after
"""


def test_editing_a_file_changes_the_digests_of_what_is_made_of_it(tmp_path):
    """In a copy of the runtime: of a kernel in its place, and of one that is copied."""
    shutil.copytree(ROOT, tmp_path / "runtime", ignore=shutil.ignore_patterns("__pycache__"))
    edited = {
        "execution/prefetch.py": "0 1",
        "execution/cycle_clock.py": "0 1",
        "execution/kernel_args.py": "1 1",
        "execution/wide_float.py": "1 1",
        "execution/hashing.py": "0 0",
        "execution/operators/range_index/node_arena.py": "1 0",
        "execution/operators/graphlet/operator.py": "0 0",
    }
    ran = subprocess.run(
        [sys.executable, "-c", EDIT, "runtime.execution.operators.range_index.kernel", *edited],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "HAMLET_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines() == [f"{name} {changes}" for name, changes in edited.items()]


def test_the_copied_kernel_knows_what_it_imports():
    folder = Path(graphlet_kernel.__file__).parent
    kernel = KernelTemplate(folder, "record.py", defaultdict(int), {})
    imported = sources_of(kernel._imports)
    for path in folder.glob("*.py"):
        for module, _ in parsed_imports(path):
            assert not module.startswith("runtime.") or module in imported


def test_the_digest_is_of_contents():
    name = "runtime.execution.wide_float"
    assert source_digest(name) == source_digest(name)
    assert source_digest(name) != source_digest("runtime.execution.hashing")
