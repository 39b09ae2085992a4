"""On a store that machines share, a new run waits until the last one has released its lease, or
cannot renew it any more."""

import threading
from pathlib import Path

import pyarrow as pa
import pytest

from pipeline.records import manifest_of
from runtime.errors import EnvironmentFailure, HamletError
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.lease import LEASE_SECONDS, Lease, LeaseClock, await_end_of_leases
from tools.patience import PATIENCE_S

OWNER = "000000001-" + "a" * 12


class ManualClock(LeaseClock):
    """Time passes only while somebody sleeps. No lease is renewed."""

    def __init__(self) -> None:
        self._time = 0.0

    def boottime(self) -> float:
        return self._time

    def monotonic(self) -> float:
        return self._time

    def sleep(self, seconds: float) -> None:
        self._time += seconds

    def wait(self, stopped: threading.Event, seconds: float) -> bool:
        return stopped.wait()


class RenewingClock(ManualClock):
    """Whoever sleeps lets the owner of the one lease renew it once, or try to."""

    def __init__(self) -> None:
        super().__init__()
        self._waits = threading.Semaphore(0)
        self._turn = threading.Semaphore(0)

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        assert self._waits.acquire(timeout=PATIENCE_S)
        self._turn.release()
        assert self._waits.acquire(timeout=PATIENCE_S)
        self._waits.release()

    def wait(self, stopped: threading.Event, seconds: float) -> bool:
        self._waits.release()
        while not self._turn.acquire(timeout=0.01):
            if stopped.is_set():
                return True
        return stopped.is_set()


class SuspendedClock(ManualClock):
    """A lease is due to be renewed once `wake` is called, whatever time it is by then."""

    def __init__(self) -> None:
        super().__init__()
        self._awake = threading.Event()
        self._renewed: list[threading.Event] = []

    def wake(self) -> None:
        self._awake.set()

    def wait(self, stopped: threading.Event, seconds: float) -> bool:
        if stopped in self._renewed:
            return stopped.wait(PATIENCE_S)
        self._renewed.append(stopped)
        return not self._awake.wait(PATIENCE_S)


class SlowStore(BlobStore):
    """The next write takes so many `seconds`."""

    def __init__(self, address: str) -> None:
        super().__init__(address, durable=False)
        self.clock = SuspendedClock()
        self.seconds = 0.0
        self.written: list[bytes | pa.Buffer] = []

    def write(self, name: str, *parts: bytes | pa.Buffer, replace: bool = False) -> int:
        self.written += parts
        seconds, self.seconds = self.seconds, 0.0
        self.clock.sleep(seconds)
        return super().write(name, *parts, replace=replace)


class StaleListing(BlobStore):
    """Shared, and lists no file of the `other` run."""

    def __init__(self, address: str, durable: bool = True) -> None:
        super().__init__(address, durable)
        self.shared = True
        self.other = "nobody"

    def names(self, below: str = "") -> list[str]:
        return [name for name in super().names(below) if self.other not in name]


@pytest.fixture
def slow_store(tmp_path: Path) -> SlowStore:
    return SlowStore(str(tmp_path / "checkpoint"))


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    found = BlobStore(str(tmp_path / "checkpoint"), durable=False)  # a busy disk syncs slowly
    found.shared = True
    return found


def awaited(store: BlobStore, clock: LeaseClock | None = None) -> list[str]:
    said: list[str] = []
    await_end_of_leases(store, [OWNER], said.append, clock=clock or ManualClock())
    return said


def cut_off(store: BlobStore) -> None:
    """Nothing can be written where the leases are."""
    folder = Path(store.address) / "leases"
    folder.rename(folder.with_name("was-leases"))
    folder.write_text("")


def test_without_a_lease_nobody_waits(store: BlobStore) -> None:
    assert awaited(store) == []


def test_a_released_lease(store: BlobStore) -> None:
    lease = Lease(store, OWNER)
    lease.check()
    lease.release()
    assert awaited(store) == []


def test_a_lease_that_nobody_renews_runs_out(store: BlobStore) -> None:
    store.write(f"leases/{OWNER}", b"7")
    assert awaited(store) == [
        f"waiting up to 30 s for the lease of the last run on {store.address}"
    ]


@pytest.mark.parametrize("byte", range(len(b"released")))
def test_a_damaged_lease_is_waited_for(store: BlobStore, byte: int) -> None:
    """It has one copy. Nobody knows whether it was released, so it must run out."""
    Lease(store, OWNER).release()
    whole = store.read(f"leases/{OWNER}").to_pybytes()
    for bit in range(8):
        flipped = whole[:byte] + bytes([whole[byte] ^ 1 << bit]) + whole[byte + 1 :]
        store.write(f"leases/{OWNER}", flipped, replace=True)
        assert len(awaited(store)) == 1


