"""The counts of an imported row: which of them a file has, and which one is analysed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from slant.collector.importing.layouts.values import (
    CellError,
    count,
    is_empty,
    shown,
    word,
)
from slant.collector.records import (
    TokenSource,
)
from slant.collector.study.records import StudyModel

COUNTS = ("tokens", "reasoning_tokens", "output_tokens", "reasoning_tokens_recounted")
_COLUMN: dict[TokenSource, str] = {
    "usage": "reasoning_tokens",
    "template": "reasoning_tokens",
    "output": "output_tokens",
    "retokenized": "reasoning_tokens_recounted",
}
_BY_MEASURE: dict[str | None, TokenSource] = {"reasoning": "usage", "output": "output"}


def read_counts(draft: Mapping[str, Any], model: StudyModel) -> dict[str, Any]:
    """Return the four counts and `token_source`, as columns; unknown is None. CellError for what is no count.

    Where a file has `tokens` alone, that is the count which the study analyses for this model; where it has no such
    column, `tokens` is made from the others. An empty cell in a column that is there stays unknown.
    """
    counts: dict[str, Any] = dict.fromkeys(COUNTS)
    for name in COUNTS:
        if name in draft:
            counts[name] = count(draft[name], name)
    source = _token_source(draft, model)
    if "tokens" not in draft:
        source = source or ("usage" if counts["reasoning_tokens"] is not None else "output")
        counts["tokens"] = counts[_COLUMN[source]]
    elif source is not None and counts[_COLUMN[source]] is None:
        counts[_COLUMN[source]] = counts["tokens"]
    counts["token_source"] = source if counts["tokens"] is not None else None
    return counts


def _token_source(draft: Mapping[str, Any], model: StudyModel) -> TokenSource | None:
    token_source = draft.get("token_source")
    if token_source is None or is_empty(token_source):
        return model.token_source or _BY_MEASURE.get(model.measure)
    if word(token_source) not in get_args(TokenSource):
        raise CellError(f"token_source must be one of {', '.join(get_args(TokenSource))}, but is {shown(token_source)}")
    return cast(TokenSource, word(token_source))
