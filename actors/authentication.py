"""Sets up Ray's token authentication for an embedded cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from actors.env_vars import temporary_variables


@contextmanager
def authenticated(token: Path) -> Iterator[None]:
    """Makes this process and its children use the token in the file, and no other."""
    # RAY_AUTH_TOKEN, if the user has one for another cluster, would win over the file.
    values = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "RAY_AUTH_TOKEN": None}
    with temporary_variables(values):
        _reload_settings()
        yield
    _reload_settings()


def _reload_settings() -> None:
    """Makes Ray read its settings and the token again: it caches them."""
    from ray import _raylet

    raylet: Any = _raylet  # compiled, without types

    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()
