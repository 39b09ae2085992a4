"""Ray's token authentication for a cluster of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from actors.env_vars import changed


@contextmanager
def authenticated(token: Path) -> Iterator[None]:
    """This process and all below it use the token in the file, and no other one."""
    # RAY_AUTH_TOKEN, if the user has one for another cluster, would win over the file.
    values = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "RAY_AUTH_TOKEN": None}
    with changed(values):
        _look_again()
        yield
    _look_again()


def _look_again() -> None:
    """Ray reads its settings and the token once, and keeps them."""
    from ray import _raylet

    raylet: Any = _raylet  # compiled, so that its types are not known

    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()
