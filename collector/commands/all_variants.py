"""`collect --variant all`: one variant of a study after the other, in the study's order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from slant.collector.errors import UsageError
from slant.collector.studies.catalogue import load_variants
from slant.collector.terminal import say


def each_variant(study: str, db: Path, collect: Callable[[str], None]) -> None:
    """Calls `collect` for each variant, says which, and leaves the program with 1 where one of them is not complete.

    A variant that leaves a model out that was named, or that needs another one first, is passed over with the reason.
    """
    is_complete = True
    for name, variant in load_variants(study, db).items():
        if variant.is_extension:
            say(f"{name} was passed over: it is an extension, not a condition of the paper. It is asked by its name.")
            continue
        say(f"{name}: {variant.about}" if variant.about else name)
        try:
            collect(name)
        except UsageError as error:
            is_complete = False
            say(f"{name} was passed over: {error}")
        except SystemExit as left:
            if left.code not in (0, 1):
                raise
            is_complete = is_complete and not left.code
    if not is_complete:
        sys.exit(1)
