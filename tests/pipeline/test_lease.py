"""On a store that machines share, a new run waits until the last one has released its lease, or
cannot renew it any more."""

import threading
import time
from pathlib import Path

import pytest

from pipeline.records import manifest_of
from runtime.errors import EnvironmentFailure, HamletError
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.lease import Lease, await_end_of_leases

SECONDS = 0.3
# Nobody stops a thread for so long, on a busy machine either.
LONG_SECONDS = 1.5
OWNER = "000000001-" + "a" * 12


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    found = BlobStore(str(tmp_path / "checkpoint"), durable=False)  # a busy disk syncs slowly
    found.shared = True
    return found


def awaited(store: BlobStore, seconds: float = SECONDS) -> list[str]:
    said: list[str] = []
    await_end_of_leases(store, [OWNER], said.append, seconds)
    return said


def cut_off(store: BlobStore) -> None:
    """Nothing can be written where the leases are."""
    folder = Path(store.address) / "leases"
    folder.rename(folder.with_name("was-leases"))
    folder.write_text("")


def until_it_runs_out(lease: Lease) -> EnvironmentFailure:
    while True:
        try:
            lease.check()
        except EnvironmentFailure as error:
            return error
        time.sleep(SECONDS / 10)


def test_without_a_lease_nobody_waits(store: BlobStore) -> None:
    assert awaited(store) == []


def test_a_released_lease(store: BlobStore) -> None:
    lease = Lease(store, OWNER, 60.0)
    lease.check()
    lease.release()
    assert awaited(store) == []


def test_a_lease_that_nobody_renews_runs_out(store: BlobStore) -> None:
    store.write(f"leases/{OWNER}", b"7")
    assert awaited(store) == [
        f"waiting up to 0.3 s for the lease of the last run on {store.address}"
    ]


def test_a_lease_that_is_renewed_is_not_taken_over(store: BlobStore) -> None:
    lease = Lease(store, OWNER, LONG_SECONDS)
    with pytest.raises(HamletError, match="another run uses the checkpoints") as error:
        awaited(store, LONG_SECONDS)
    assert error.value.hint == "stop that run first"
    lease.check()
    lease.release()


def test_an_owner_that_is_cut_off_ends_and_its_first_error_counts(store: BlobStore) -> None:
    lease = Lease(store, OWNER, SECONDS)
    cut_off(store)
    error = until_it_runs_out(lease)
    assert "could not be written to for 0.3 s" in error.message
    assert "resumes" in str(error.hint)
    lease.release()  # raises nothing


def test_a_renewal_that_fails_is_tried_again(store: BlobStore) -> None:
    lease = Lease(store, OWNER, SECONDS)
    cut_off(store)
    until_it_runs_out(lease)
    (Path(store.address) / "leases").unlink()
    while not store.exists(f"leases/{OWNER}"):
        time.sleep(SECONDS / 10)
    lease.release()
    assert awaited(store) == []


def claimed(store: BlobStore, *said: str) -> CheckpointStore:
    heard: list[str] = []
    checkpoints = CheckpointStore(store, lease_seconds=LONG_SECONDS)
    checkpoints.claim(pytest.fail, heard.append)
    assert [each.split(" for ")[0] for each in heard] == list(said)
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
    run = claimed(store, "waiting up to 1.5 s")
    run.commit(manifest_of(0), {})
    run.close()
    assert threading.active_count() == began


def test_an_owner_that_is_cut_off_does_not_publish(store: BlobStore) -> None:
    run = claimed(store)
    cut_off(store)
    assert run._lease is not None
    until_it_runs_out(run._lease)
    with pytest.raises(EnvironmentFailure, match="may have taken over"):
        run.commit(manifest_of(0), {})


def test_a_temporary_checkpoint_has_no_lease(tmp_path: Path) -> None:
    assert not BlobStore(str(tmp_path), durable=False).shared
    assert BlobStore("mock://bucket/folder").shared
