"""What the scripts that make random chains of ops share: their options, the loop over chains, and the counts."""

import argparse

from programs import compile_and_run

RANKS = (1, 1, 2, 3)  # of one chain after the other


def attempt(options, chain, ranks):
    """What went wrong, or None."""
    chain.save(options.folder)
    return (compile_and_run(options.tool, options.folder, "--ranks", str(ranks), "--target", options.target)
            or chain.difference(options.folder))


def main_of(doc, make):
    """Runs the script that says `doc`; returns its exit code.

    `make(seed)` returns a chain: its `nodes`, its type as a text, save(folder) for model.onnx and inputs.npz, and
    difference(folder), what is wrong with out.npz or None.
    """
    arguments = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("tool")
    arguments.add_argument("folder")
    arguments.add_argument("--target", default="cpu")
    arguments.add_argument("--count", type=int, default=12)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    wrong = 0
    for number in range(options.count):
        seed, ranks = options.seed * 100000 + number, RANKS[number % len(RANKS)]
        chain = make(seed)
        if trouble := attempt(options, chain, ranks):
            wrong += 1
            steps = ", ".join(node.op_type for node in chain.nodes)
            print(f"wrong: seed {seed}, {ranks} ranks, {chain}: {steps}: {trouble}", flush=True)
    print(f"{options.count - wrong} right, {wrong} WRONG")
    return int(wrong > 0)
