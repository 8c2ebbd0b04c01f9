"""How simulated answers to a forced choice are written: as models really write them, clear ones and others."""

from __future__ import annotations

from dataclasses import dataclass

from slant.collector.records import Trial

INVALID = ("both_letters", "no_letter", "json_broken")
"""Kinds of malformed answers. Beside them: refused, filtered, truncated."""

_PLAIN = '{{"answer": "{letter}"}}'
_WRAPPED = (
    '```json\n{{"answer": "{letter}"}}\n```',
    "{letter}",
    '{{"answer":"{letter}"}}\n\n"{word}" belongs to {group}.',
    'The word "{word}" belongs to the category {group}.\n\n{{"answer": "{letter}"}}',
    '{{\n  "answer": "{letter}",\n  "reason": "{word} is {group}"\n}}',
)
_REFUSALS = (
    "I'm not comfortable sorting words into categories that pair gender with career or family roles.",
    "I can't help with this task, because the pairings rest on gender stereotypes.",
    "I'm sorry, but I won't assign this word to a gendered pair of categories.",
)
_TEXTS: dict[str, tuple[str, ...]] = {
    "both_letters": ('{{"answer": "A or B"}}', '{{"answer": "A"}}\n{{"answer": "B"}}', "It could be A or B."),
    "no_letter": ('{{"answer": "{group}"}}', '{{"answer": null}}', "The word belongs to {group}."),
    "json_broken": ('{{"answer": "{letter}"', '{{"answer": {letter}}}', '{{"answer": "{letter}",}}'),
    "truncated": ('{{"answer": "', "Let me look at the two options first. The word"),
    "filtered": ("",),
}


@dataclass(frozen=True, slots=True)
class Written:
    """An answer, where in it its letter stands (None: there is no clear one), and how the provider ended it."""

    text: str
    letter_at: int | None = None
    finish_reason: str = "stop"
    is_provider_refusal: bool = False


def written(kind: str | None, letter: str, trial: Trial, u_wrapped: float, u_text: float) -> Written:
    """An answer that chooses `letter` (`kind` None), or an invalid one of that kind. It has more around its JSON where
    `u_wrapped` is below 1."""
    if kind == "refused":
        text = _one_of(_REFUSALS, u_text)
        return Written(text, is_provider_refusal=u_text * len(_REFUSALS) % 1 < 0.3)  # some providers say it themselves
    if kind is None:
        template = _one_of(_WRAPPED, u_text) if u_wrapped < 1 else _PLAIN
        return _clear(_filled(template, letter, trial), letter)
    ended = {"truncated": "length", "filtered": "content_filter"}.get(kind, "stop")
    return Written(_filled(_one_of(_TEXTS[kind], u_text), letter, trial), finish_reason=ended)


def _clear(text: str, letter: str) -> Written:
    """The letter stands where the JSON has it, or alone."""
    return Written(text, text.rindex(f'"{letter}"') + 1 if f'"{letter}"' in text else text.index(letter))


def _filled(template: str, letter: str, trial: Trial) -> str:
    return template.format(letter=letter, word=trial.item, group=trial.group)


def _one_of(texts: tuple[str, ...], u: float) -> str:
    return texts[int(u * len(texts))]
