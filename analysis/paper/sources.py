"""The sources of numbers of each design: the views in sql/views/3_paper, and in Python what SQL can't give."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from slant.analysis.paper import claims, games, print_alone, settings, shown_refusals, topics
from slant.analysis.paper.numbers import CELL, Numbers, fits_of_view, of_view
from slant.analysis.paper.published import is_of_print, not_checkable, notes, published_numbers, quantity_name
from slant.analysis.rows.descriptive_tables import views_of_papers
from slant.collector.errors import UnknownNameError
from slant.collector.studies.catalogue import Study

IN_PYTHON: Mapping[str, tuple[Numbers, ...]] = {
    "association": (claims.NUMBERS, topics.NUMBERS, shown_refusals.NUMBERS),
    "forced_choice": (settings.NUMBERS,),
    "allocation": (*games.NUMBERS, print_alone.NUMBERS),
}


def sources_of(study: Study) -> tuple[Numbers, ...]:
    """Every source of the study's design, those of numbers that its print has."""
    views = views_of_papers(study.design)
    of_views = [
        Numbers(
            name,
            info.gives,
            partial(of_view, info=info),
            fits=partial(fits_of_view, info=info, views=views),
            is_table_of_models=info.lacks == "cell",
        )
        for name, info in views.items()
    ]
    sources = (*of_views, *IN_PYTHON.get(study.design, ()))
    printed = set(published_numbers(study).select(quantity_name()).to_series())
    has_own_arithmetic = notes(study, "of the print").height > 0
    return tuple(
        source for source in sources if printed & set(source.gives) or (source.is_of_print and has_own_arithmetic)
    )


def check_quantities(study: Study) -> None:
    """UnknownNameError for a printed quantity that no source gives, and of which nothing else is known."""
    of_views = [info.gives for info in views_of_papers(study.design).values()]
    of_python = [source.gives for source in IN_PYTHON.get(study.design, ())]
    known = list(dict.fromkeys(name for gives in (*of_views, *of_python) for name in gives))
    numbers = published_numbers(study).filter(~is_of_print(study))
    open_numbers = numbers.join(not_checkable(study), on=CELL, how="anti", nulls_equal=True)
    for quantity in open_numbers.filter(~quantity_name().is_in(known))["quantity"]:
        name = study.published.name if study.published else ""
        raise UnknownNameError(f"quantity (in {name})", quantity, known)
