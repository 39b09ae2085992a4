"""Reads a sharing plan from a YAML file."""

from __future__ import annotations

from pathlib import Path

import yaml

from runtime.errors import HamletError, InputError
from runtime.plan.sharing_plan import SharingPlan


def read_plan(path: Path) -> SharingPlan:
    try:
        return SharingPlan.read(yaml.safe_load(path.read_text("utf-8")))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid YAML: {error}") from error
    except HamletError as error:
        raise HamletError(f"{path}: {error.message}", error.hint) from error
