"""A line on the terminal while numba compiles, and none when kernels are found compiled."""

import importlib.util
import io
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from hamlet.cli.compile_progress import watch_compiler
from hamlet.cli.progress import COMPILING, progress_bars
from hamlet.cli.stderr import Notices

KERNEL = """
from numba import njit

@njit(cache=True)
def inner(x):
    return x + 1

@njit(cache=True)
def kernel(x):
    return inner(x) * 2
"""


class Watched(Notices):
    """As if on a terminal."""

    live = True

    def __init__(self) -> None:
        super().__init__()
        self.terminal = io.StringIO()
        self.console = Console(file=self.terminal, force_terminal=True, width=100)


def loaded(path: Path) -> ModuleType:
    """The module as a new process would have it: with nothing compiled in memory."""
    spec = importlib.util.spec_from_file_location("kernel_of_a_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "kernel_of_a_test.py"
    path.write_text(KERNEL)
    return path


def test_compiling_is_told_once_for_a_kernel_and_all_it_calls(path: Path):
    told: list[bool] = []
    with watch_compiler(told.append) as compiler:
        assert loaded(path).kernel(1) == 4
    assert told == [True, False]
    assert compiler.seconds > 0


def test_a_kernel_from_the_cache_is_not_told(path: Path):
    loaded(path).kernel(1)
    told: list[bool] = []
    with watch_compiler(told.append):
        assert loaded(path).kernel(1) == 4
    assert told == []


def test_nothing_is_told_afterwards(path: Path):
    told: list[bool] = []
    with watch_compiler(told.append):
        pass
    loaded(path).kernel(1)
    assert told == []


def test_the_line_is_there_while_it_compiles(path: Path):
    notices = Watched()
    with progress_bars(notices) as watcher, watch_compiler(watcher.compiling):
        watcher.read(5)
        loaded(path).kernel(1)
        watcher.match(5, 5)
    assert COMPILING in notices.terminal.getvalue()


def test_no_line_when_nothing_compiles():
    notices = Watched()
    with progress_bars(notices) as watcher, watch_compiler(watcher.compiling):
        watcher.read(5)
        watcher.match(5, 5)
    assert "matching" in notices.terminal.getvalue()
    assert COMPILING not in notices.terminal.getvalue()


def test_one_line_in_a_pipe(path: Path, capfd: pytest.CaptureFixture[str]):
    with progress_bars(Notices()) as watcher, watch_compiler(watcher.compiling):
        for _ in range(2):
            path.write_text(path.read_text() + "# changed\n")
            loaded(path).kernel(1)
    assert capfd.readouterr() == ("", f"{COMPILING}\n")


def test_nothing_if_quiet(path: Path, capfd: pytest.CaptureFixture[str]):
    with progress_bars(Notices(quiet=True)) as watcher, watch_compiler(watcher.compiling):
        loaded(path).kernel(1)
    assert capfd.readouterr() == ("", "")
