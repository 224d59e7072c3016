"""Call graphs."""

from __future__ import annotations

from diagnosis_harness.analysis.graph import graph_of, nearest_known_callees, reachable, walk

EDGES = [("shop", "checkout"), ("checkout", "mesh"), ("mesh", "payment"), ("mesh", "tax"), ("tax", "shop")]


def test_entities_without_data_are_walked_through() -> None:
    """A proxy of which nothing is known does not break the path."""
    graph = graph_of(EDGES)
    assert nearest_known_callees(graph, "checkout", {"payment", "tax"}) == ("payment", "tax")


def test_what_a_known_callee_calls_is_not_unseen() -> None:
    """Only the nearest explain."""
    assert nearest_known_callees(graph_of(EDGES), "shop", {"checkout", "payment"}) == ("checkout",)


def test_circles_end() -> None:
    """A caller that is called back does not hang the walk."""
    graph = graph_of(EDGES)
    assert reachable(graph, "shop") == {"shop", "checkout", "mesh", "payment", "tax"}
    assert nearest_known_callees(graph, "shop", {"shop"}) == ()


def test_a_walk_shows_distance_and_direction() -> None:
    """Edges keep caller before callee, also when walked backwards."""
    graph = graph_of(EDGES)
    assert walk(graph, "payment", towards_callers=True, depth=2) == (
        ("mesh", "payment", 1),
        ("checkout", "mesh", 2),
    )
    assert walk(graph, "shop", towards_callers=False, depth=1) == (("shop", "checkout", 1),)


def test_entries_have_no_caller() -> None:
    """Calls to oneself do not count."""
    assert graph_of([("a", "b"), ("a", "a")]).entries == ("a",)


def test_the_order_of_edges_does_not_matter() -> None:
    """The same edges, the same graph."""
    assert graph_of(EDGES) == graph_of(EDGES[::-1])
