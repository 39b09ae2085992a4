"""Systems that misbehave, each in its own way. A worker loads them by reference to `find`."""

import os
import time

import numpy as np
import pyarrow as pa
from numba import njit
from numba.core.event import trigger_event

from benchmarks.baselines import registry
from benchmarks.baselines.system import Prepared, System, Unsupported


class Misbehaving(Prepared):
    def __init__(self, how):
        self._how = how
        self._runs = 0
        self._held = []

    def run(self):
        self._runs += 1
        self.figures = {"runs": self._runs}
        return getattr(self, self._how)() or {}

    def sleeps(self):
        time.sleep(1000)

    def loops(self):
        """As a kernel does, which no signal of Python's interrupts."""
        _forever(np.ones(1))

    def loops_later(self):
        if self._runs > 1:
            time.sleep(1000)

    def dies(self):
        os._exit(3)

    def hoards(self):
        while True:
            self._held.append(np.ones(10_000_000))

    def breaks(self):
        raise ValueError("as it must")

    def compiles(self):
        """A kernel of its own in each of the first two runs, which are long enough not to be run
        thrice."""
        if self._runs < 3:
            with trigger_event("numba:compile"):
                time.sleep(0.05)

    def lies(self):
        return {"q0": pa.table({"window_start": [-1], "COUNT(*)": [1.0], "SUM(B.x)": [1.0]})}

    def is_held_up(self):
        """By something else on the machine, in each of the first three runs."""
        if self._runs < 4:
            time.sleep(0.05)
        else:
            until = time.process_time() + 0.05
            while time.process_time() < until:
                pass

    def sleeps_a_little(self):
        time.sleep(0.03)

    def behaves(self):
        pass


class Odd(System):
    about = "misbehaves"
    cannot = "behave"

    def __init__(self, how):
        self.name = how

    def prepare(self, workload, table):
        if self.name == "refuses":
            raise Unsupported("it would rather not")
        return Misbehaving(self.name.removeprefix("plan-").replace("-", "_"))


@njit
def _forever(array):
    while array[0] > 0:
        array[0] += 1e-300


def find(name):
    if name == "is-not-there":
        raise ModuleNotFoundError("No module named 'nowhere'")
    return registry.system(name) if name in registry.NAMES else Odd(name)


class Threads(Prepared):
    """How many the libraries have."""

    def run(self):
        import numba

        self.figures = {
            "numba": numba.config.NUMBA_NUM_THREADS,
            "arrow": pa.cpu_count(),
            "arrow_io": pa.io_thread_count(),
            "blas": float(os.environ["OPENBLAS_NUM_THREADS"]),
            "omp": float(os.environ["OMP_NUM_THREADS"]),
        }
        return {}


class CountsThreads(Odd):
    def prepare(self, workload, table):
        return Threads()


def threads(name):
    return CountsThreads(name)
