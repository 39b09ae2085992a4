"""Sets up Ray's token authentication for an embedded cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actors.env_vars import temporary_variables
from actors.ray_internals import reload_settings


@contextmanager
def authenticated(token: Path) -> Iterator[None]:
    """Makes this process and its children use the token in the file, and no other."""
    # RAY_AUTH_TOKEN, if the user has one for another cluster, would win over the file.
    values = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "RAY_AUTH_TOKEN": None}
    with temporary_variables(values):
        reload_settings()
        yield
    reload_settings()
