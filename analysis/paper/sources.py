"""List the sources of numbers of each design: the views in sql/views/3_paper, and in Python what SQL can't give."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from slant.analysis.paper import print_checks, topics
from slant.analysis.paper.numbers import CELL, Numbers, fits_of_view, numbers_of_view
from slant.analysis.paper.published import is_of_print, not_checkable, notes, published_numbers, quantity_name
from slant.analysis.rows.descriptive_tables import views_of_papers
from slant.collector.errors import UnknownNameError
from slant.collector.studies.catalogue import Study

IN_PYTHON: Mapping[str, Numbers] = {"topics": topics.NUMBERS, "print_checks": print_checks.NUMBERS}
"""Hold sources by the names that designs have in `number_sources`."""


def sources_of(study: Study) -> tuple[Numbers, ...]:
    """Return every source of the study's design, including those of its print's numbers."""
    printed = set(published_numbers(study).select(quantity_name()).to_series())
    has_own_arithmetic = notes(study, "of the print").height > 0
    return tuple(
        source for source in _all(study) if printed & set(source.gives) or (source.is_of_print and has_own_arithmetic)
    )


def _all(study: Study) -> tuple[Numbers, ...]:
    infos = views_of_papers(study.design.name)
    of_views = [
        Numbers(
            name,
            info.gives,
            partial(numbers_of_view, info=info),
            fits=partial(fits_of_view, info=info, infos=infos),
            is_table_of_models=info.lacks in ("cell", "game"),
        )
        for name, info in infos.items()
    ]
    return (*of_views, *(IN_PYTHON[name] for name in study.design.number_sources))


def check_quantities(study: Study) -> None:
    """Raise UnknownNameError for a printed quantity without a source or any other information."""
    known = list(dict.fromkeys(name for source in _all(study) for name in source.gives))
    numbers = published_numbers(study).filter(~is_of_print(study))
    open_numbers = numbers.join(not_checkable(study), on=CELL, how="anti", nulls_equal=True)
    for quantity in open_numbers.filter(~quantity_name().is_in(known))["quantity"]:
        name = study.published.name if study.published else ""
        raise UnknownNameError(f"quantity (in {name})", quantity, known)
