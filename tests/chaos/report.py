"""What was done to a job and what came of it, as a table."""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from chaos.schedule import Step

# What a history of 60 faults may take on two cores.
LIMIT_S = 3600.0


@dataclass
class Entry:
    """One fault. Times are in seconds: `at` since the start, `fault` while it lasted, `recovery`
    from then on until everything fed was committed."""

    step: Step
    at: float
    fault: float = 0.0
    recovery: float = 0.0
    outcome: str = ""
    notes: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        line = f"{self.step}: {self.outcome or 'under way'}"
        if self.notes:
            line += f" ({'; '.join(self.notes)})"
        return f"{self.at:7.0f} {self.fault:7.1f} {self.recovery:9.1f}  {line}"

    def with_findings(self) -> str:
        return "\n".join([str(self), *(f"        FOUND: {each}" for each in self.findings)])


class Report:
    def __init__(self, seed: int, steps: list[Step]) -> None:
        self.seed, self.steps = seed, steps
        self.entries: list[Entry] = []
        self.problems: list[str] = []
        #: By segment, how many bits were flipped in each kind of file.
        self.flips: dict[str, Counter[str]] = {}
        #: The faults on the classes alone, by what met them.
        self.in_process: dict[str, Counter[str]] = {}
        self.seconds = 0.0  #: until `clock` was asked last
        self._began = time.monotonic()

    def clock(self) -> float:
        """Seconds since the start."""
        self.seconds = time.monotonic() - self._began
        return self.seconds

    @property
    def findings(self) -> list[str]:
        return [
            f"after fault {entry.step.number} ({entry.step.fault}): {each}"
            for entry in self.entries
            for each in entry.findings
        ] + self.problems

    def by_kind(self) -> str:
        """A table of the faults, with how often the command went on and the times."""
        kinds: dict[str, list[Entry]] = {}
        for entry in self.entries:
            kinds.setdefault(f"{entry.step.segment}: {entry.step.fault}", []).append(entry)
        lines = [f"{'fault':32} times  ended  recovery: median, longest"]
        for kind, entries in sorted(kinds.items()):
            times = [entry.recovery for entry in entries]
            ended = sum(entry.outcome.startswith("ended") for entry in entries)
            middle, longest = statistics.median(times), max(times)
            lines.append(f"{kind:32} {len(entries):5} {ended:6} {middle:14.1f} s {longest:7.1f} s")
        return "\n".join(lines)

    def counts(self) -> str:
        """Tables of what was flipped, and of the faults in process."""
        tables = {f"bits flipped, {segment}": made for segment, made in self.flips.items()}
        tables |= {f"in process, {what}": faults for what, faults in self.in_process.items()}
        lines = []
        for title, times in tables.items():
            if times:
                lines.append(f"{title:36} {times.total():5,}")
                lines += [f"  {kind:34} {n:5,}" for kind, n in sorted(times.items())]
        return "\n".join(lines)

    def took(self) -> str:
        minutes, limit = self.seconds / 60, LIMIT_S / 60
        in_process = sum(faults.total() for faults in self.in_process.values())
        said = f"{len(self.entries)} faults and {in_process:,} in process in {minutes:.0f} minutes"
        return f"{said}: TOO SLOW, the limit is {limit:.0f}" if self.seconds > LIMIT_S else said

    def text(self) -> str:
        said = [f"seed {self.seed}: {self.took()}", ""]
        said += ["   at s   fault  recovery", *map(str, self.entries), "", self.by_kind(), ""]
        said += [self.counts(), ""]
        if self.findings:
            rerun = f"make test-chaos SEED={self.seed} FAULTS={len(self.steps)}"
            said += [f"FAILED; once more with: {rerun}", *self.findings]
        else:
            said.append("no difference: every row once and right")
        return "\n".join(said) + "\n"

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"seed-{self.seed}.txt").write_text(self.text())
        data = {
            "seed": self.seed,
            "seconds": self.seconds,
            "faults": [asdict(entry) for entry in self.entries],
            "bits_flipped": self.flips,
            "in_process": self.in_process,
            "problems": self.problems,
        }
        (folder / f"seed-{self.seed}.json").write_text(json.dumps(data, indent=1))
