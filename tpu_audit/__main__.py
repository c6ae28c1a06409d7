"""Entry point of the ``tpu-audit`` command and of ``python -m tpu_audit``."""

from __future__ import annotations

import sys

from tpu_audit.cli.run import run


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
