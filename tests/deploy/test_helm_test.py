"""What `helm test` asks of the release's job: an epoch, where there is something to read."""

import importlib.util
import io
import sys

import pytest

from tools.kubernetes import CHART

SILENT = OSError("refused")


def page(epochs, in_flight=0, backlog=0):
    """As the job's metrics are."""
    of = '{hamlet_job="rides"}'
    return f"""# HELP hamlet_epochs_total Epochs that this run has committed
# TYPE hamlet_epochs_total counter
hamlet_epochs_total{of} {float(epochs)}
hamlet_epochs_created{of} 1.7e+09
hamlet_epochs_in_flight{of} {float(in_flight)}
hamlet_backlog{{hamlet_job="rides",unit="bytes"}} {float(backlog)}
"""


@pytest.fixture
def looked_at(monkeypatch):
    """Gives its answer to pages that come one after another, the last for ever."""
    spec = importlib.util.spec_from_file_location("helm_test", CHART / "files" / "test.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("HAMLET_METRICS", "http://rides/metrics")
    clock = [0.0]

    def run(*pages):
        left = list(pages)

        def urlopen(_url, timeout):
            assert timeout
            found = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(found, OSError):
                raise found
            return io.BytesIO(found.encode())

        def sleep(seconds):
            clock[0] += seconds

        monkeypatch.setattr(module.urllib.request, "urlopen", urlopen)
        monkeypatch.setattr(module.time, "sleep", sleep)
        monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
        said = module.looked_at()
        return said, clock[0]

    return run


def test_an_epoch_is_enough(looked_at):
    assert looked_at(page(3)) == ("the job has committed 3 epochs", 0)


def test_a_job_that_starts_has_time(looked_at):
    starting = [SILENT] * 20 + [page(0)] * 20 + [page(0, in_flight=1)] * 20
    said, after = looked_at(*starting, page(1))
    assert said == "the job has committed 1 epochs"
    assert after == 120


def test_an_idle_input_is_said(looked_at):
    said, after = looked_at(page(0))
    assert "its input is idle" in said
    assert after == 60


@pytest.mark.parametrize("stuck", [page(0, in_flight=1), page(0, backlog=5)])
def test_a_job_that_commits_nothing_fails(looked_at, stuck):
    with pytest.raises(SystemExit, match="the job reads, and has committed no epoch, for 300 s"):
        looked_at(page(0), stuck)


def test_a_job_that_does_not_answer_fails(looked_at):
    with pytest.raises(SystemExit, match="does not answer at http://rides/metrics: refused"):
        looked_at(SILENT)


def test_it_needs_nothing_but_python():
    text = (CHART / "files" / "test.py").read_text()
    imports = [line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))]
    assert {name.partition(".")[0] for name in imports} <= set(sys.stdlib_module_names)
