"""Kernels of many files: compiled as one, and again when any of the files has changed."""

import importlib
import pickle
import sys

import numba
import pytest

PART = """
from runtime.execution.jit import compiled

@compiled
def part(x):
    return x + {}
"""
KERNEL = """
from runtime.execution.jit import entry
from {package}.part import part

@entry
def kernel(x):
    return part(x)
"""


@pytest.fixture
def kernel_of(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder = tmp_path / "kernel_of_two_files"
    folder.mkdir()

    def make(number):
        (folder / "part.py").write_text(PART.format(number))
        if not (folder / "kernel.py").exists():
            (folder / "kernel.py").write_text(KERNEL.format(package=folder.name))
        for name in [name for name in sys.modules if name.startswith(folder.name)]:
            del sys.modules[name]
        importlib.invalidate_caches()
        return importlib.import_module(f"{folder.name}.kernel").kernel

    return make


def test_a_kernel_is_compiled_again_when_a_part_has_changed(kernel_of):
    assert kernel_of(1)(1) == 2
    assert kernel_of(2)(1) == 3


def test_a_kernel_that_did_not_change_is_found_on_disk(kernel_of):
    assert kernel_of(1)(1) == 2
    again = kernel_of(1)
    assert again(1) == 2
    assert sum(again.stats.cache_hits.values()) == 1


def test_what_another_version_left_is_compiled_again(kernel_of, tmp_path):
    """Its index can name types that are gone."""
    assert kernel_of(1)(1) == 2
    (index,) = tmp_path.rglob("*.kernel-*.nbi")
    index.write_bytes(pickle.dumps(numba.__version__) + b"cgone.module\nType\n.")
    again = kernel_of(1)
    assert again(1) == 2
    assert sum(again.stats.cache_hits.values()) == 0
