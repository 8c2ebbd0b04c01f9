"""Report settings that a model does not take: those that its provider explicitly refuses, and those that it ignores, so
that the answer reports another value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from slant.collector.providers.temperature import sent_temperature
from slant.collector.records import Reply
from slant.collector.study.records import StudyModel

_CLOSE = 1e-6
_OF_PARAMETERS = re.compile(r"HTTP (?:400|422|502|200 with an error in it)\b")


def explained(reason: str, model: StudyModel) -> str:
    """Explain why a provider takes no request for this model and, if a setting is the reason, what to do about it."""
    if not _OF_PARAMETERS.match(reason):
        return reason
    if (sent := sent_temperature(model)) is not None and _names("temperature", reason):
        return (
            f"{reason.rstrip('.')}. {model.model} was sent the temperature {sent:g}, which its provider does not "
            "accept. To continue without it, name the others:"
            " --model PROVIDER/NAME; in a study of your own give it in "
            f'left_out = {{ "{model.model}" = "why" }}, which every run of the study then reports.'
        )
    named = [(name, value) for name, value in _leaves(model.settings) if _names(name, reason)]
    if not named:
        return reason
    what = " and ".join(f"{name} = {_short(value)}" for name, value in named)
    return (
        f"{reason.rstrip('.')}. {model.model} was sent {what}, which its provider does not accept with this model. "
        "Change it, or remove it from this model's settings in the study file."
    )


def ignored(model: StudyModel, reply: Reply) -> str | None:
    """Return a sentence if a model ignored its temperature or its effort, as the answer reports another one than was
    sent; else None.

    A provider that reports nothing can't be checked this way: `collect check-model` compares its answers instead.
    """
    reported = reply.effective_temperature
    if reported is not None and (sent := sent_temperature(model)) is not None and abs(reported - sent) > _CLOSE:
        return _ignored(model, "temperature", f"{sent:g}", f"{reported:g}")
    if not reply.effective_effort:
        return None
    effort = next((value for name, value in _leaves(model.settings) if name in ("effort", "reasoning_effort")), None)
    if isinstance(effort, str) and reply.effective_effort.lower() != effort.lower():
        return _ignored(model, "reasoning effort", effort, reply.effective_effort)
    return None


def _ignored(model: StudyModel, what: str, sent: str, reported: str) -> str:
    return (
        f"WARNING: {model.model} was sent the {what} {sent}, and its answers report {reported}: it was ignored. "
        "Change it in the study file, or report what was used (columns effective_temperature and effective_effort)."
    )


def _names(name: str, reason: str) -> bool:
    """Return whether a sentence names a setting, in snake_case or camelCase. A name that may be a usual word (stop,
    type) must stand out: in quotation marks, before a colon, or after a word such as "parameter"."""
    words = [re.escape(part) for part in re.split(r"_|(?<=[a-z])(?=[A-Z])", name) if part]
    whole = rf"(?<![A-Za-z]){'_?'.join(words)}(?![A-Za-z])"
    if len(words) == 1 and name != "temperature":
        whole = (
            rf"[`'\".]{whole}|{whole}(?:[`'\"]|:)|(?:parameters?|arguments?|settings?|fields?|options?|model):? {whole}"
        )
    return re.search(whole, reason, re.IGNORECASE) is not None


def _leaves(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each setting by its own name, including those inside others; for a group also the group's."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        yield name, value


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
