"""The search of docs/Search.md in plain Python: one MLP, one mesh axis of four devices, no library.

    python docs/search.py [BATCH] [LIMIT_MIB]

It builds the problem that `autopar plan --mesh x=4` solves for the page's model and cluster, prices it, solves it, and prints each
step. test/Docs/search.test holds its numbers against those of `autopar`.
"""

import sys

# The cluster: toy.json of the page.
DEVICES, FLOPS, BANDWIDTH, LAUNCH, LATENCY, LINK = 4, 1e12, 1e11, 1e-6, 5e-6, 1e10
MIB = 1 << 20

# The model: y = softmax(relu(x w0' + b0) w1' + b1).
BATCH = int(sys.argv[1]) if len(sys.argv) > 1 else 16
LIMIT = float(sys.argv[2]) * MIB if len(sys.argv) > 2 else None
INPUTS, HIDDEN, OUTPUTS = 1024, 4096, 1024
SHAPES = {"x": (BATCH, INPUTS), "w0": (HIDDEN, INPUTS), "b0": (HIDDEN,), "Gemm_1": (BATCH, HIDDEN), "Gemm_1#1": (BATCH, HIDDEN),
          "gemm_1": (BATCH, HIDDEN), "relu_2": (BATCH, HIDDEN), "w1": (OUTPUTS, HIDDEN), "b1": (OUTPUTS,),
          "Gemm_3": (BATCH, OUTPUTS), "Gemm_3#1": (BATCH, OUTPUTS), "gemm_3": (BATCH, OUTPUTS), "softmax_4": (BATCH, OUTPUTS)}
FROM_FILE = ("w0", "b0", "w1", "b1")  # held all the time; like the input x they are never partial sums


class Op:
    """An op with its sharding rule: `operands` and `result` list the factor of each dimension; a pass (kind, operands) lets a partial value through."""

    def __init__(self, name, rule, operands, result, passes=(), flops=0, launches=False, reads=(), writes=False, reductions=0):
        self.name, self.values, self.passes, self.flops, self.launches = name, operands + [result], passes, flops, launches
        self.factors = rule  # per value of `values`
        self.reads, self.writes, self.reductions = reads, writes, reductions  # through memory, not inside the kernel group

    def size(self, factor):
        return next(SHAPES[value][dims.index(factor)] for value, dims in zip(self.values, self.factors) if factor in dims)

    def strategies(self):
        """The ways of the axis in the op: it does nothing, splits a factor, or lets a partial value through."""
        factors = {factor for dims in self.factors for factor in dims}
        return ["replicated"] + [f"split {factor}" for factor in sorted(factors) if self.size(factor) % DEVICES == 0] + [
            f"pass {number}" for number in range(len(self.passes))]

    def shardings(self, strategy):
        """The shardings of the op's operands and of its result: "whole", "split D" or "partial KIND"."""
        kind, _, number = strategy.partition(" ")
        if kind == "pass":
            reduce, operands = self.passes[int(number)]
            return [f"partial {reduce}" if at in operands else "whole" for at in range(len(self.values) - 1)] + [f"partial {reduce}"]
        if kind == "replicated":
            return ["whole"] * len(self.values)
        wanted = [f"split {dims.index(int(number))}" if int(number) in dims else "whole" for dims in self.factors]
        if int(number) not in self.factors[-1]:
            wanted[-1] = "partial sum"
        return wanted

    def seconds(self, strategy):
        """The roofline: a launch, and the longer of computing and memory traffic."""
        shardings = self.shardings(strategy)
        written = held_bytes(self.values[-1], shardings[-1])
        traffic = written if self.writes else 0
        for at in self.reads:
            read = held_bytes(self.values[at], shardings[at])
            traffic += min(read, written) if self.name.endswith("#1") else read  # a broadcast reads no more than it makes
        share = DEVICES if strategy.startswith("split") else 1
        seconds = (LAUNCH if self.launches else 0) + max(self.flops / share / FLOPS, traffic / BANDWIDTH)
        if self.reductions and strategy == "split 1":  # the rows' largest elements and sums are all-reduced
            seconds += self.reductions * collective("all_reduce", BATCH * 4)
        return seconds


def linear(name, x, w, b, k, out):
    """Gemm as three ops of one kernel group: einsum, broadcast of the bias, add. Factors: 0 rows, 1 columns, 2 what is summed over."""
    elements = SHAPES[name][0] * SHAPES[name][1]
    return [Op(name, [(0, 2), (1, 2), (0, 1)], [x, w], name, [("sum", {0}), ("sum", {1})], 2 * elements * k, True, (0, 1)),
            Op(f"{name}#1", [(1,), (0, 1)], [b], f"{name}#1", [("sum", {0}), ("max", {0}), ("min", {0})], reads=(0,)),
            Op(f"{name}#2", [(0, 1)] * 3, [name, f"{name}#1"], out, [("sum", {0, 1})], elements, writes=out == "gemm_3")]


