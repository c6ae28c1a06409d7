"""``python -m tests.mutants``: a long sweep over mutated files; exit code 1 when one is a fault."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.mutants.sweep import Tally, sweep

_BATCH = 100


def main() -> int:
    """Sweep, tell how far it is, print what came of it."""
    parser = argparse.ArgumentParser(prog=".ci/mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=3000, help="how many files")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other files")
    parser.add_argument("--start", type=int, default=0, help="number of the first one")
    parser.add_argument("--most", type=int, default=20_000_000, help="bytes that one may grow by")
    asked = parser.parse_args()
    whole = Tally()
    numbers = range(asked.start, asked.start + asked.count)
    for first in range(numbers.start, numbers.stop, _BATCH):
        part = sweep(numbers[first - numbers.start :][:_BATCH], seed=asked.seed, most=asked.most)
        whole.outcomes += part.outcomes
        whole.kinds += part.kinds
        whole.faults += part.faults
        whole.slowest_s = max(whole.slowest_s, part.slowest_s)
        _tell(f"{min(first + _BATCH, numbers.stop)} of {numbers.stop}; {len(whole.faults)} faults")
    _print(whole)
    return 1 if whole.faults else 0


def _print(tally: Tally) -> None:
    outcomes: Counter[str] = Counter()
    for (_, outcome), count in tally.outcomes.items():
        outcomes[outcome] += count
    for title, counts in (("kind", tally.kinds), ("outcome", outcomes)):
        for name, count in sorted(counts.items()):
            sys.stdout.write(f"{title}\t{name}\t{count}\n")
    sys.stdout.write(f"slowest file: {tally.slowest_s:.1f} CPU s\n")
    sys.stdout.writelines(f"fault: {fault}\n" for fault in tally.faults)


def _tell(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
