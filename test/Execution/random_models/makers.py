"""The table of makers: each adds a node of one operator, with random attributes, to a graph."""

MAKERS = {}


def maker(*ops):
    """Registers `function(graph, op)` as the maker of nodes of these operators."""
    def register(function):
        for op in ops:
            MAKERS[op] = function
        return function
    return register


def negative_or(graph, axis, rank):
    """The axis, or its count from the end."""
    return axis - rank if graph.chance(0.4) else axis