OPS = linear("Gemm_1", "x", "w0", "b0", INPUTS, "gemm_1") + [
    Op("Relu_2", [(0, 1)] * 2, ["gemm_1"], "relu_2", [("max", {0}), ("min", {0})], BATCH * HIDDEN, writes=True)] + linear(
        "Gemm_3", "relu_2", "w1", "b1", HIDDEN, "gemm_3") + [
            Op("Softmax_4", [(0, 1)] * 2, ["gemm_3"], "softmax_4", launches=True, reads=(0,), writes=True, reductions=2)]


def bytes_of(value):
    count = 4
    for size in SHAPES[value]:
        count *= size
    return count


def held_bytes(value, sharding):
    return bytes_of(value) // (DEVICES if sharding.startswith("split") else 1)


def collective(kind, size):
    """Between four processors by messages (docs/Costs.md). `size`: bytes on a device at the wider side."""
    share = (DEVICES - 1) / DEVICES * size / LINK
    if kind == "all_to_all":
        return (DEVICES - 1) * LATENCY + share
    gather = 2 * LATENCY + share  # log2 of 4 rounds
    return min(2 * gather, 2 * (LATENCY + size / LINK)) if kind == "all_reduce" else gather


def local(size):
    return LAUNCH + 2 * size / BANDWIDTH


def steps(value, sharding):
    """The steps that lead from a sharding to others, with their seconds."""
    whole, part = bytes_of(value), bytes_of(value) / DEVICES
    splits = [f"split {dim}" for dim in range(len(SHAPES[value]))]
    if sharding == "whole":
        return [("slice_block", other, local(part)) for other in splits] + [
            ("keep_first", f"partial {kind}", local(whole)) for kind in ("sum", "max", "min")]
    if sharding in splits:
        return [("all_gather", "whole", collective("all_gather", whole))] + [
            ("all_to_all", other, collective("all_to_all", part)) for other in splits if other != sharding]
    return [("all_reduce", "whole", collective("all_reduce", whole))] + [
        ("reduce_scatter", other, collective("reduce_scatter", whole)) for other in splits]


def reshard(value, start, target, known={}):
    """The seconds of the cheapest steps (Dijkstra)."""
    if (value, start, target) in known:
        return known[value, start, target]
    open_, done = {start: 0.0}, {}
    while target not in done:
        at = min(open_, key=open_.get)
        done[at] = open_.pop(at)
        for _, after, seconds in steps(value, at):
            if after not in done:
                open_[after] = min(open_.get(after, 1e9), done[at] + seconds)
    return known.setdefault((value, start, target), done[target])


class Problem:
    """Nodes with choices and seconds, edges with a matrix of seconds. Op nodes have names of ops, value nodes "value NAME"."""

    def __init__(self):
        self.choices = {op.name: op.strategies() for op in OPS}
        self.seconds = {op.name: [op.seconds(strategy) for strategy in op.strategies()] for op in OPS}
        for value in SHAPES:
            given, wanted = [], []
            for op in OPS:
                for at, other in enumerate(op.values):
                    if other == value:
                        (given if at == len(op.values) - 1 else wanted).extend(op.shardings(s)[at] for s in op.strategies())
            stored = not given
            offers = ["whole"] * stored + [s for s in given + wanted if not s.startswith("partial")] + [
                s for s in wanted if s.startswith("partial") and not stored]
            self.choices[f"value {value}"] = list(dict.fromkeys(offers))
            self.seconds[f"value {value}"] = [0.0] * len(self.choices[f"value {value}"])
        self.edges = {}
        for op in OPS:
            for at, value in enumerate(op.values):
                made = at == len(op.values) - 1
                self.edges[op.name, f"value {value}"] = [
                    [reshard(value, side, choice) if made else reshard(value, choice, side) for choice in self.choices[f"value {value}"]]
                    for side in (op.shardings(strategy)[at] for strategy in op.strategies())]

    def persistent(self, node, choice):
        """Bytes of a weight, which a device holds all the time."""
        name = node[6:] if node.startswith("value ") else ""
        return held_bytes(name, self.choices[node][choice]) if name in FROM_FILE else 0

    def matrix(self, pair, node):
        """The seconds of an edge with a row per choice of `node`."""
        return self.edges[pair] if pair[0] == node else [list(column) for column in zip(*self.edges[pair])]

    def without_dead_ends(self):
        """Per node the choices that are left when those go that another choice is never worse than, whatever the neighbours choose."""
        left = {node: list(range(len(choices))) for node, choices in self.choices.items()}
        changed = True
        while changed:
            changed = False
            for node in left:
                edges = [(self.matrix(pair, node), left[pair[1] if pair[0] == node else pair[0]]) for pair in self.edges if node in pair]
                for worse in list(left[node]):
                    def most_lost(better):
                        own = self.seconds[node][better] - self.seconds[node][worse]
                        return own + sum(max(rows[better][other] - rows[worse][other] for other in others) for rows, others in edges)
                    if any(better != worse and (most_lost(better), better) < (0, worse) for better in left[node]):
                        left[node].remove(worse)
                        changed = True
        return left

    def solve(self, multiplier=0.0, pinned=()):
        """Eliminates leaf after leaf: (seconds + multiplier * bytes, choice per node, leaves in their order). The graph is a tree."""
        costs = {node: [s + multiplier * self.persistent(node, c) for c, s in enumerate(seconds)] for node, seconds in self.seconds.items()}
        for node, choice in pinned:
            costs[node] = [cost if self.choices[node][c] == choice else float("inf") for c, cost in enumerate(costs[node])]
        edges, order, best = dict(self.edges), [], {}
        while edges:
            counts = {node: [pair for pair in edges if node in pair] for node in costs if node not in best}
            leaf = next(node for node, pairs in counts.items() if len(pairs) == 1)
            (a, b), = counts[leaf]
            table, other = edges.pop((a, b)), b if leaf == a else a
            at = (lambda mine, theirs: table[mine][theirs]) if leaf == a else (lambda mine, theirs: table[theirs][mine])
            best[leaf] = other, []
            for theirs in range(len(costs[other])):
                sums = [cost + at(mine, theirs) for mine, cost in enumerate(costs[leaf])]
                best[leaf][1].append(sums.index(min(sums)))
                costs[other][theirs] += min(sums)
            order.append((leaf, other, len(costs[leaf]), len(costs[other])))
        root = order[-1][1]
        choice = {root: costs[root].index(min(costs[root]))}
        for leaf, *_ in reversed(order):
            choice[leaf] = best[leaf][1][choice[best[leaf][0]]]
        return min(costs[root]), choice, order

    def seconds_of(self, choice):
        return sum(self.seconds[node][choice[node]] for node in choice) + sum(
            table[choice[a]][choice[b]] for (a, b), table in self.edges.items())

    def held(self, choice):
        return sum(self.persistent(node, at) for node, at in choice.items())

    def alternatives(self, choice, op):
        """The seconds that each other strategy of an op costs more beside the values as they are."""
        def here(strategy):
            return self.seconds[op][strategy] + sum(
                table[strategy][choice[value]] for (name, value), table in self.edges.items() if name == op)
        now = here(choice[op])
        return sorted((here(other) - now, text) for other, text in enumerate(self.choices[op]) if other != choice[op])


