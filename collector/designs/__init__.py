"""Find designs. A design is how a *kind* of experiment is read, crossed, worded and simulated: code, while studies are
data.

A new design is one module with a subclass of `Design` and one row in `_DESIGNS`; or the same in your own package,
found by the entry point group "slant.designs" (vignettes/extending.Rmd shows one).
"""

from __future__ import annotations

import copyreg
import functools
import re
from collections.abc import Iterable
from importlib import import_module

from slant.collector.designs.analyses import Analyses as Analyses
from slant.collector.designs.analyses import ReportPart as ReportPart
from slant.collector.designs.analyses import Vocabulary as Vocabulary
from slant.collector.designs.asks import Asks as Asks
from slant.collector.designs.asks import Question as Question
from slant.collector.designs.design import Design as Design
from slant.collector.designs.design import Imports as Imports
from slant.collector.designs.design import Reads as Reads
from slant.collector.designs.design import Simulates as Simulates
from slant.collector.errors import DesignError, UnknownNameError
from slant.collector.system.shipped_files import load_third_party, sql_dir, third_party_names

GROUP = "slant.designs"
_DESIGNS = {
    "allocation": "slant.collector.designs.allocation.design",
    "association": "slant.collector.designs.association.design",
    "coding": "slant.collector.designs.coding.design",
    "decision": "slant.collector.designs.decision.design",
    "factorial": "slant.collector.designs.factorial.design",
    "forced_choice": "slant.collector.designs.forced_choice.design",
    "observed": "slant.collector.designs.observed.design",
    "pairing": "slant.collector.designs.pairing.design",
}
_found: dict[str, Design] = {}


def design_named(name: str) -> Design:
    """Return the design of this name; UnknownNameError if there is none, DesignError if its package is not
    valid.
    """
    if name not in _found:
        design = import_module(_DESIGNS[name]).DESIGN if name in _DESIGNS else _of_a_package(name)
        if design is None:
            raise UnknownNameError("design", name, design_names())
        copyreg.pickle(type(design), lambda known: (design_named, (known.name,)))  # every process has one of a name
        _found[name] = design
    return _found[name]


def design_names() -> list[str]:
    """Return the names of slant's designs and those of other packages."""
    return sorted({*_DESIGNS, *third_party_names(GROUP)})


def third_party_designs() -> Iterable[Design]:
    """Return designs of other packages by their names. One that can't be loaded is skipped: it makes no view, and
    asking for it by name gives the reason."""
    for name in third_party_names(GROUP):
        if name not in _DESIGNS:
            try:
                yield design_named(name)
            except (DesignError, UnknownNameError):
                continue


def _of_a_package(name: str) -> Design | None:
    design: Design | None = load_third_party(GROUP, name, Design, DesignError)  # type: ignore[type-abstract]
    if design is not None:
        give_parts(design)
        check_asks(design)
        check_views(design)
    return design


_PARTS = {"asks": Asks, "reads": Reads, "simulates": Simulates, "imports": Imports, "analyses": Analyses}


def give_parts(design: Design) -> None:
    """Let a small design be one class with the methods of all parts: each part is that class, with its own defaults."""
    own = type(design)
    if not (hasattr(design, "asks") or hasattr(design, "reads")):
        for name, part in _PARTS.items():
            try:
                setattr(design, name, type(own.__name__, (own, part), {})())
            except TypeError as error:  # a method that the part must have is missing
                raise DesignError(f'The design "{design.name}" needs {name}: {error}.') from error


def check_asks(design: Design) -> None:
    """Raise DesignError if a design lacks what is asked or how it is read, both questions and a custom order, or both
    prompts and turns."""
    for part in ("asks", "reads"):
        if not hasattr(design, part):
            raise DesignError(f'The design "{design.name}" needs a part `{part}`, and has none.')
    for pair in (("questions", "plan"), ("text", "next")):
        if all(getattr(type(design.asks), method) is getattr(Asks, method) for method in pair):
            raise DesignError(f'The design "{design.name}" needs {pair[0]}() or {pair[1]}(), and has neither.')


_HEAD = ("grain", "design", "note")


def check_views(design: Design) -> None:
    """Raise DesignError if a view is not named after the design, or its text lacks the head that slant's own have."""
    for name, text in design.analyses.views.items():
        head = dict(re.findall(r"^-- (\w+): +(\S.*)$", text, re.MULTILINE))
        created = f"CREATE OR REPLACE VIEW {name} AS"
        plain = design.name.replace("-", "_").replace(".", "_")
        named = re.fullmatch(rf"{re.escape(plain.lower())}(_[a-z0-9]+)+", name)
        checks = {
            f"it must be called {plain.lower()}_…, in small letters": not named,
            "slant has a view of that name": name in own_views(),
            f'its text must begin with "-- {name}: " and what it shows': not text.startswith(f"-- {name}: "),
            **{f'its head lacks a line "-- {key}: …"': key not in head for key in _HEAD},
            f'its line "-- design:" must say {design.name}': head.get("design") != design.name,
            f'its text must have "{created}" after the head': f"\n{created}" not in text,
        }
        if wrong := next((problem for problem, is_so in checks.items() if is_so), None):
            raise DesignError(f'The view "{name}" of the design "{design.name}" can\'t be made: {wrong}.')


@functools.cache
def own_views() -> frozenset[str]:
    """Return the names of slant's own views."""
    files = (sql_dir() / "views").glob("*/*.sql")
    return frozenset(re.sub(r"^\d+_", "", file.stem) for file in files)
