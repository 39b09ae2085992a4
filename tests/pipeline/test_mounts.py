"""A disk that other machines may use too is told from one of this machine."""

from pathlib import Path

import pytest

from runtime.pipeline import mounts
from runtime.pipeline.mounts import file_system_of, is_own_disk

TABLE = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 0:40 / /mnt/team rw shared:1 master:2 - nfs4 server:/export rw,vers=4.2
41 40 0:41 / /mnt/team/fast rw - xfs /dev/sdb rw
42 27 0:42 / /mnt/with\040blank rw - fuse.sshfs host:/ rw
43 27 0:43 / /mnt/twice rw - ext4 /dev/sdc rw
44 27 0:44 / /mnt/twice rw - cifs //host/share rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/state", "ext4"),
        ("/mnt/team", "nfs4"),
        ("/mnt/team/state/of/job", "nfs4"),
        ("/mnt/team/fast/state", "xfs"),
        ("/mnt/teams/state", "ext4"),
        ("/mnt/with blank/state", "fuse.sshfs"),
        ("/mnt/twice/state", "cifs"),
    ],
)
def test_the_nearest_mount_counts(path: str, kind: str) -> None:
    assert file_system_of(Path(path), TABLE) == kind


@pytest.mark.parametrize("kind", ["nfs", "cifs", "fuse.sshfs", "ceph", "lustre", "unheard-of"])
def test_whatever_is_not_known_may_be_shared(kind: str, tmp_path: Path, monkeypatch) -> None:
    table = tmp_path / "mountinfo"
    monkeypatch.setattr(mounts, "_TABLE", table)
    assert not is_own_disk(tmp_path)  # there is no table
    table.write_text(f"27 1 254:0 / / rw,relatime - {kind} /dev/vda rw\n")
    assert not is_own_disk(tmp_path)
    table.write_text("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n")
    assert is_own_disk(tmp_path)


def test_a_link_to_a_shared_disk(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/mnt/team")
    assert file_system_of(tmp_path / "link" / "state", TABLE) == "nfs4"