def text(seconds):
    return f"{seconds * 1e6:.1f} us" if seconds < 0.99995e-3 else f"{seconds * 1e3:.2f} ms"


def print_memory(problem, choice):
    """The memory that the search counts: weights, and per launch the live values and the copies of its reshards."""
    def of(value):
        return held_bytes(value, problem.choices[f"value {value}"][choice[f"value {value}"]])
    weights = problem.held(choice)
    print(f"weights {weights / MIB:.2f} MiB all the time, and by launches")
    for launch, live in (("Gemm_1", ["relu_2"]), ("Gemm_3", ["relu_2", "gemm_3"]), ("Softmax_4", ["gemm_3", "softmax_4"])):
        print(f"  {launch:10}{' + '.join(live):20} {sum(map(of, live)) / MIB:.2f} MiB")


def print_multiplier(problem):
    """The bound that a multiplier of what is held all the time gives: the best one is where the two lines meet."""
    _, fast, _ = problem.solve()
    _, small, _ = problem.solve(multiplier=1.0)
    while problem.held(fast) > LIMIT >= problem.held(small):
        multiplier = (problem.seconds_of(small) - problem.seconds_of(fast)) / (problem.held(fast) - problem.held(small))
        cost, between, _ = problem.solve(multiplier)
        print(f"too full {text(problem.seconds_of(fast))}, {problem.held(fast) / MIB:.2f} MiB; fits {text(problem.seconds_of(small))}, "
              f"{problem.held(small) / MIB:.2f} MiB; multiplier {multiplier * 1e6 * MIB:.2f} us a MiB; bound {text(cost - multiplier * LIMIT)}")
        if min(abs(problem.held(between) - problem.held(end)) for end in (fast, small)) == 0:
            break
        fast, small = (between, small) if problem.held(between) > LIMIT else (fast, between)


def main():
    problem = Problem()
    ops = sum(not node.startswith("value ") for node in problem.choices)
    print(f"{len(problem.choices)} decisions for {ops} ops, {len(problem.edges)} pairs of them")
    for node, choices in problem.choices.items():
        shown = zip(choices, problem.seconds[node]) if not node.startswith("value ") else ()
        print(f"{node}: " + (", ".join(f"{choice} {text(seconds)}" for choice, seconds in shown) or ", ".join(choices)))
    left = problem.without_dead_ends()
    print(f"dead ends: of {sum(map(len, problem.choices.values()))} choices {sum(map(len, left.values()))} are left")
    seconds, choice, order = problem.solve()
    print("eliminated: " + "; ".join(f"{leaf} into {other}, {mine * theirs} cells" for leaf, other, mine, theirs in order))
    print(f"least {text(seconds)}: " + ", ".join(f"{op.name} {problem.choices[op.name][choice[op.name]]}" for op in OPS))
    for op in OPS:
        for more, other in problem.alternatives(choice, op.name):
            again = problem.solve(pinned=[(op.name, other)])[0]
            print(f"  {op.name} {other}: +{text(more)} here, step {text(again)} with all else searched anew")
    print_memory(problem, choice)
    if LIMIT:
        print_multiplier(problem)


if __name__ == "__main__":
    main()
