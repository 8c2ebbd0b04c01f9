"""What a trial sends, to the byte: the template with its levels, the question, and how to answer it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from slant.collector.designs.factorial.factors import Factor
from slant.collector.designs.factorial.parts import (
    ATTRIBUTES,
    NAMES_OF_JSON,
    PROFILE,
    PROFILES,
    QUESTION,
    FactorialData,
)
from slant.collector.designs.factorial.questions import AskedQuestion
from slant.collector.designs.placeholders import filled, find_placeholders
from slant.collector.reading.choices import YES_NO

Shown = Mapping[str, Any]
"""The factors of a trial (`tasks.py` says which)."""


def user_text(data: FactorialData, shown: Shown, earlier: Mapping[str, str] | None = None) -> str:
    """Return the message of the user. A later turn, with what was said `earlier` by placeholder, has its question
    alone, under the persona if it begins a fresh conversation."""
    profiles = [_of_profile(data, shown, place) for place in range(shown["n_profiles"])]
    asked = _asked(data, shown, {**(earlier or {}), **profiles[0]})
    before = persona_text(data, shown) if data.persona_place == "user" else ""
    if earlier is not None:
        return "\n\n".join(filter(None, (before, asked))) if data.is_fresh(shown) else asked
    text = data.templates[shown["template"]]
    names = find_placeholders(text)
    values = {**profiles[0], QUESTION: asked}
    if PROFILES in names:
        values[PROFILES] = "\n\n".join(_profile_texts(data, shown, profiles))
    said = filled(text, values)
    return "\n\n".join(filter(None, (before, said, "" if QUESTION in names else asked)))


def system_text(data: FactorialData, shown: Shown) -> str:
    """Return the system message; empty where there is none."""
    return persona_text(data, shown) if data.persona_place == "system" else ""


def persona_text(data: FactorialData, shown: Shown) -> str:
    """Return a trial's text about its respondent; empty if it has none."""
    level = data.personas.by_name.get(shown["persona"])
    return level.text(shown["template"]) if level else ""


def _profile_texts(data: FactorialData, shown: Shown, profiles: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the texts of the profiles as a prompt shows them, with labels if there are several."""
    template = shown["template"]
    text = data.profiles.text.get(template, data.profiles.text.get("", ""))
    said = [text.format(**values) for values in profiles]
    if len(said) == 1:
        return said
    return [f"{label}\n{one}" for label, one in zip(data.profiles.labels(template), said, strict=True)]


def _of_profile(data: FactorialData, shown: Shown, place: int) -> dict[str, str]:
    """Return the values of the placeholders of one profile: the text of each level, its properties, and all levels as
    a list."""
    template, width = shown["template"], len(shown["names"])
    levels = dict(zip(shown["names"], shown["levels"][place * width : (place + 1) * width], strict=True))
    key = (template, *levels.items(), *shown["order"])
    return data.remembered(key, lambda: _values_of(data, shown, levels))  # type: ignore[no-any-return]


def _values_of(data: FactorialData, shown: Shown, levels: Mapping[str, str]) -> dict[str, str]:
    template = shown["template"]
    texts = _level_texts(data, levels, template)
    labels = {factor.name: factor.label for factor in data.factors}
    line = data.profiles.attribute.get(template, data.profiles.attribute.get("", ""))
    listed = [line.format(label=labels[name], level=texts[name]) for name in shown["order"] or texts]
    return {**levels, **texts, ATTRIBUTES: "\n".join(listed)}


def _level_texts(data: FactorialData, levels: Mapping[str, str], template: str) -> dict[str, str]:
    """Return the text of each factor's level: edited, and with the levels that it names in braces."""
    texts = {factor.name: _text_of(factor, levels[factor.name], template) for factor in data.factors}
    for factor in data.factors:
        if factor.edits is not None:
            of = factor.edits.of
            texts[of] = factor.edits.edited(texts[of], levels[factor.name], levels[of])
    for name, others in data.fillers.items():
        if others:
            braced = re.compile("|".join(rf"\{{{other}\}}" for other in others))
            texts[name] = braced.sub(lambda match: texts[match[0][1:-1]], texts[name])
    return texts


def _text_of(factor: Factor, name: str, template: str) -> str:
    level = factor.by_name.get(name)  # an imported row may have been shown a level that the study has no more
    return level.text(template) if level else name


def question_texts(data: FactorialData, shown: Shown) -> list[str]:
    """Return the texts of a trial's questions, as its prompt words them."""
    return _questions(data, shown, _of_profile(data, shown, 0))


def words_for_models(data: FactorialData, shown: Shown, *, has_options: bool) -> str:
    """Return the part of a prompt that a person finds in fields: several questions with the keys of their answers, or
    of one question with `has_options` how to answer it. Empty where a prompt has no such part."""
    template = shown["template"]
    if len(shown["questions"]) == 1:
        question, labels = data.questions[shown["questions"][0]], data.profiles.labels(template)
        return question.instruction(template, shown["directions"][0], labels) if has_options else ""
    together = data.together.get(template, data.together.get("", ""))
    return _asked(data, shown, _of_profile(data, shown, 0)) if NAMES_OF_JSON in find_placeholders(together) else ""


def _questions(data: FactorialData, shown: Shown, values: Mapping[str, str]) -> list[str]:
    labels, texts = data.profiles.labels(shown["template"]), []
    for name in shown["questions"]:
        one = data.questions[name]
        text = one.asked(shown["template"])
        known = {**values, PROFILE: labels[max(one.about - 1, 0)]}
        texts.append(filled(text, known))
    return texts


def _asked(data: FactorialData, shown: Shown, values: Mapping[str, str]) -> str:
    questions = [data.questions[name] for name in shown["questions"]]
    template, labels = shown["template"], data.profiles.labels(shown["template"])
    texts = _questions(data, shown, values)
    if len(questions) == 1:
        how = questions[0].instruction(template, shown["directions"][0], labels)
        return "\n".join(filter(None, (*texts, how)))
    together = data.together.get(template, data.together.get("", ""))
    if not together:  # the study says itself how to answer
        return "\n".join(filter(None, texts))
    kinds = zip(questions, shown["directions"], strict=True)
    keys = [f'"{question.name}" ({question.described(direction, labels)})' for question, direction in kinds]
    numbered = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1) if text)
    return f"{numbered}\n\n{together.format(**{NAMES_OF_JSON: _listed(keys)})}"


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def schema_of(questions: Iterable[AskedQuestion]) -> dict[str, Any]:
    """Return the schema of an object with a key for each question. Points and ranges are left to the reader: few
    providers take enums of numbers or `minimum`, and an answer beyond them is to be counted.
    """
    properties = {question.name: _property(question) for question in questions}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _property(question: AskedQuestion) -> dict[str, Any]:
    if question.kind == "scale":
        return {"type": "integer"}
    if question.kind == "number":
        return {"type": "integer" if question.amount.whole else "number"}
    named = YES_NO if question.kind == "yes_no" else question.options  # profiles are called otherwise by template
    return {"type": "string", "enum": list(named)} if named else {"type": "string"}
