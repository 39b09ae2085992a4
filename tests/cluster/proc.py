"""What the kernel says of a process and all below it: who they are, and where they listen."""

import re
from ipaddress import IPv6Address, ip_address
from pathlib import Path

LISTENING = "0A"


def tree(root: int) -> list[int]:
    """The process and its descendants."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def listening(pids: list[int]) -> dict[str, str]:
    """The addresses that these processes listen on, each with the process that does."""
    sockets = {**_sockets("/proc/net/tcp"), **_sockets("/proc/net/tcp6")}
    found = {}
    for pid in pids:
        for inode in _inodes(pid):
            if inode in sockets:
                found[sockets[inode]] = _command(pid)
    return found


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def name(pid: int) -> str:
    """Of its program; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _sockets(table: str) -> dict[str, str]:
    found = {}
    for line in Path(table).read_text().splitlines()[1:]:
        local, state, inode = (line.split()[i] for i in (1, 3, 9))
        if state == LISTENING:
            address, port = local.split(":")
            found[inode] = f"{_readable(address)}:{int(port, 16)}"
    return found


def _readable(address: str) -> str:
    """The kernel writes words of four bytes in the order of the machine."""
    words = re.findall("........", address)
    ip = ip_address(b"".join(bytes.fromhex(word)[::-1] for word in words))
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return str(mapped or ip)


def _inodes(pid: int) -> set[str]:
    found = set()
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            match = re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink()))
            if match:
                found.add(match[1])
    except OSError:
        pass
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()[:80]
    except OSError:
        return ""
