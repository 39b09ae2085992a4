"""Prints the summary of a run: rows, speed, invalid rows, warnings."""

from __future__ import annotations

from pathlib import Path

from hamlet.cli.stderr import Notices, pluralize
from hamlet.local_runner import Summary
from runtime.errors import did_you_mean
from runtime.language.query import Workload
from runtime.types.side_tables import DEAD_LETTER, LATE

REASONS = 5


def print_summary(
    notices: Notices, workload: Workload, summary: Summary, output: Path | None
) -> None:
    counts = summary.counts
    if output is not None:
        width = max(len(query.name) for query in workload)
        for query in workload:
            notices.say(f"{query.name:{width}}  {pluralize(counts.results[query.name], 'row')}")
        notices.say(f"written to {output}")
    _speed(notices, summary)
    _dead(notices, summary, output)
    if counts.late:
        where = f", in {output / LATE}" if output else "; --output keeps them"
        notices.warn(
            f"{pluralize(counts.late, 'event')} {_was(counts.late)} late{where}; "
            "increase --lateness to include them"
        )
    for name, count in sorted(counts.null_keys.items()):
        notices.warn(
            f"{pluralize(count, 'event')} {_have(count)} no `{name}`, by which queries partition "
            "the stream; usually an error"
        )
    if counts.truncated:
        times = pluralize(counts.truncated, "time")
        notices.warn(f"{times} {_was(counts.truncated)} cut to whole microseconds")
    if summary.skipped:
        shown = ", ".join(summary.skipped[:3]) + (", ..." if len(summary.skipped) > 3 else "")
        notices.warn(
            f"{pluralize(len(summary.skipped), 'file')} skipped: not a data format: {shown}"
        )
    _missing_types(notices, workload, summary)


def _speed(notices: Notices, summary: Summary) -> None:
    seconds = max(summary.seconds - summary.compiling, 1e-6)
    took = f"{seconds:,.1f} s" if seconds >= 0.1 else f"{seconds:.3f} s"
    here = summary.events - summary.earlier
    rate = f", {here / seconds:,.0f} events/s" if here else ""
    if summary.compiling >= 0.1:
        rate += f"; {summary.compiling:,.1f} s more to compile kernels, once on this machine"
    of = f" of {pluralize(summary.counts.rows, 'row')}" if summary.dead_rows else ""
    before = f", {pluralize(here, 'event')} of them now" if summary.earlier else ""
    notices.say(f"{pluralize(summary.events, 'event')}{of}{before} in {took}{rate}")


def _dead(notices: Notices, summary: Summary, output: Path | None) -> None:
    if not summary.counts.dead:
        return
    where = f", in {output / DEAD_LETTER}" if output else "; --output keeps them"
    rows, files = pluralize(summary.dead_rows, "row"), pluralize(summary.counts.lost, "file")
    what = [f"{rows} could not be used"] if summary.dead_rows else []
    what += [f"{files} could not be read to the end"] if summary.counts.lost else []
    notices.warn(" and ".join(what) + where)
    width = len(f"{max(summary.counts.dead.values()):,}")
    reasons = summary.counts.dead.most_common()
    shown = REASONS if len(reasons) > REASONS + 1 else len(reasons)  # no line for one other
    for reason, count in reasons[:shown]:
        notices.say(f"  {count:>{width},}  {reason}")
    if rest := reasons[shown:]:
        notices.say(
            f"  {sum(n for _, n in rest):>{width},}  for {pluralize(len(rest), 'other reason')}"
        )


def _missing_types(notices: Notices, workload: Workload, summary: Summary) -> None:
    """A misspelt type is not an error; it never matches."""
    if not summary.counts.rows:
        return
    seen = summary.counts.types | summary.counts.other_types
    for query in workload:
        for position in query.template.positive:
            if position.type not in summary.counts.types:
                hint = did_you_mean(position.type, seen - query.types)
                tail = f"; {hint}" if hint else ""
                notices.warn(f"no event has the type `{position.type}` of {query.name}{tail}")
                break


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
