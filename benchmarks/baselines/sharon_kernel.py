"""SHARON's executor over slices. What the arrays are is told in `sharon_graph`.

With an event, first each prefix in front of a segment that the event starts is noted, then private
prefixes go on, then tables: so everybody reads what was there before the event. Of events with
equal time all do the first, then all the second, then all the third.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.baselines.decoded import Doubles, Ints
from benchmarks.baselines.kernel import inlined, kernel, summing

# Columns of the arrays.
COLUMNS, ROWS, AT, RUN, LANE, LANES, PAIR, PAIRS, VERSION = range(9)
PARENT, QUERY, NODE_PAIR, TABLE, ROW = range(5)
PAIR_PARENT, PAIR_QUERY, PAIR_AT = range(3)

SUM, MIN = 0, 1
NEVER = 1 << 60


def run(
    time: Ints, picked: Ints, begins: Ints, ends: Ints, arrays: Any, totals: Doubles, held: Ints
) -> None:
    """Adds what each query has in each slice to `totals`, and the doubles it took to `held`."""
    tables, pairs, nodes = arrays[8], arrays[11], arrays[12]
    scratch = (
        np.zeros((len(nodes), totals.shape[2])),  # what nodes are
        np.empty(len(nodes), np.int64),  # as of which change of its row
        np.zeros(tables[:, ROWS].sum() + len(tables), np.int64),  # changes by table and row
        np.zeros(len(tables), np.int64),  # START events so far
        np.zeros(len(tables), np.int64),  # those with the time at hand
        np.empty(len(pairs), np.int64),  # the first START event with a prefix before it
        np.zeros((len(nodes), totals.shape[2])),  # what events of equal time add to nodes
        np.zeros(len(nodes), np.bool_),  # whether they do
    )
    _run(time, picked, begins, ends, *arrays, totals, held, *scratch)


@kernel
def _run(
    time,
    picked,
    begins,
    ends,
    label_starts,
    labels,
    node_starts,
    node_list,
    start_starts,
    start_list,
    cell_starts,
    cells,
    tables,
    table_folds,
    table_adds,
    pairs,
    nodes,
    node_lanes,
    final_starts,
    finals,
    widths,
    folds,
    values,
    memory,
    totals,
    held,
    found,
    version,
    changed,
    columns,
    added,
    since,
    sums,
    touched,
):
    graph = tables, table_folds, table_adds, pairs, nodes, node_lanes, widths, folds
    state = found, version, changed, columns, since, memory
    lists = (
        *(label_starts, labels, node_starts, node_list),
        *(start_starts, start_list, cell_starts, cells),
    )
    for i in range(len(begins)):
        if begins[i] == ends[i]:
            continue
        for node in range(len(nodes)):
            _nothing(found[node], widths, folds, nodes[node, QUERY])
        version[:] = -1
        since[:] = NEVER
        place = begins[i]
        while place < ends[i]:
            after = place + 1
            while after < ends[i] and time[picked[after]] == time[picked[place]]:
                after += 1
            if after == place + 1:
                event = picked[place]
                for at in range(label_starts[event], label_starts[event + 1]):
                    label = labels[at]
                    for n in range(start_starts[label], start_starts[label + 1]):
                        _note(start_list[n], columns[start_list[n]], graph, state)
                    for n in range(node_starts[label], node_starts[label + 1]):
                        _go_on(node_list[n], event, found, values, graph, state)
                    for n in range(cell_starts[label], cell_starts[label + 1]):
                        for row in range(cells[n, 2], cells[n, 1] - 1, -1):
                            _bring_on(cells[n, 0], row, event, values, graph, state)
                    for n in range(start_starts[label], start_starts[label + 1]):
                        _start(start_list[n], event, values, graph, state)
            else:
                _tied(picked[place:after], lists, added, sums, touched, values, graph, state)
            place = after
        for query in range(len(widths)):
            for node in finals[final_starts[query] : final_starts[query + 1]]:
                _combine(node, graph, state)
                if found[node, 0] > 0:
                    _merge(totals[query, i], found[node], widths[query], folds[query])
        held[i] = _held(graph, state)
        _clear_tables(graph, state)


@kernel
def _tied(tied, lists, added, sums, touched, values, graph, state):
    """Events of equal time."""
    label_starts, labels, node_starts, node_list = lists[:4]
    start_starts, start_list, cell_starts, cells = lists[4:]
    nodes, widths, folds = graph[4], graph[6], graph[7]
    found, columns = state[0], state[3]
    last = 1
    for event in tied:
        for label in labels[label_starts[event] : label_starts[event + 1]]:
            for table in start_list[start_starts[label] : start_starts[label + 1]]:
                _note(table, columns[table] + added[table], graph, state)
                added[table] += 1
    for event in tied:
        for label in labels[label_starts[event] : label_starts[event + 1]]:
            for node in node_list[node_starts[label] : node_starts[label + 1]]:
                if not touched[node]:
                    touched[node] = True
                    _nothing(sums[node], widths, folds, nodes[node, QUERY])
                _go_on(node, event, sums, values, graph, state)
    for event in tied:
        for label in labels[label_starts[event] : label_starts[event + 1]]:
            for node in node_list[node_starts[label] : node_starts[label + 1]]:
                if touched[node]:
                    touched[node] = False
                    query = nodes[node, QUERY]
                    _merge(found[node], sums[node], widths[query], folds[query])
            for cell in cells[cell_starts[label] : cell_starts[label + 1]]:
                last = max(last, cell[2])
    for row in range(last, 1, -1):  # all bring on a row before any brings on the one before it
        for event in tied:
            for label in labels[label_starts[event] : label_starts[event + 1]]:
                for cell in cells[cell_starts[label] : cell_starts[label + 1]]:
                    if cell[1] <= row <= cell[2]:
                        _bring_on(cell[0], row, event, values, graph, state)
    for event in tied:
        for label in labels[label_starts[event] : label_starts[event + 1]]:
            for table in start_list[start_starts[label] : start_starts[label + 1]]:
                _start(table, event, values, graph, state)
                added[table] = 0


@inlined
def _nothing(row, widths, folds, query):
    row[0] = 0.0
    for n in range(widths[query]):
        fold = folds[query, n]
        row[n + 1] = 0.0 if fold == SUM else (np.inf if fold == MIN else -np.inf)


@inlined
def _merge(total, row, width, folds):
    total[0] += row[0]
    for n in range(width):
        if folds[n] == SUM:
            total[n + 1] += row[n + 1]
        elif folds[n] == MIN:
            total[n + 1] = min(total[n + 1], row[n + 1])
        else:
            total[n + 1] = max(total[n + 1], row[n + 1])


# ---- prefixes ------------------------------------------------------------------------------


@inlined
def _go_on(node, event, total, values, graph, state):
    """A private prefix: what its parent has, with one more event."""
    _, _, _, _, nodes, node_lanes, widths, folds = graph
    found = state[0]
    parent, query = nodes[node, PARENT], nodes[node, QUERY]
    count = 1.0
    if parent >= 0:
        if nodes[parent, NODE_PAIR] >= 0:
            _combine(parent, graph, state)
        count = found[parent, 0]
        if count == 0.0:
            return
    total[node, 0] += count
    for n in range(widths[query]):
        adds = node_lanes[node, n]
        fold = folds[query, n]
        if fold == SUM:
            if parent >= 0:
                total[node, n + 1] += found[parent, n + 1]
            if adds >= 0:
                total[node, n + 1] += count * values[adds, event]
        elif fold == MIN:
            if parent >= 0:
                total[node, n + 1] = min(total[node, n + 1], found[parent, n + 1])
            if adds >= 0:
                total[node, n + 1] = min(total[node, n + 1], values[adds, event])
        else:
            if parent >= 0:
                total[node, n + 1] = max(total[node, n + 1], found[parent, n + 1])
            if adds >= 0:
                total[node, n + 1] = max(total[node, n + 1], values[adds, event])


@inlined
def _note(table, column, graph, state):
    """What the prefixes in front of a table are when an event starts it. They only grow, so that
    those that are zero come first, and need not be written."""
    tables, _, _, pairs, nodes, _, widths, folds = graph
    found, _, _, _, since, memory = state
    first = tables[table, PAIR]
    for pair in range(first, first + tables[table, PAIRS]):
        parent, at = pairs[pair, PAIR_PARENT], pairs[pair, PAIR_AT] + column
        query = pairs[pair, PAIR_QUERY]
        if parent >= 0:
            if nodes[parent, NODE_PAIR] >= 0:
                _combine(parent, graph, state)
            if found[parent, 0] == 0.0:
                continue
            for n in range(widths[query] + 1):
                memory[at + n * tables[table, COLUMNS]] = found[parent, n]
        else:
            memory[at] = 1.0
            for n in range(widths[query]):
                fold = folds[query, n]
                nothing = 0.0 if fold == SUM else (np.inf if fold == MIN else -np.inf)
                memory[at + (n + 1) * tables[table, COLUMNS]] = nothing
        since[pair] = min(since[pair], column)


@kernel
def _combine(node, graph, state):
    """Brings a node that ends with a shared segment up to date: over the START events, what was
    before each and what the segment came to from there."""
    tables, _, _, pairs, nodes, node_lanes, widths, folds = graph
    found, version, changed, columns, since, memory = state
    pair = nodes[node, NODE_PAIR]
    if pair < 0:
        return
    table, row = nodes[node, TABLE], nodes[node, ROW]
    now = changed[tables[table, VERSION] + row]
    if version[node] == now:
        return
    version[node] = now
    query, width = nodes[node, QUERY], tables[table, COLUMNS]
    low, high = since[pair], columns[table]
    if tables[table, RUN]:
        high += 1 - row  # so many must come after it
    if low >= high:
        return
    size = high - low
    before = pairs[pair, PAIR_AT] + low
    size_of_lane = width * (tables[table, ROWS] + 1)
    inside = tables[table, AT] + row * width + low
    found[node, 0] = _dot(memory, before, inside, size)
    for n in range(widths[query]):
        mine, lane = before + (n + 1) * width, node_lanes[node, n]
        theirs = inside + (lane + 1) * size_of_lane
        if folds[query, n] == SUM:
            total = _dot(memory, mine, inside, size)
            if lane >= 0:
                total += _dot(memory, before, theirs, size)
            found[node, n + 1] = total
        elif folds[query, n] == MIN:
            least = np.inf
            for s in range(size):
                if memory[inside + s] > 0.0:
                    least = min(least, memory[mine + s])
                    if lane >= 0:
                        least = min(least, memory[theirs + s])
            found[node, n + 1] = least
        else:
            most = -np.inf
            for s in range(size):
                if memory[inside + s] > 0.0:
                    most = max(most, memory[mine + s])
                    if lane >= 0:
                        most = max(most, memory[theirs + s])
            found[node, n + 1] = most


@summing
def _dot(memory, one, other, size):
    first, second = memory[one : one + size], memory[other : other + size]
    total = 0.0
    for s in range(size):
        total += first[s] * second[s]
    return total


# ---- tables --------------------------------------------------------------------------------


@inlined
def _start(table, event, values, graph, state):
    tables, _, table_adds = graph[:3]
    _, _, changed, columns, _, memory = state
    at = tables[table, AT] + tables[table, COLUMNS] + columns[table]
    memory[at] = 1.0
    for n in range(tables[table, LANES]):
        adds = table_adds[tables[table, LANE] + n, 1]
        if adds >= 0:
            size = tables[table, COLUMNS] * (tables[table, ROWS] + 1)
            memory[at + (n + 1) * size] = values[adds, event]
    columns[table] += 1
    changed[tables[table, VERSION] + 1] += 1


@kernel
def _bring_on(table, row, event, values, graph, state):
    """From a row to the next, for all START events that came before."""
    tables, table_folds, table_adds = graph[:3]
    _, _, changed, columns, _, memory = state
    high = columns[table]
    if tables[table, RUN]:
        high = min(high, high + 2 - row)  # the others have too few events after them
    if high <= 0:
        return
    width = tables[table, COLUMNS]
    size = width * (tables[table, ROWS] + 1)
    to = tables[table, AT] + row * width
    counts = memory[to - width : to - width + high]
    for n in range(tables[table, LANES]):
        lane = tables[table, LANE] + n
        adds = table_adds[lane, row]
        at = to + (n + 1) * size
        before, after = memory[at - width : at - width + high], memory[at : at + high]
        if table_folds[lane] == SUM:
            value = 0.0 if adds < 0 else values[adds, event]
            for s in range(high):
                after[s] += before[s] + value * counts[s]
        elif table_folds[lane] == MIN:
            value = np.inf if adds < 0 else values[adds, event]
            for s in range(high):
                if counts[s] > 0.0:
                    after[s] = min(after[s], before[s], value)
        else:
            value = -np.inf if adds < 0 else values[adds, event]
            for s in range(high):
                if counts[s] > 0.0:
                    after[s] = max(after[s], before[s], value)
    after = memory[to : to + high]
    for s in range(high):
        after[s] += counts[s]
    changed[tables[table, VERSION] + row] += 1


@kernel
def _clear_tables(graph, state):
    tables, table_folds = graph[:2]
    columns, memory = state[3], state[5]
    for table in range(len(tables)):
        used = columns[table]
        if used == 0:
            continue
        rows = min(tables[table, ROWS], used) if tables[table, RUN] else tables[table, ROWS]
        width = tables[table, COLUMNS]
        for n in range(tables[table, LANES] + 1):
            nothing = 0.0
            if n:
                fold = table_folds[tables[table, LANE] + n - 1]
                nothing = 0.0 if fold == SUM else (np.inf if fold == MIN else -np.inf)
            for row in range(1, rows + 1):
                at = tables[table, AT] + (n * (tables[table, ROWS] + 1) + row) * width
                memory[at : at + used] = nothing
        columns[table] = 0


@kernel
def _held(graph, state):
    """Doubles: of private prefixes, of tables as far as they are filled, of what was noted."""
    tables, _, _, pairs, nodes, _, widths, _ = graph
    columns, since = state[3], state[4]
    total = 0
    for node in range(len(nodes)):
        total += 1 + widths[nodes[node, QUERY]]
    for table in range(len(tables)):
        rows = tables[table, ROWS]
        if tables[table, RUN]:
            rows = min(rows, columns[table])
        total += columns[table] * rows * (1 + tables[table, LANES])
        first = tables[table, PAIR]
        for pair in range(first, first + tables[table, PAIRS]):
            noted = max(0, columns[table] - since[pair])
            total += noted * (1 + widths[pairs[pair, PAIR_QUERY]])
    return total
