"""Prints how the wheel's autocast casts each op: one line of JSON, op -> policy."""

from __future__ import annotations

import json
import sys

from op_registry.build.autocast import policies
from op_registry.build.device import initialise
from op_registry.build.table import read_table


def main() -> None:
    """Ask the wheel of this interpreter."""
    backend = initialise()
    sys.stdout.write("\n" + json.dumps(policies(read_table(), backend)) + "\n")


if __name__ == "__main__":
    main()
