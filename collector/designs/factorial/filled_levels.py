"""Levels whose texts are made of other levels: edits of documents, and texts that name factors in braces."""

from __future__ import annotations

from collections.abc import Sequence

from slant.collector.designs.factorial.documents import check_edits
from slant.collector.designs.factorial.factors import Factor
from slant.collector.errors import StudyError, UnknownNameError


def check_documents(factors: Sequence[Factor], where: str) -> None:
    """Raise StudyError for an edit that its documents lack, and for levels that name each other."""
    by_name = {factor.name: factor for factor in factors}
    for factor in factors:
        if factor.edits is None:
            continue
        if factor.edits.of == factor.name or factor.edits.of not in by_name:
            raise UnknownNameError(f'factor (of "{factor.name}") in {where}', factor.edits.of, by_name)
        documents = {level.name: tuple(level.texts.values()) for level in by_name[factor.edits.of].levels}
        check_edits(factor.edits, documents, f'the factor "{factor.name}" of {where}')
    filling_order(factors)


def filling_order(factors: Sequence[Factor]) -> dict[str, frozenset[str]]:
    """Return the factors that levels of each factor name in braces, in the order in which their texts are filled:
    each after those that it names. StudyError if two name each other.
    """
    names = {
        factor.name: _named_in([t for level in factor.levels for t in level.texts.values()], factors) - {factor.name}
        for factor in factors
    }
    for factor in factors:
        if factor.edits is not None:  # what an edit writes is a text of the document
            replaced = [new for changes in factor.edits.changes.values() for _, new in changes]
            names[factor.edits.of] |= _named_in(replaced, factors)
    ordered: dict[str, frozenset[str]] = {}
    while left := {name: others for name, others in names.items() if name not in ordered}:
        ready = {name: others for name, others in left.items() if others <= set(ordered)}
        if not ready:
            raise StudyError(f"The levels of {' and '.join(left)} name each other in braces.")
        ordered |= ready
    return ordered


def _named_in(texts: Sequence[str], factors: Sequence[Factor]) -> frozenset[str]:
    return frozenset(factor.name for factor in factors if any(f"{{{factor.name}}}" in text for text in texts))
