"""``python -m tests.census``: sweeps over configs and source trees. ``.ci/census`` runs it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.census.architectures import census_architectures
from tests.census.fixes import repair_trees
from tests.census.hub import census
from tests.census.hub_phases import census_phases
from tests.census.mutate import mutate
from tests.census.parameters import compare
from tests.census.wheel import MODELS, agree
from tpu_audit.types.trace import PHASES

REPORTS = Path(__file__).parents[2] / "reports"


def main() -> int:
    """Run one sweep; 0 when all that it must show holds, else 1."""
    args = _parser().parse_args()
    if args.command == "hub":
        well = census(args.folder, args.out, _tell)
    elif args.command == "phases":
        some = {"only": args.only, "phases": args.phases}
        well = census_phases(args.folder, args.out, _tell, **some)
    elif args.command == "architectures":
        some = {"only": args.only, "every": args.sample, "phases": args.phases}
        well = census_architectures(args.hub, args.out, _tell, **some)
    elif args.command == "parameters":
        well = compare(args.folder, args.published, args.out, _tell)
    elif args.command == "wheel":
        well = agree(args.python, args.hub, args.out, _tell, limit=args.limit)
    elif args.command == "fixes":
        well = repair_trees(args.folder, args.out, _tell, keep=args.keep)
    else:
        counted = {"count": args.count, "seed": args.seed, "start": args.start}
        well = mutate(args.folder, args.out, _tell, **counted)
    return 0 if well else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=".ci/census")
    commands = parser.add_subparsers(dest="command", required=True)
    hub = commands.add_parser("hub", help="scan every config.json; writes hub_configs.md and .json")
    mutants = commands.add_parser("mutate", help="scan mutants; writes mutated_configs.md")
    counts = commands.add_parser(
        "parameters", help="compare parameter counts; writes parameter_counts.md"
    )
    fixes = commands.add_parser(
        "fixes", help="repair copies of source trees; writes check_fixes.md"
    )
    fixes.add_argument("folder", type=Path, help="folder of source trees")
    fixes.add_argument("--keep", type=Path, help="new folder for the repaired trees")
    kinds = commands.add_parser(
        "architectures", help="trace every model type of transformers; writes architectures.md"
    )
    kinds.add_argument("--hub", type=Path, help="configs in hub layout, preferred to defaults")
    kinds.add_argument("--only", nargs="+", default=(), metavar="TYPE", help="these types alone")
    kinds.add_argument("--sample", type=int, default=1, metavar="N", help="one type in N")
    every = commands.add_parser(
        "phases", help="trace every config in all phases; writes hub_phases.md"
    )
    every.add_argument("--only", nargs="+", default=(), metavar="NAME", help="these configs alone")
    for command in (kinds, every):
        command.add_argument("--phases", nargs="+", default=PHASES, choices=PHASES)
    wheel = commands.add_parser(
        "wheel", help="compare traces with the real torch_tpu; writes wheel_agreement.md"
    )
    wheel.add_argument("--python", required=True, help="an interpreter with torch-tpu")
    wheel.add_argument("--hub", type=Path, help="configs in hub layout, preferred to defaults")
    wheel.add_argument("--limit", type=int, default=MODELS, metavar="N", help="families to compare")
    for command in (hub, mutants, counts, every):
        command.add_argument(
            "folder", type=Path, help="configs in hub layout: org/model/config.json"
        )
    for command in (hub, mutants, counts, fixes, kinds, wheel, every):
        command.add_argument("--out", type=Path, default=REPORTS, help="folder of the reports")
    counts.add_argument("published", type=Path, help="CSV file with name and parameters_raw")
    mutants.add_argument("--count", type=int, default=2000)
    mutants.add_argument("--seed", type=int, default=0)
    mutants.add_argument("--start", type=int, default=0, help="number of the first mutant")
    return parser


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
