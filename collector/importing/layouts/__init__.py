"""A layout says how the columns of a file become ours: one module each, and one row in the table below.

A layout translates; what a study's cells are, how an answer is read and what is kept is the same for all of them
(collector/importing/rows.py).
"""

from __future__ import annotations

from slant.collector.errors import check_known
from slant.collector.importing.layouts.downstream import Downstream
from slant.collector.importing.layouts.published import Bai, LeeLai
from slant.collector.importing.layouts.tidy import Layout, Problem, Row, Tidy

__all__ = ["Layout", "Problem", "Row", "layout_named"]


_LAYOUTS: dict[str, Layout] = {"tidy": Tidy(), "lee-lai": LeeLai(), "bai": Bai(), "downstream": Downstream()}


def layout_named(name: str) -> Layout:
    """Return the layout of this name; UnknownNameError if there is none."""
    check_known("layout", name, _LAYOUTS)
    return _LAYOUTS[name]
