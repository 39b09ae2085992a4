"""Systems that run in the process of a test, without a limit: quick, and any error is loud."""

from benchmarks._papers.measure import WorkerPool
from benchmarks._papers.worker import Clocks, RequestHandler, Stopped
from benchmarks.baselines import registry
from benchmarks.baselines.system import Unsupported


class Here:
    def __init__(self, handler: RequestHandler) -> None:
        self._handler = handler

    def prepare(self, workload, table):
        try:
            self._handler.do("prepare", (workload, table))
        except Unsupported as error:
            raise Stopped("cannot", error.message) from None

    def first(self, limit):
        return self._handler.do("first", None)

    def timed(self, limit):
        return self._handler.do("timed", None)

    def forget(self):
        self._handler.do("forget", None)

    def end(self):
        pass


class HereWorkerPool(WorkerPool):
    def __init__(self, find=registry.system) -> None:
        super().__init__(find)

    def start(self, system):
        return Here(RequestHandler(self._find(system), Clocks()))