def test_a_lease_that_is_renewed_is_not_taken_over(store: BlobStore) -> None:
    clock = RenewingClock()
    lease = Lease(store, OWNER, clock=clock)
    with pytest.raises(HamletError, match="another run uses the checkpoints") as error:
        awaited(store, clock)
    assert error.value.hint == "stop that run first"
    lease.check()
    lease.release()


def test_an_owner_that_is_cut_off_ends_and_its_first_error_counts(store: BlobStore) -> None:
    clock = RenewingClock()
    lease = Lease(store, OWNER, clock=clock)
    cut_off(store)
    clock.sleep(LEASE_SECONDS - 1)
    lease.check()
    ManualClock.sleep(clock, 1)
    with pytest.raises(EnvironmentFailure, match="could not be written to for 30 s") as error:
        lease.check()
    assert "resumes" in str(error.value.hint)
    lease.release()  # raises nothing


def test_a_renewal_that_fails_is_tried_again(store: BlobStore) -> None:
    clock = RenewingClock()
    lease = Lease(store, OWNER, clock=clock)
    cut_off(store)
    clock.sleep(LEASE_SECONDS / 2)
    (Path(store.address) / "leases").unlink()
    clock.sleep(LEASE_SECONDS / 3)
    clock.sleep(LEASE_SECONDS / 2)
    lease.check()
    assert store.exists(f"leases/{OWNER}")
    lease.release()
    assert awaited(store) == []


def test_a_lease_that_ran_out_is_not_renewed(slow_store: SlowStore) -> None:
    lease = Lease(slow_store, OWNER, clock=slow_store.clock)
    slow_store.clock.sleep(LEASE_SECONDS + 1)
    slow_store.clock.wake()
    lease.release()
    assert slow_store.written == [b"0", b"released"]
    with pytest.raises(EnvironmentFailure, match="may have taken over"):
        lease.check()


def test_a_lease_that_runs_out_while_it_is_renewed(slow_store: SlowStore) -> None:
    """Another run may have seen, before the write, that it had run out."""
    lease = Lease(slow_store, OWNER, clock=slow_store.clock)
    slow_store.clock.sleep(LEASE_SECONDS / 2)
    slow_store.seconds = LEASE_SECONDS - 1
    slow_store.clock.wake()
    lease.release()
    assert slow_store.written == [b"0", b"1", b"released"]
    with pytest.raises(EnvironmentFailure, match="may have taken over"):
        lease.check()


def test_a_lapsed_lease_does_not_revive(store: BlobStore) -> None:
    """Its owner slept while another run took over. The listing that it gets is old."""
    clock = SuspendedClock()
    stale = StaleListing(store.address, durable=False)
    first = claimed(stale, clock=clock)
    first.commit(manifest_of(0), {})
    second = claimed(store, "waiting up to 30 s", clock=clock)
    second.commit(manifest_of(1), {})
    stale.other = second.run
    clock.wake()
    first.close()
    with pytest.raises(EnvironmentFailure, match="may have taken over"):
        first.commit(manifest_of(1), {})
    second.close()


def claimed(store: BlobStore, *said: str, clock: LeaseClock | None = None) -> CheckpointStore:
    notices: list[str] = []
    checkpoints = CheckpointStore(store, lease_clock=clock or ManualClock())
    checkpoints.claim(pytest.fail, notices.append)
    assert [each.split(" for ")[0] for each in notices] == list(said)
    return checkpoints


def test_runs_on_a_shared_store_take_turns(store: BlobStore) -> None:
    first = claimed(store)
    first.commit(manifest_of(0), {})
    first.close()
    second = claimed(store)
    second.commit(manifest_of(1), {})
    assert store.names("leases") == [f"leases/{second.owner}"]
    second.close()


def test_a_run_waits_for_one_that_was_killed(store: BlobStore) -> None:
    """Several of them are waited for together."""
    for number in (1, 2, 3):
        store.write(f"leases/00000000{number}-{'a' * 12}", b"5")
        CheckpointFiles(store).write(f"owners/00000000{number}-{'a' * 12}.owner", -1, b"{}")
    began = threading.active_count()
    run = claimed(store, "waiting up to 30 s")
    run.commit(manifest_of(0), {})
    run.close()
    assert threading.active_count() == began


def test_an_owner_that_is_cut_off_does_not_publish(store: BlobStore) -> None:
    clock = ManualClock()
    run = claimed(store, clock=clock)
    cut_off(store)
    clock.sleep(LEASE_SECONDS + 1)
    with pytest.raises(EnvironmentFailure, match="may have taken over"):
        run.commit(manifest_of(0), {})


def test_a_temporary_checkpoint_has_no_lease(tmp_path: Path) -> None:
    assert not BlobStore(str(tmp_path), durable=False).shared
    assert BlobStore("mock://bucket/folder").shared
