"""What a factorial study says: factors, templates, questions, personas, what is crossed; read and checked.

Nothing is crossed here: cells are counted before any is made (`cells.py`), and made one by one (`tasks.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from slant.collector.designs.factorial.cells import Cells, make_cells, nested_rules, parse_forbidden
from slant.collector.designs.factorial.factors import (
    Factor,
    Level,
    check_documents,
    filling_order,
    is_file,
    literal_text,
    parse_factor,
)
from slant.collector.designs.factorial.questions import (
    AskedQuestion,
    has_turns,
    parse_forms,
    parse_questions,
    texts_by_template,
)
from slant.collector.designs.placeholders import check_placeholders
from slant.collector.errors import StudyError, UnknownNameError, check_known
from slant.collector.reading.choices import YES_NO
from slant.collector.reading.forms import AnswerForm
from slant.collector.reading.spelling import folded
from slant.collector.reading.text_measures import FUNCTIONS, TextMeasure
from slant.collector.study.folder import StudyFolder
from slant.collector.study.toml_table import Table, checked_name, shortened

PERSONA = "persona"
ITEM = "item"
KEYS_OF_ITEMS = ("scale", "key")
PLACES = ("system", "user")
KINDS_OF_CROSSING = ("full", "one_at_a_time")
TAKES = ("all", "random", "balanced")
ASKED = ("apart", "together", "in_turns")
IN_TURNS = ASKED[2:]
ORDERS = ("as_listed", "drawn")
MOST_PROFILES = 10
PROFILES, ATTRIBUTES, QUESTION, NUMBER, PROFILE = "profiles", "attributes", "question", "number", "profile"
NAMES_OF_JSON = "keys"


@dataclass(frozen=True, slots=True)
class Profiles:
    """Say how profiles are shown: `count` in one task, each under its `label` as `text` by template; its attributes,
    where the text has that placeholder, one a line, in the order of the study or drawn task by task. The first
    `repeated` tasks are shown again, with their two sides swapped."""

    count: int = 1
    repeated: int = 0
    label: Mapping[str, str] = field(default_factory=lambda: {"": "Person {number}"})
    text: Mapping[str, str] = field(default_factory=lambda: {"": "{attributes}"})
    attribute: Mapping[str, str] = field(default_factory=lambda: {"": "- {label}: {level}"})
    attribute_order: str = "as_listed"

    def labels(self, template: str) -> tuple[str, ...]:
        """Return the labels of a task's profiles, in their order."""
        return _labels(self.label.get(template, self.label.get("", "")), self.count)


_MOST_REMEMBERED = 5_000


@lru_cache(256)
def _labels(label: str, count: int) -> tuple[str, ...]:
    return tuple(label.format(number=number) for number in range(1, count + 1))


