"""The numbers of tables 3 and 4 of the GLORIA paper, by the conventions of golden.json."""

from plan.gloria.workloads import plus, seq
from runtime.plan.planners.gloria.chains import chains
from runtime.plan.planners.gloria.costs import PaperCosts
from runtime.plan.planners.gloria.edge_cost import EdgeCosts
from runtime.plan.planners.gloria.graph import CandidateOptions, GloriaGraph, grow
from runtime.plan.planners.gloria.groups import order
from runtime.plan.planners.gloria.node import PlanNode
from runtime.plan.planners.gloria.patterns import KleeneLoop, PatternPart, PatternStep
from runtime.plan.planners.gloria.planner import plan
from runtime.plan.planners.gloria.pruning import prune_nodes
from runtime.plan.planners.gloria.search import search
from runtime.plan.planners.gloria.template import GloriaTemplate, QSets, merge

FIGURE_7 = {"q1": seq(*"FABCD"), "q2": seq(*"ABCD"), "q3": seq(*"ECD")}
RATES_7 = {"F": 10.0, "A": 5.0, "B": 10.0, "C": 12.0, "D": 4.0, "E": 3.0}
FIGURE_8 = {"q1": plus("A", "B"), "q2": plus("A", "B")}
RATES_8 = {"A": 5.0, "B": 10.0}
PAPER = CandidateOptions(subsets=0)

ONE_TWO, THREE, ALL = 0b011, 0b100, 0b111


def template(queries: dict[str, PatternPart]) -> GloriaTemplate:
    found = chains(queries)
    pools = order(found.queries)
    assert pools is not None
    return merge(pools, found.queries)


def grown(options: CandidateOptions) -> tuple[GloriaGraph, EdgeCosts]:
    weights = EdgeCosts(PaperCosts(RATES_7))
    return grow(template(FIGURE_7), weights, options), weights


def distances(graph: GloriaGraph, pool: str) -> dict[QSets, float]:
    step = PatternStep(*pool)
    index = next(i for i, place in enumerate(graph.template.places) if place.pool == step)
    return {node.sets: node.distance for node in graph.pools[index]}


def test_table_3_distances_after_pruning() -> None:
    graph, _ = grown(PAPER)
    assert distances(graph, "FA") == {(): 10}  # n1
    assert distances(graph, "AB") == {((ONE_TWO, "A"),): 65, (): 65}  # n2, n3
    assert distances(graph, "BC") == {((ONE_TWO, "A"),): 70, (): 165}  # n4, n6
    assert distances(graph, "EC") == {(): 3}  # n7
    assert distances(graph, "CD") == {
        ((ONE_TWO, "A"),): 159,  # n8
        ((ALL, "C"),): 279,  # n12
        (): 444,  # n11
    }


def test_table_3_n5_is_nearest_from_what_was_not_shared_and_is_pruned() -> None:
    graph, weights = grown(CandidateOptions(subsets=0, prune=False))
    n4, n5 = ((ONE_TWO, "A"),), ((ONE_TWO, "B"),)
    assert distances(graph, "BC")[n5] == 165
    place = next(p for p in graph.template.places if p.pool == PatternStep("B", "C"))
    before = next(p for p in graph.template.places if p.pool == PatternStep("A", "B"))
    from_n2 = 65 + weights.onward(before, n4) + weights.change(place, n4, n5, ONE_TWO)
    assert from_n2 == 170
    nodes = [PlanNode(n4, 70), PlanNode(n5, 165), PlanNode((), 165)]
    assert [node.sets for node in prune_nodes(weights, place, nodes, strict=False)] == [n4, ()]
    assert n5 not in distances(grown(PAPER)[0], "BC")


def test_table_3_n10_is_as_far_as_n12_and_is_pruned() -> None:
    """Principle 2 does not generate it, so its distance is asked for."""
    graph, weights = grown(PAPER)
    n8, n10, n12 = ((ONE_TWO, "A"),), ((ONE_TWO, "C"),), ((ALL, "C"),)
    place = next(p for p in graph.template.places if p.pool == PatternStep("C", "D"))
    d10 = 159 + weights.change(place, n8, n10, ALL)
    assert d10 == 279
    nodes = [PlanNode(n8, 159), PlanNode(n10, d10), PlanNode(n12, 279), PlanNode((), 444)]
    kept = [node.sets for node in prune_nodes(weights, place, nodes, strict=False)]
    assert n10 not in kept
    assert sorted(kept) == sorted([n8, n12, ()])


def test_the_path_of_figure_7_has_one_end() -> None:
    graph, weights = grown(PAPER)
    path, weight = search(graph, weights)
    assert weight == 307
    assert path[-1] == ((ONE_TWO, "A"),)
    assert (plan(FIGURE_7, RATES_7).cost, plan(FIGURE_7, RATES_7).never) == (307, 588)


def test_without_pruning_the_graph_is_larger_and_the_path_the_same() -> None:
    pruned, weights = grown(PAPER)
    whole, _ = grown(CandidateOptions(subsets=0, prune=False))
    assert pruned.kept.nodes < whole.kept.nodes
    assert pruned.kept.edges < pruned.generated.edges
    assert search(pruned, weights) == search(whole, weights)


def test_table_4_weights_of_paths_and_what_is_pruned() -> None:
    weights = EdgeCosts(PaperCosts(RATES_8))
    found = template(FIGURE_8)
    (place,) = found.places
    assert place.pool == KleeneLoop(("A", "B"))
    of_a, of_b = ((0b11, "A"),), ((0b11, "B"),)
    assert [weights.inside(place, sets) for sets in (of_a, of_b, ())] == [105, 110, 200]
    whole = grow(found, weights, CandidateOptions(subsets=0, prune=False))
    assert {n.sets: n.distance for n in whole.pools[0]} == {of_a: 115, of_b: 120, (): 210}
    graph = grow(found, weights, PAPER)
    assert {n.sets: n.distance for n in graph.pools[0]} == {of_a: 115, (): 210}
