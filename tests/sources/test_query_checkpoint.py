"""Which checkpoints of a Spark query fit which manifests, with folders as Spark writes them."""

import re
from pathlib import Path

import pytest

from runtime.errors import EnvironmentFailure, HamletError
from spark_ingest.sources.query_checkpoint import QueryCheckpoint

OURS, OTHER = "3608fe01-3cfb-4cdf-92a0-b689008f1608", "f1342d7d-6fbf-4105-9a46-b19c83427809"


def write(folder: Path, query: str | None, offsets, commits) -> Path:
    """As Spark does it on a disk: with a checksum beside each file, and leftovers of a crash."""
    for name, batches in (("offsets", offsets), ("commits", commits)):
        (folder / name).mkdir(parents=True)
        for batch in batches:
            (folder / name / f"{batch}").write_text("v1\n{}")
            (folder / name / f".{batch}.crc").write_bytes(b"crc")
        (folder / name / ".99.3f5e.tmp").write_text("v1\n")
    if query is not None:
        (folder / "metadata").write_text(f'{{"id":"{query}"}}')
    return folder


def batches(last: int) -> range:
    return range(last + 1)


# The manifest has batch 5 of our query, or nothing: query None and batch -1.
AHEAD = r"is ahead: .* has batch 6, but the job has committed batch 5"
LACKS = r"lacks batch 5, up to which the job has read"


@pytest.mark.parametrize(
    ("query", "offsets", "commits", "refused"),
    [
        pytest.param(OURS, batches(5), batches(5), None, id="stopped between batches"),
        pytest.param(OURS, batches(5), batches(4), None, id="killed before Spark's commit"),
        pytest.param(OURS, batches(6), batches(5), None, id="killed before the epoch's commit"),
        pytest.param(OURS, [3, 4, 5, 6], [3, 4, 5], None, id="old batches are deleted"),
        pytest.param(OURS, batches(6), batches(4), None, id="one commit of Spark is lost"),
        pytest.param(OURS, batches(6), batches(6), AHEAD, id="Spark has committed the next batch"),
        pytest.param(OURS, batches(7), batches(6), AHEAD, id="Spark has planned two batches more"),
        pytest.param(OURS, batches(7), batches(5), AHEAD, id="planned two more, commit lost"),
        pytest.param(OURS, batches(9), batches(9), r"has batch 9,", id="far ahead"),
        pytest.param(None, [], [], LACKS, id="missing"),
        pytest.param(OURS, [], [], LACKS, id="started over"),
        pytest.param(OURS, batches(4), batches(4), LACKS, id="an older copy"),
        pytest.param(OURS, [0, 1, 2, 3, 4, 6], batches(5), LACKS, id="offsets lost"),
        pytest.param(None, batches(5), batches(5), LACKS, id="its id is lost"),
        pytest.param(OTHER, batches(5), batches(5), f"another query, {OTHER}", id="another query"),
    ],
)
def test_manifest_with_batch_5(tmp_path, query, offsets, commits, refused):
    found = QueryCheckpoint.read(write(tmp_path / "spark", query, offsets, commits))
    if refused is None:
        found.check(OURS, 5)
        return
    with pytest.raises(HamletError) as error:
        found.check(OURS, 5)
    assert re.search(refused, error.value.message)
    assert "start over with another --checkpoint folder" in error.value.hint


@pytest.mark.parametrize(
    ("query", "offsets", "commits", "refused"),
    [
        pytest.param(None, [], [], None, id="nothing yet"),
        pytest.param(OURS, [], [], None, id="killed before the first batch was planned"),
        pytest.param(OURS, [0], [], None, id="killed before the first epoch's commit"),
        pytest.param(OURS, [0], [0], "has batch 0, but the job has committed no batch", id="ahead"),
        pytest.param(OURS, [0, 1], [], "has batch 0, but", id="ahead, commit lost"),
        pytest.param(OTHER, batches(5), batches(5), "has batch 5, but", id="of another job"),
    ],
)
def test_manifest_without_a_batch(tmp_path, query, offsets, commits, refused):
    found = QueryCheckpoint.read(write(tmp_path / "spark", query, offsets, commits))
    if refused is None:
        found.check(None, -1)
        return
    with pytest.raises(HamletError, match=refused):
        found.check(None, -1)


def test_folder_that_does_not_exist(tmp_path):
    found = QueryCheckpoint.read(tmp_path / "spark")
    found.check(None, -1)
    with pytest.raises(HamletError, match="lacks batch 0"):
        found.check(OURS, 0)


def test_hint_of_a_checkpoint_that_is_ahead_leads_out(tmp_path):
    """Whoever deletes what the hint names has a checkpoint that fits."""
    folder = write(tmp_path / "spark", OURS, batches(9), batches(8))
    with pytest.raises(HamletError) as error:
        QueryCheckpoint.read(folder).check(OURS, 5)
    found = re.search(r"above (\d+) in (\S+) and those above (\d+) in (\S+);", error.value.hint)
    assert found is not None
    for number, place in ((found[1], found[2]), (found[3], found[4])):
        for file in Path(place).iterdir():
            if file.name.isdecimal() and int(file.name) > int(number):
                file.unlink()
    left = QueryCheckpoint.read(folder)
    left.check(OURS, 5)
    assert (max(left.planned), left.committed) == (6, 5)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": 1}'])
def test_damaged_id(tmp_path, content):
    folder = write(tmp_path / "spark", None, [0], [])
    (folder / "metadata").write_text(content)
    with pytest.raises(EnvironmentFailure, match="metadata is damaged"):
        QueryCheckpoint.read(folder)


@pytest.mark.parametrize("name", ["", "offsets"])
def test_links_are_refused(tmp_path, name):
    folder = write(tmp_path / "spark", OURS, [0], [])
    place = folder / name
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HamletError, match="is a link, and no link in a checkpoint is followed"):
        QueryCheckpoint.read(folder)
