"""Flips reach every kind of file of a checkpoint, and never both copies of one file."""

import random
from pathlib import Path

import pytest

from chaos.bit_flips import BitFlips
from pipeline.records import manifest_of, numbers
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.checkpoint_files import COPIES

KINDS = {
    "owners/#-#.owner",
    "owners/#-#.base",
    "owners/#-#.published",
    "epochs/#-#-#.epoch",
    "state/#-#-#-#-#-log.state",
    "state/#-#-#-#-#-snapshot.state",
}
LEASE = "leases/#-#"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Two epochs of a run on a disk that machines share."""
    store = BlobStore(str(tmp_path / "checkpoint"))
    store.shared = True
    checkpoints = CheckpointStore(store)
    checkpoints.claim(pytest.fail)
    for kind in ("log", "snapshot"):
        state = f"state/000000002-{checkpoints.files_name(0)}-{kind}.state"
        checkpoints.files.write(state, 2, bytes(1000))
    for epoch in range(2):
        checkpoints.commit(manifest_of(epoch), {"q": numbers(epoch)})
    checkpoints.mark_published()
    checkpoints.close()
    folder = tmp_path / "checkpoint"
    (folder / "empty").touch()
    (folder / "a" / "epochs" / ".000000002-f.epoch.7.tmp").write_text("half")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def flipped(before: dict[str, bytes], after: dict[str, bytes]) -> dict[str, int]:
    """How many bits changed in each file."""
    assert before.keys() == after.keys()
    changed = {}
    for path, content in before.items():
        pairs = zip(content, after[path], strict=True)
        changed[path] = sum((one ^ other).bit_count() for one, other in pairs)
    return {path: bits for path, bits in changed.items() if bits}


@pytest.mark.parametrize("seed", range(5))
def test_one_bit_in_one_file_of_every_kind(checkpoint: Path, seed: int) -> None:
    before, flips, notes = contents(checkpoint), BitFlips(checkpoint), list[str]()
    mend = flips.flip(random.Random(seed), notes.append)
    changed = flipped(before, contents(checkpoint))
    assert set(changed.values()) == {1}
    assert len(changed) == len(KINDS) + 1
    assert {name.removeprefix("a/").removeprefix("b/") for name in flips.made} == KINDS | {LEASE}
    assert len({name[2:] for name in changed}) == len(changed)
    assert sorted(note.rpartition(" ")[2] for note in notes) == sorted(changed)
    mend()
    assert contents(checkpoint) == before


def test_two_flips_meet_both_copies_of_every_kind(checkpoint: Path) -> None:
    flips = BitFlips(checkpoint)
    for seed in range(2):
        flips.flip(random.Random(seed), lambda what: None)()
    both = {f"{copy}/{kind}": 1 for copy in COPIES for kind in KINDS}
    assert flips.made == {**both, LEASE: 2}


def test_a_kind_that_was_there_and_never_flipped_is_missed(checkpoint: Path) -> None:
    flips = BitFlips(checkpoint)
    flips.look()
    assert flips.missed == set(), "nobody wanted any flips"
    for path in checkpoint.rglob("*.base"):
        path.unlink()
    flips.flip(random.Random(1), lambda what: None)
    assert flips.missed == {"owners/#-#.base"}


def test_a_mended_file_may_be_gone(checkpoint: Path) -> None:
    mend = BitFlips(checkpoint).flip(random.Random(1), lambda what: None)
    for name in contents(checkpoint):
        (checkpoint / name).unlink()
    mend()
    assert contents(checkpoint) == {}