@dataclass(frozen=True)
class FactorialData:
    """Hold `Study.data` of a factorial study.

    `takes`: all cells, `n` of them at random, or `n` in which levels are balanced; of tasks with several profiles `n`
    tasks. `asked`: each question by itself, all in one message and one answer, or one after another. `personas` is a
    factor whose text goes into the system message, or before the user's (`persona_place`). `dealt_by`: the seed that
    deals levels to prompts at random, in the variant `null`; else None.
    """

    factors: tuple[Factor, ...]
    cells: Cells
    takes: str
    n: int
    templates: Mapping[str, str]
    questions: Mapping[str, AskedQuestion]
    asked: str
    profiles: Profiles
    personas: Factor
    persona_place: str
    together: Mapping[str, str]
    material: tuple[str, ...] = ()
    placebo: tuple[str, ...] = ()
    bound: float | None = None
    form_factor: str = ""
    forms: Mapping[str, AnswerForm] = field(default_factory=dict)
    measures: Mapping[str, TextMeasure] = field(default_factory=dict)
    simulation: Any = None
    dealt_by: int | None = None
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def remembered(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the cached value for this key: profiles of a task are the same for all questions about it."""
        if key not in self.memo:
            if len(self.memo) >= _MOST_REMEMBERED:
                self.memo.clear()
            self.memo[key] = make()
        return self.memo[key]

    @property
    def has_personas(self) -> bool:
        return bool(self.personas.levels[0].name)

    @property
    def n_tasks(self) -> int:
        """Return the number of tasks in each template for each persona."""
        return self.cells.n if self.takes == "all" else self.n + self.profiles.repeated

    def form_of(self, name: str, shown: Mapping[str, Any]) -> AnswerForm | None:
        """Return the form in which a question is to be answered; None for the usual one."""
        if self.form_factor:
            return self.forms[shown["levels"][shown["names"].index(self.form_factor)]]
        return self.questions[name].form

    def is_fresh(self, shown: Mapping[str, Any]) -> bool:
        """Return whether a turn begins a conversation in which nothing was said before."""
        return self.questions[shown["questions"][0]].is_fresh

    @cached_property
    def is_chain(self) -> bool:
        """Return whether a prompt shows an earlier answer; then one without a value ends its conversation."""
        return any(question.links for question in self.questions.values())

    @cached_property
    def fillers(self) -> Mapping[str, frozenset[str]]:
        """Return the factors that levels of each factor name in braces."""
        return filling_order(self.factors)


NOBODY = Factor(PERSONA, "Persona", (Level("", {"": ""}),))


def parse_parts(table: Table, folder: StudyFolder) -> FactorialData:
    """Read all but [simulation]; StudyError if it breaks the rules."""
    named, of_template = table.table("factors"), tuple(table.mapping("templates"))
    factors = tuple(parse_factor(name, named, folder, of_template) for name in table.mapping("factors"))
    names = [name for factor in factors for name in factor.names]
    templates = _templates(table, folder, names)
    personas, place = _personas(table, folder, templates)
    factors = _with_scales(table, factors)
    _check_names(factors, personas, table.where)
    profiles = _profiles(table, templates)
    questions = parse_questions(table, tuple(templates), profiles.count, folder, names)
    by_name = {factor.name: factor for factor in factors}
    questions, form_factor, forms = parse_forms(table, questions, by_name)
    usual_together = "" if any(question.form for question in questions.values()) else _TOGETHER
    crossing = table.table("crossing")
    material, placebo, bound = _one_at_a_time(crossing, factors)
    changing = [number for number, factor in enumerate(factors) if factor.name not in material] if material else []
    rules = [*parse_forbidden(crossing, factors), *nested_rules(factors, table.where)]
    cells = make_cells(factors, rules, crossing.where, changing)
    asked = crossing.choice("questions", IN_TURNS if has_turns(questions.values()) else ASKED)
    if asked == "together":
        together = texts_by_template(crossing, "together", tuple(templates), usual_together)
    else:
        together = {"": usual_together}
    data = FactorialData(
        factors=factors,
        cells=cells,
        takes=crossing.choice("takes", TAKES),
        n=crossing.integer("n", 0),
        templates=templates,
        questions=questions,
        asked=asked,
        profiles=profiles,
        personas=personas,
        persona_place=place,
        together=together,
        material=material,
        placebo=placebo,
        bound=bound,
        form_factor=form_factor,
        forms=forms,
        measures=_measures(table, questions, folder),
    )
    crossing.finish()
    data = _trimmed(data) if folder.trims else data
    check_documents(data.factors, table.where)
    return data


_TOGETHER = "Answer with one JSON object and nothing else, with the keys {keys}."


def _measures(table: Table, questions: Mapping[str, AskedQuestion], folder: StudyFolder) -> dict[str, TextMeasure]:
    """Read [measures]: by name a function of the answers to the only question with a text, or to the question `of`."""
    row, texts = table.table("measures"), [name for name, one in questions.items() if one.kind == "text"]
    measures: dict[str, TextMeasure] = {}
    for name, value in table.mapping("measures").items():
        own = Table({"by": value} if isinstance(value, str) else row.mapping(name), f"{row.where}, {name}")
        of, by = own.text("of", texts[0] if len(texts) == 1 else None), own.text("by")
        own.finish()
        check_known(f"question (of) in {own.where}", of, questions)
        function, _, what = by.partition(":")
        if function not in FUNCTIONS or bool(what) != (function in FUNCTIONS[2:]):
            raise UnknownNameError(
                f"function (by) in {own.where}", by, ("length_words", "readability", "lexicon:FILE", "option:NAME")
            )
        check_measure_name(name, questions, row.where)
        words = (
            tuple(filter(None, map(folded, folder.text(what).splitlines())))
            if function == "lexicon"
            else (folded(what),)
        )
        if function == "option" and words[0] not in map(
            folded, (YES_NO if questions[of].kind == "yes_no" else questions[of].options)
        ):
            raise UnknownNameError(f"option (by) in {own.where}", what, questions[of].options)
        measures[name] = TextMeasure(of, function, words)
    return measures


def check_measure_name(name: str, questions: Mapping[str, AskedQuestion], where: str) -> None:
    if name in questions or not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
        raise StudyError(
            f'A measure in {where} can\'t be called "{shortened(name)}".',
            "A name has small letters, digits and underscores, and is not one that belongs to a question.",
        )


def _one_at_a_time(crossing: Table, factors: Sequence[Factor]) -> tuple[tuple[str, ...], tuple[str, ...], float | None]:
    """Read which factors are the material of a study whose others change one at a time, its placebos, and the smallest
    difference that would matter."""
    kind = crossing.choice("kind", KINDS_OF_CROSSING)
    material, placebo = crossing.texts("material", ()), crossing.texts("placebo", ())
    names = [factor.name for factor in factors]
    for name in material:
        check_known(f"factor (of material) in {crossing.where}", name, names)
    changes = [level.name for f in factors if f.name not in material for level in f.levels[1:]] if material else []
    for level in placebo if changes else ():
        check_known(f"level (of placebo) in {crossing.where}", level, changes)
    bound = crossing.optional("bound", (int, float), "a number")
    if bound is not None and not (bound > 0 and changes):
        raise StudyError(
            f'"bound" in {crossing.where} is the smallest difference from the baseline that would matter: a number '
            'above 0, of a crossing with kind = "one_at_a_time".',
            "As in: bound = 0.5",
        )
    if (kind == "one_at_a_time") != bool(changes) or (placebo and not changes):
        raise StudyError(
            f'"material" in {crossing.where} names the factors that are crossed with every change, with kind = '
            '"one_at_a_time"; all others change one at a time, from their first level.',
            'As in: kind = "one_at_a_time", material = ["advert"], placebo = ["blank line"]',
        )
    return material, placebo, bound


def _templates(table: Table, folder: StudyFolder, names: Sequence[str]) -> dict[str, str]:
    named = table.table("templates")
    known = (*names, PROFILES, ATTRIBUTES, QUESTION)
    templates = {}
    for name, value in table.mapping("templates").items():
        text = literal_text(folder.text(value["file"]), known) if is_file(value) else named.text(name)
        templates[checked_name(name, "template")] = text
    if not templates:
        raise StudyError(
            f"{table.where} needs at least one template: the text that is sent, with factors in braces.",
            'As in: [templates] plain = "{name} is {age} years old and works as {job}."',
        )
    for name, text in templates.items():
        if not text:
            raise StudyError(f'The template "{name}" of {table.where} is empty.')
        if "." in name:
            raise StudyError(f'The template "{name}" of {table.where} has a point in its name.')
    return templates


def _personas(table: Table, folder: StudyFolder, templates: Mapping[str, str]) -> tuple[Factor, str]:
    if not table.has("personas"):
        return NOBODY, PLACES[0]
    values = table.mapping("personas")
    place = table.table("personas").choice("place", PLACES)
    listed = {key: value for key, value in values.items() if key != "place"}
    if not {"levels", "file"} & set(listed):  # [personas] nurse = "You are a nurse."
        listed = {"levels": listed}
    within = Table({"people": listed}, table.table("personas").where)
    personas = parse_factor("people", within, folder, tuple(templates), may_be_empty=True)
    return replace(personas, name=PERSONA, label="Persona"), place


def _with_scales(table: Table, factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
    """Return the factors, `item` with scale and key of each item as further columns, where [scales] has them."""
    scales = table.table("scales")
    keyed: dict[str, tuple[str, str]] = {}
    for scale in table.mapping("scales"):
        for entry in scales.texts(checked_name(scale, "scale")):
            item, key = entry.lstrip("+-").strip(), "-1" if entry.startswith("-") else "1"
            if keyed.setdefault(item, (scale, key)) != (scale, key):
                raise StudyError(f'The item "{item}" is in two places of {scales.where}.')
    if not keyed:
        return factors
    items = next((factor for factor in factors if factor.name == ITEM), None)
    if items is None or set(KEYS_OF_ITEMS) & set(items.columns):
        what = "has them in its file already" if items else "is missing"
        raise StudyError(f'{scales.where} gives keys to the levels of the factor "{ITEM}", which {what}.')
    names = [level.name for level in items.levels]
    for item in keyed:
        check_known(f"item in {scales.where}", item, names)
    for name in names:
        if name not in keyed:
            raise StudyError(f'The item "{name}" is in no scale of {scales.where}.')
    levels = tuple(replace(level, more=(*level.more, *keyed[level.name])) for level in items.levels)
    keyed_items = replace(items, levels=levels, columns=(*items.columns, *KEYS_OF_ITEMS))
    return tuple(keyed_items if factor.name == ITEM else factor for factor in factors)


def _check_names(factors: Sequence[Factor], personas: Factor, where: str) -> None:
    if not factors:
        raise StudyError(
            f"{where} needs at least one factor: what changes from prompt to prompt.",
            'As in: [factors] gender = ["woman", "man"]',
        )
    names = [name for factor in factors for name in factor.names] + list(personas.columns)
    for name in names:
        if names.count(name) > 1:
            raise StudyError(f'Two factors of {where}, or columns of their files, are called "{name}".')
    items = next((factor for factor in factors if factor.name == ITEM), None)
    if items and "key" in items.columns and (wrong := set(items.levels_of("key")) - {"1", "-1"}):
        raise StudyError(f'The key of an item of {where} must be 1 or -1, but one is "{min(wrong)}".')


def _profiles(table: Table, templates: Mapping[str, str]) -> Profiles:
    row, usual = table.table("profiles"), Profiles()
    profiles = Profiles(
        count=row.integer("count", 1),
        repeated=row.integer("repeated", 0),
        label=texts_by_template(row, "label", tuple(templates), usual.label[""]),
        text=texts_by_template(row, "text", tuple(templates), usual.text[""]),
        attribute=texts_by_template(row, "attribute", tuple(templates), usual.attribute[""]),
        attribute_order=row.choice("attribute_order", ORDERS),
    )
    row.finish()
    if not 1 <= profiles.count <= MOST_PROFILES:
        raise StudyError(f'"count" in {row.where} must be from 1 to {MOST_PROFILES}, but is {profiles.count}.')
    for text in profiles.label.values():
        check_placeholders(text, (NUMBER,), (), f"label of {row.where}")
    for text in profiles.attribute.values():
        check_placeholders(text, ("level",), ("label",), f"attribute of {row.where}")
    return profiles


def _trimmed(data: FactorialData) -> FactorialData:
    """Return the same study without white space around its texts (`trim = true`)."""

    def stripped(texts: Mapping[str, str]) -> dict[str, str]:
        return {name: text.strip() for name, text in texts.items()}

    def of(factor: Factor) -> Factor:
        return replace(factor, levels=tuple(replace(level, texts=stripped(level.texts)) for level in factor.levels))

    return replace(
        data,
        factors=tuple(map(of, data.factors)),
        personas=of(data.personas),
        templates=stripped(data.templates),
        questions={name: replace(one, text=stripped(one.text)) for name, one in data.questions.items()},
    )
