"""What we read of Ray's internals, where Ray has no public call for it.

The names may change, so the version is pinned, and `tests/patches` checks them against the
installed Ray. What we replace inside Ray is in `ray_patches`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def own_node() -> Any:
    """Ray's record of the node of this process: its log folder, and the servers that this process
    started. None before `ray.init`."""
    from ray._private import worker

    return worker._global_node


def living_actors(job: str) -> Mapping[str, Mapping[str, Any]]:
    """An entry of Ray's table of actors for each that lives, by id. The public `list_actors` needs
    a dashboard, which an embedded cluster does not have."""
    from ray import JobID
    from ray._private import state

    found: dict[str, Any] = state.actors(job_id=JobID.from_hex(job), actor_state_name="ALIVE")
    return found


def actor_entry(id: str) -> Mapping[str, Any]:
    """Of an actor that may be dead; empty if Ray has forgotten it."""
    from ray._private import state

    found: dict[str, Any] = state.actors(actor_id=id)
    return found


def reload_settings() -> None:
    """Makes Ray read its settings and the token again, which it caches."""
    from ray import _raylet

    raylet: Any = _raylet  # compiled, without types
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()
