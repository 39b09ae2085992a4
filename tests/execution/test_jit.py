"""Kernels of many files: compiled as one, and again when any of the files has changed."""

import importlib
import pickle
import sys

import numba
import pytest

NUMBERS = "STEP = {}\n"
PART = """
from {package}.numbers import STEP
from runtime.execution.jit import {part}

@{part}
def part(x):
    return x + STEP
"""
KERNEL = """
from runtime.execution.jit import {kernel}
from {package}.part import part

@{kernel}
def kernel(x):
    return part(x)
"""
# What Python calls, and what that calls.
KINDS = [("entry", "compiled"), ("entry", "inlined_njit"), ("cached_njit", "cached_njit")]


@pytest.fixture(params=KINDS, ids="-".join)
def kernel_of(request, tmp_path, monkeypatch):
    """Makes a kernel that adds a number; the number is in a file that only its part imports."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder = tmp_path / "kernel_of_three_files"
    folder.mkdir()
    kernel, part = request.param
    names = {"package": folder.name, "kernel": kernel, "part": part}
    (folder / "kernel.py").write_text(KERNEL.format(**names))
    (folder / "part.py").write_text(PART.format(**names))

    def make(number):
        (folder / "numbers.py").write_text(NUMBERS.format(number))
        for name in [name for name in sys.modules if name.startswith(folder.name)]:
            del sys.modules[name]
        importlib.invalidate_caches()
        return importlib.import_module(f"{folder.name}.kernel").kernel

    return make


def test_a_kernel_is_compiled_again_when_the_innermost_file_has_changed(kernel_of):
    assert kernel_of(1)(1) == 2
    assert kernel_of(22)(1) == 23


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
