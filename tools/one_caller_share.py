"""Print, for each part of slant, how many of its private functions have one caller.

    python3 tools/one_caller_share.py [FOLDER ...]

A private function begins with an underscore and is defined at the top of a module; its callers are the places in that
module that name it. A share near 1 says that functions are lines with a name, not ideas that others use.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def caller_counts(file: Path) -> Iterator[int]:
    """Yield for each private function of a module how often it is named there."""
    tree = ast.parse(file.read_text("utf-8"))
    private = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("_")]
    named = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    yield from (named[name] for name in private)


def main() -> None:
    """Print a row per folder: its private functions, those with one caller, and their share."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=["collector", "analysis"], metavar="FOLDER")
    print("folder", "private", "one_caller", "share", sep="\t")
    for folder in parser.parse_args().folders:
        counts = [count for file in sorted((ROOT / folder).rglob("*.py")) for count in caller_counts(file)]
        once = counts.count(1)
        print(folder, len(counts), once, f"{once / max(1, len(counts)):.2f}", sep="\t")


if __name__ == "__main__":
    main()
