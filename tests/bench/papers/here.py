"""Systems that run in the process of a test, without a limit: quick, and any error is loud."""

from benchmarks._papers.measure import WorkerPool
from benchmarks._papers.worker import Clocks, Stopped, Turn
from benchmarks.baselines import registry
from benchmarks.baselines.system import Unsupported


class Here:
    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def prepare(self, workload, table):
        try:
            self._turn.do("prepare", (workload, table))
        except Unsupported as error:
            raise Stopped("cannot", error.message) from None

    def first(self, limit):
        return self._turn.do("first", None)

    def timed(self, limit):
        return self._turn.do("timed", None)

    def forget(self):
        self._turn.do("forget", None)

    def end(self):
        pass


class HereWorkerPool(WorkerPool):
    def __init__(self, find=registry.system) -> None:
        super().__init__(find)

    def start(self, system):
        return Here(Turn(self._find(system), Clocks()))
