"""Who can reach an embedded cluster."""

import os
import stat
from ipaddress import ip_address

import pytest

from cluster import proc
from tools.patience import PATIENCE_S

CLIENT = """
import ray._raylet as raylet
client = raylet.GcsClient(address={address!r})
print(client.internal_kv_keys(b"", None, timeout=300))
"""


def test_nothing_listens_beyond_loopback(cluster, spark):
    spark.range(10).count()
    listening = proc.listening(proc.tree(os.getpid()))
    assert len(listening) > 10  # Ray's own, its workers, four JVMs: they were found at all
    outside = {
        address: process
        for address, process in listening.items()
        if not ip_address(address.rpartition(":")[0]).is_loopback
    }
    assert outside == {}


@pytest.mark.parametrize(
    "without",
    [
        {"RAY_AUTH_MODE": "disabled", "RAY_AUTH_TOKEN_PATH": None},
        {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64},
    ],
    ids=["no token", "wrong token"],
)
def test_client_without_the_token_is_refused(cluster, run, without):
    client = run(CLIENT.format(address=cluster.address), **without)
    out, err = client.communicate(timeout=PATIENCE_S)
    assert client.returncode != 0
    assert out == ""
    assert "auth" in err.lower()


def test_client_with_the_token_is_served(cluster, run):
    client = run(CLIENT.format(address=cluster.address))
    out, err = client.communicate(timeout=PATIENCE_S)
    assert client.returncode == 0, err
    assert "session_name" in out


def test_token_is_for_this_user_alone(cluster):
    token = os.environ["RAY_AUTH_TOKEN_PATH"]
    assert stat.S_IMODE(os.stat(token).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(cluster.folder).st_mode) == 0o700


def test_token_is_on_no_command_line_and_in_no_log(cluster, spark):
    with open(os.environ["RAY_AUTH_TOKEN_PATH"], "rb") as file:
        token = file.read()
    for pid in proc.tree(os.getpid()):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            assert token not in file.read()
    logs = [path for path in cluster.folder.rglob("*") if path.is_file() and path.name != "token"]
    assert logs
    assert not [path for path in logs if token in path.read_bytes()]
