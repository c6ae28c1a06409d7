"""``python parsing.py FOLDER``: ``ast.parse`` of every Python file below, and nothing else.

What the checker is measured against. Prints how many files there were.
"""

import ast
import os
import sys
import warnings


def main() -> None:
    """Parse each file, keep nothing."""
    warnings.simplefilter("ignore")
    count = 0
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:  # noqa: PTH118, PTH123 - a Path costs more than the reading
                    ast.parse(file.read())
                count += 1
    sys.stdout.write(f"{count}\n")


if __name__ == "__main__":
    main()
