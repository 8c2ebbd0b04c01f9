"""The views that a design of another package brings: checked before any of them is made."""

from __future__ import annotations

import functools
import re

from slant.collector.designs.design import Design
from slant.collector.errors import DesignError
from slant.collector.system.shipped_files import sql_dir

_HEAD = ("grain", "reads", "design", "note")


def check_views(design: Design) -> None:
    """DesignError where a view is not called after the design, or its text lacks the head that slant's own have."""
    for name, text in design.views.items():
        for wrong in _wrong(design.name, name, text):
            raise DesignError(f'The view "{name}" of the design "{design.name}" can\'t be made: {wrong}.')


def _wrong(design: str, name: str, text: str) -> list[str]:
    head = dict(re.findall(r"^-- (\w+): +(\S.*)$", text, re.MULTILINE))
    created = f"CREATE OR REPLACE VIEW {name} AS"
    plain = design.replace("-", "_").replace(".", "_")
    named = re.fullmatch(rf"{re.escape(plain.lower())}(_[a-z0-9]+)+", name)
    checks = {
        f"it must be called {plain.lower()}_…, in small letters": not named,
        "slant has a view of that name": name in own_views(),
        f'its text must begin with "-- {name}: " and what it shows': not text.startswith(f"-- {name}: "),
        **{f'its head lacks a line "-- {key}: …"': key not in head for key in _HEAD},
        f'its line "-- design:" must say {design}': head.get("design") != design,
        f'its text must have "{created}" after the head': f"\n{created}" not in text,
    }
    return [problem for problem, is_so in checks.items() if is_so]


@functools.cache
def own_views() -> frozenset[str]:
    """The names of the views that slant itself makes."""
    files = (sql_dir() / "views").glob("*/*.sql")
    return frozenset(re.sub(r"^\d+_", "", file.stem) for file in files)
