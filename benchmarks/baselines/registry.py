"""All systems by name. A module is loaded when one of its systems is used."""

from __future__ import annotations

from importlib import import_module

from benchmarks.baselines.system import System
from runtime.errors import HamletError, did_you_mean

_HOMES = {
    "hamlet": "ours.Hamlet",
    "hamlet-static": "ours.Static",
    "hamlet-not-shared": "ours.NotShared",
    "greedy": "ours.Greedy",
    "gloria": "ours.Gloria",
    "sharon-plan": "ours.SharonPlan",
    "greta": "greta.Greta",
    "event-grained": "greta.EventGrained",
    "cogra": "cogra.Cogra",
    "sase": "sase.Sase",
    "a-seq": "aseq.ASeq",
    "a-seq-start": "aseq_start.ASeqStart",
    "sharon": "sharon.Sharon",
    "mcep": "mcep.Mcep",
    "plan-gloria": "planners.Gloria",
    "plan-gloria-noprune": "planners.NoPrune",
    "plan-greedy": "planners.Greedy",
    "plan-sharon": "planners.Sharon",
    "plan-gwmin": "planners.Gwmin",
    "plan-exhaustive": "planners.Exhaustive",
}
NAMES = tuple(_HOMES)


def system(name: str) -> System:
    if name not in _HOMES:
        raise HamletError(f"there is no system `{name}`", did_you_mean(name, NAMES))
    module, kind = _HOMES[name].split(".")
    home = "benchmarks._papers" if module == "planners" else "benchmarks.baselines"
    found: type[System] = getattr(import_module(f"{home}.{module}"), kind)
    return found()
