"""What a row says of a reply: its outcome, texts and log-probabilities, and the row itself as it is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast, get_args

from slant.collector.ask.option_logprobs import OptionLogprobs
from slant.collector.importing.layouts import Row
from slant.collector.importing.layouts.values import CellError, count, logprob, shown, text, word
from slant.collector.reading.plain import exact_text
from slant.collector.records import LogprobKind, Outcome, ReasoningKind, Reply
from slant.collector.system.json_text import encoded

_OUTCOMES = tuple(name for name in get_args(Outcome) if name != "failed")
_OF_LOGPROBS = ("option_a_logprob", "option_b_logprob", "logprob_kind")
_NO_LOGPROBS = OptionLogprobs()


def given_outcome(draft: Mapping[str, Any]) -> Outcome | None:
    outcome = word(draft.get("outcome"))
    if outcome and outcome not in _OUTCOMES:
        raise CellError(f"outcome must be one of {', '.join(_OUTCOMES)}, but is {shown(outcome)}")
    return cast(Outcome, outcome) if outcome else None


def reply_of(draft: Mapping[str, Any], counts: Mapping[str, Any], alike: Reply | None) -> Reply:
    """Return the reply of a row, which has all but counts and texts of the reply of a row alike. An empty answer stays
    '' (a CSV can't tell it from an unknown one); all other empty texts are unknown.
    """
    input_tokens = count(draft.get("input_tokens"), "input_tokens")
    if alike is None:
        alike = Reply(
            reasoning_kind=_reasoning_kind(draft),
            detail=text(draft.get("detail")) or None,
            finish_reason=text(draft.get("finish_reason")) or None,
            served_model=text(draft.get("served_model")) or None,
            fingerprint=text(draft.get("fingerprint")) or None,
        )
    return Reply(
        answer=exact_text(said) if type(said := draft.get("answer")) is float and said == said else text(said),
        output_tokens=counts["output_tokens"],
        reasoning_tokens=counts["reasoning_tokens"],
        input_tokens=input_tokens,
        reasoning_text=text(draft.get("reasoning_text")) or None,
        reasoning_kind=alike.reasoning_kind,
        detail=alike.detail,
        finish_reason=alike.finish_reason,
        served_model=alike.served_model,
        fingerprint=alike.fingerprint,
        request_id=text(draft.get("request_id")) or None,
    )


def _reasoning_kind(draft: Mapping[str, Any]) -> ReasoningKind | None:
    kind = word(draft.get("reasoning_kind"))
    if kind and kind not in get_args(ReasoningKind):
        raise CellError(f"reasoning_kind must be one of {', '.join(get_args(ReasoningKind))}, but is {shown(kind)}")
    return cast(ReasoningKind, kind) if kind else None


def option_logprobs(draft: Mapping[str, Any]) -> OptionLogprobs:
    """Return the log-probabilities of the two options, and how far they can be trusted; nothing says so without
    a kind.
    """
    if draft.keys().isdisjoint(_OF_LOGPROBS):  # of nearly every file, and a million rows are looked at
        return _NO_LOGPROBS
    of_a, of_b = (logprob(draft.get(name), name) for name in _OF_LOGPROBS[:2])
    kind = word(draft.get("logprob_kind"))
    if kind and kind not in get_args(LogprobKind):
        raise CellError(f"logprob_kind must be one of {', '.join(get_args(LogprobKind))}, but is {shown(kind)}")
    if not kind and (of_a is not None or of_b is not None):
        raise CellError(f"logprob_kind is needed with log-probabilities: {' or '.join(get_args(LogprobKind))}")
    return OptionLogprobs(of_a, of_b, cast(LogprobKind, kind) if kind else None)


def kept_row(row: Row, draft: Mapping[str, Any]) -> str:
    """Return the row as the file has it, as JSON, but for the long texts that have columns of their own."""
    long = [value for value in (draft.get("reasoning_text"), draft.get("answer")) if value]
    cells = {name: cell for name, cell in row.cells.items() if cell not in long}
    cells.pop("request", None)
    cells.pop("response", None)
    kept = {"file": row.file, "line": row.line, "row": cells}
    try:
        return encoded(kept).decode()
    except TypeError:  # of Parquet: a type that JSON has not
        return json.dumps(kept, ensure_ascii=False, default=str)
