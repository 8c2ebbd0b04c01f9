"""Questions of a study: what is asked about each vignette, how it is to be answered, and how such an answer is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slant.collector.designs.factorial.factors import Factor, is_file, literal_text
from slant.collector.designs.placeholders import find_placeholders
from slant.collector.errors import StudyError, check_known
from slant.collector.reading.choices import YES_NO, read_choice
from slant.collector.reading.forms import AnswerForm, parse_form
from slant.collector.reading.numbers import Amount, read_number
from slant.collector.reading.phrases import refusal_detail
from slant.collector.reading.plain import LONGEST_READ, AnswerReading, declines, spoken
from slant.collector.reading.scales import MIDDLE, Scale, read_scale
from slant.collector.reading.spelling import folded, folded_lines
from slant.collector.reading.written_numbers import MARKS
from slant.collector.study.folder import StudyFolder
from slant.collector.study.toml_table import Table, shortened

KINDS = ("scale", "choice", "yes_no", "number", "text")
DIRECTIONS = ("forward", "reversed", "drawn", "both")
FORWARD, REVERSED = "forward", "reversed"
OF_PROFILES, OF_PROFILE = "profiles", "profile"
ANSWER, REASONING = "answer", "reasoning"
"""Begin placeholders for what was said to an earlier question: {answer.story}."""
ASKED_IN = ("turn", "fresh")
MOST_POINTS, MOST_OPTIONS = 1001, 100
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_BAD = re.compile(r'[\x00-\x1f"\\]')
_SHORT, _MOST_REMEMBERED = 60, 5_000
_EARLY = 300
"""Characters of a text at whose beginning a refusal is looked for: a text may well say of somebody what they can't."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """Hold one question. `text` and `how` (how to answer it; None: the usual words) by template, "" for all others.

    `about` is the number of the profile that it is about (0: the task as a whole). `form`: the study's own form of an
    answer, to which the prompt adds no words. `direction`: whether the points of the scale run as the study lists them,
    the other way round, drawn trial by trial, or both in turn, as a factor. `options` are empty where the `profiles`
    shown are the alternatives. `is_fresh`: its prompt begins a new conversation, without what was said before.
    `favourable`: which answer to a yes/no question is good for the person that it is about; impact ratios take it.
    """

    name: str
    kind: str
    text: Mapping[str, str]
    how: Mapping[str, str] | None = None
    scale: Scale = field(default_factory=lambda: Scale(1, 7))
    options: tuple[str, ...] = ()
    amount: Amount = field(default_factory=Amount)
    direction: str = FORWARD
    about: int = 0
    form: AnswerForm | None = None
    favourable: str = YES_NO[0]
    is_fresh: bool = False
    memo: dict[Any, AnswerReading] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def base(self) -> str:
        """Return its name in tables, which is the same for all profiles that it is asked about."""
        return self.name.removesuffix(f"_{self.about}") if self.about else self.name

    @property
    def shown_kind(self) -> str:
        """Return the kind as a trial keeps it, which says of a choice whether it is among profiles."""
        return OF_PROFILE if self.kind == "choice" and not self.options else self.kind

    @property
    def links(self) -> frozenset[str]:
        """Return the placeholders of its text that show earlier answers: answer.story, reasoning.story."""
        return frozenset(name for text in self.text.values() for name in find_placeholders(text) if "." in name)

    @property
    def unit(self) -> str:
        """Return the unit of the answers, with the ends of a scale and the favourable answer."""
        if self.kind == "scale":
            return _described(self.scale).replace("one number", "points")
        shares = {"yes_no": f"share of yes ({self.favourable} is favourable)", OF_PROFILE: "share chosen"}
        return shares.get(self.shown_kind) or self.amount.unit or ""

    def asked(self, template: str) -> str:
        return _of(self.text, template)

    def instruction(self, template: str, direction: str, profiles: Sequence[str]) -> str:
        """Return the instruction in the prompt on how to answer the question."""
        own = _of(self.how, template) if self.how is not None else None
        is_told = self.kind == "text" or self.form is not None
        usual = "" if is_told else f"Answer with {self.described(direction, profiles)}."
        return usual if own is None else own.replace("{answers}", self.described(direction, profiles))

    def described(self, direction: str, profiles: Sequence[str]) -> str:
        """Return the description of an answer: "one number from 1 (not at all) to 7 (very)"."""
        if self.kind == "scale":
            return _described(self._scale(direction))
        if self.kind == "number":
            unit = f" in {self.amount.unit}" if self.amount.unit else ""
            low, high = (None if end is None else _digits(end) for end in (self.amount.low, self.amount.high))
            ends = [f" from {low}" if low else "", f" up to {high}" if high else ""]
            return f"one {'whole ' if self.amount.whole else ''}number{unit}{''.join(ends)}"
        if self.kind == "text":
            return "a text"
        options = YES_NO if self.kind == "yes_no" else self.options or profiles
        return f"{', '.join(options[:-1])} or {options[-1]}"

    def marked(self, mark: str | None) -> AskedQuestion:
        """Return the question with the mark before decimals that the answers have, if it says none itself."""
        if mark is None or self.kind not in ("scale", "number") or (self.scale.mark or self.amount.mark):
            return self
        return replace(self, scale=replace(self.scale, mark=mark), amount=replace(self.amount, mark=mark))

    def read(self, answer: str, direction: str, profiles: Sequence[str]) -> AnswerReading:
        """Return the reading of an answer; a point of a scale as the study lists it, whichever way it was shown; of
        profiles the number of the one that was chosen.
        """
        if len(answer) > _SHORT:
            return self._read(answer, direction, profiles)
        key = (answer, direction, *profiles)  # short answers come again
        if key not in self.memo:
            if len(self.memo) >= _MOST_REMEMBERED:
                self.memo.clear()
            self.memo[key] = self._read(answer, direction, profiles)
        return self.memo[key]

    def _read(self, answer: str, direction: str, profiles: Sequence[str]) -> AnswerReading:
        if self.kind == "scale":
            reading = read_scale(answer, self._scale(direction), self.name)
            if reading.value is None or direction != REVERSED:
                return reading
            return AnswerReading("answered", str(self.scale.low + self.scale.high - int(reading.value)))
        if self.kind == "number":
            return read_number(answer, self.amount, self.name)
        if self.kind == "text":
            return _read_text(answer)
        if self.kind == "yes_no":
            return read_choice(answer, YES_NO, self.name, question=self.text.get("", ""))
        if self.options:
            return read_choice(answer, self.options, self.name)
        reading = read_choice(answer, profiles, self.name, numbered=True)
        if reading.value is None:
            return reading
        return AnswerReading("answered", str(profiles.index(reading.value) + 1))

    @property
    def sample(self) -> str:
        """Return an answer to the question, for patterns to be tried on."""
        usual = {"scale": str(self.scale.high), "yes_no": YES_NO[0], "text": "words"}
        return usual.get(self.kind) or str(*self.options[:1] or ("1",))

    def _scale(self, direction: str) -> Scale:
        return self.scale.reversed() if direction == REVERSED else self.scale


def _digits(number: float) -> str:
    """Return a number with all its digits: 1,234,567 and not 1.23457e+06."""
    return f"{int(number):,}" if float(number).is_integer() else f"{number:,}"


def _of(texts: Mapping[str, str], template: str) -> str:
    return texts.get(template, texts.get("", ""))


def _described(scale: Scale) -> str:
    labels = scale.labels
    ends = {scale.low, scale.high}
    if labels and set(labels) <= ends:
        shown = {point: f"{point} ({labels[point]})" if point in labels else str(point) for point in ends}
        return f"one number from {shown[scale.low]} to {shown[scale.high]}"
    listed = ", ".join(f"{point} = {labels[point]}" for point in sorted(labels))
    return f"one number from {scale.low} to {scale.high}{f': {listed}' if listed else ''}"


def _read_text(answer: str) -> AnswerReading:
    said = spoken(answer).strip()
    if not said:
        return AnswerReading("malformed", detail="empty")
    early = folded_lines(said[:_EARLY])
    if len(said) <= _EARLY and declines(early):
        return AnswerReading("refused", detail=refusal_detail(early))
    return AnswerReading("answered", said[:LONGEST_READ])


def parse_questions(
    table: Table, templates: Sequence[str], n_profiles: int, folder: StudyFolder, names: Sequence[str]
) -> dict[str, AskedQuestion]:
    """Read [questions.NAME], whose texts may show what has these `names`; StudyError if one breaks the rules."""
    questions: dict[str, AskedQuestion] = {}
    mark = _mark(table)
    for name, row in table.tables("questions").items():
        if not _NAME.fullmatch(name):
            raise StudyError(
                f'A question of {table.where} can\'t be called "{shortened(name)}".',
                "A name has small letters, digits and underscores, and starts with a letter; 40 characters at most.",
            )
        files = (folder, (*names, OF_PROFILE, *_links(table.mapping("questions"), n_profiles)))
        question = _question(name, row, templates, n_profiles, files).marked(mark)
        numbers = range(1, n_profiles + 1) if question.about else ()
        each = {f"{name}_{number}": replace(question, name=f"{name}_{number}", about=number) for number in numbers}
        if twice := set(each or {name: question}) & set(questions):
            raise StudyError(f'Two questions of {table.where} are called "{min(twice)}".')
        questions |= each or {name: question}
    if not questions:
        table.refuse_misspelled("questions")
        raise StudyError(
            f"{table.where} needs at least one question.",
            'As in: [questions.rating] text = "How suitable is this person?" kind = "scale" min = 1 max = 7',
        )
    return questions


def has_turns(questions: Iterable[AskedQuestion]) -> bool:
    """Return whether some question can only be asked after another one."""
    return any(question.is_fresh or question.links for question in questions)


def _links(names: Iterable[str], n_profiles: int) -> list[str]:
    numbered = [each for name in names for each in (name, *(f"{name}_{n}" for n in range(1, n_profiles + 1)))]
    return [f"{what}.{name}" for what in (ANSWER, REASONING) for name in numbered]


def parse_forms(
    table: Table, questions: Mapping[str, AskedQuestion], factors: Mapping[str, Factor]
) -> tuple[dict[str, AskedQuestion], str, dict[str, AnswerForm]]:
    """Read [answer]: the form of all questions that have none themselves, or a form for each level of a factor. Return
    the questions, the name of that factor and its forms; StudyError if it breaks the rules.
    """
    if not table.has("answer"):
        return dict(questions), "", {}
    row = table.table("answer")
    samples = {name: question.sample for name, question in questions.items() if question.form is None}
    forms: dict[str, AnswerForm] = {}
    if factor := row.text("factor", ""):
        check_known(f"factor in {row.where}", factor, factors)
        forms = {level: parse_form(own, samples) for level, own in row.tables("forms").items()}
        row.finish()
        for level in dict.fromkeys((*factors[factor].by_name, *forms)):
            if level not in forms or level not in factors[factor].by_name:
                raise StudyError(
                    f'[answer.forms] has a table for each level of "{factor}", but "{level}" is in one only.'
                )
    form = next(iter(forms.values())) if forms else parse_form(row, samples)
    return {name: one if one.form else replace(one, form=form) for name, one in questions.items()}, factor, forms


def _question(
    name: str, row: Table, templates: Sequence[str], n_profiles: int, files: tuple[StudyFolder, Sequence[str]]
) -> AskedQuestion:
    kind = row.choice("kind", KINDS)
    of_answer = row.optional("answer", (str, dict), "a text, a table of texts by template, or a table with a form")
    own_form = isinstance(of_answer, dict) and "form" in of_answer
    question = AskedQuestion(
        name,
        kind,
        texts_by_template(row, "text", templates, "", files),
        None if of_answer is None or own_form else texts_by_template(row, "answer", templates),
        _scale(row) if kind == "scale" else Scale(1, 7),
        _options(row, n_profiles) if kind == "choice" else (),
        _amount(row) if kind == "number" else Amount(),
        row.choice("direction", DIRECTIONS) if kind == "scale" else FORWARD,
        about=_about(row, kind, n_profiles),
        favourable=row.choice("favourable", YES_NO) if kind == "yes_no" else YES_NO[0],
        is_fresh=row.choice("ask", ASKED_IN) == "fresh",
    )
    if own_form:
        question = replace(question, form=parse_form(row.table("answer"), {name: question.sample}))
    row.finish()
    labels = question.scale.labels
    if question.direction != FORWARD and not {question.scale.low, question.scale.high} <= set(labels):
        raise StudyError(
            f"The scale of {row.where} can't run the other way without labels for both of its ends.",
            f'As in: labels = {{ {question.scale.low} = "not at all", {question.scale.high} = "very" }}',
        )
    return question


def texts_by_template(
    row: Table,
    key: str,
    templates: Sequence[str],
    default: str | None = None,
    files: tuple[StudyFolder, Sequence[str]] | None = None,
) -> dict[str, str]:
    """Return a text, or one by template; "" is for all templates that are not named. `files`: where a text may be a
    file, its folder and the placeholders that it may have."""
    value = row.optional(key, (str, dict), "a text, or a table of texts by template")
    if files is not None and is_file(value, templates):
        return {"": literal_text(files[0].text(value["file"]), files[1])}
    if value is None and default is None:
        return {"": row.text(key)}
    if not isinstance(value, dict):
        return {"": str(default if value is None else value)}
    for template, text in value.items():
        check_known(f'template (of "{key}") in {row.where}', template, templates)
        if not isinstance(text, str):
            raise StudyError(f'"{key}" in {row.where} must have a text for "{template}".')
    if lacking := [template for template in templates if template not in value]:
        raise StudyError(f'"{key}" in {row.where} has no text for the template "{lacking[0]}".')
    return dict(value)


def _scale(row: Table) -> Scale:
    labels: Any = row.optional("labels", (list, dict), "a list of texts, or a table of texts by number")
    if isinstance(labels, list):
        low = row.integer("min", 1)
        high = row.integer("max", low + len(labels) - 1)
        named = dict(enumerate(labels, low))
        if len(labels) != high - low + 1:
            raise StudyError(
                f"{row.where} has {len(labels)} labels for a scale from {low} to {high}.",
                f'Give one for each point, or some by number: labels = {{ {low} = "not at all", {high} = "very" }}',
            )
    else:
        named = {_point(key, row.where): text for key, text in (labels or {}).items()}
        low, high = _ends(row, named)
    if not -MOST_POINTS <= low < high <= low + MOST_POINTS - 1:
        raise StudyError(
            f"The scale of {row.where} goes from {low} to {high}.",
            f'"min" must be below "max", and there can be {MOST_POINTS:,} points at most.',
        )
    for point, text in named.items():
        if not low <= point <= high:
            raise StudyError(f"{row.where} has a label for {point}, which is no point from {low} to {high}.")
        if not isinstance(text, str) or not folded(text):
            raise StudyError(f"The label of {point} in {row.where} must be a text.")
    if len(set(map(folded, named.values()))) < len(named):
        raise StudyError(f"Two labels of {row.where} are the same: an answer could not tell them apart.")
    return Scale(low, high, dict(sorted(named.items())), _mark(row))


def _ends(row: Table, named: Mapping[int, Any]) -> tuple[int, int]:
    """Return the ends of a scale: `min` and `max`, else those that have labels."""
    if not named or (row.has("min") and row.has("max")):
        return row.integer("min", 1), row.integer("max", 7)
    said = [row.integer(end, 0) for end in ("min", "max") if row.has(end)]
    others = [point for point in named if point not in said] or [1, 7]
    low, high = row.integer("min", min(others)), row.integer("max", max(others))
    is_open = not (row.has("min") or row.has("max"))
    is_inner = (low > 1 and not row.has("min")) or (is_open and len(named) == 1)
    if is_inner or folded(str(named.get(low, ""))) in MIDDLE or folded(str(named.get(high, ""))) in MIDDLE:
        raise StudyError(
            f"The scale of {row.where} has labels for {', '.join(map(str, sorted(named)))}, which may not be its ends.",
            "Labelled ends are the ends of a scale; where others have labels, say both: min = 1, max = 7",
        )
    return low, high


def _mark(table: Table) -> str | None:
    """Return the mark before decimals ("." or ","); None if the table says none."""
    return table.choice("decimal", MARKS) if table.has("decimal") else None


def _point(key: str, where: str) -> int:
    if not key.removeprefix("-").isdecimal() or len(key) > 9:
        raise StudyError(f'The labels of {where} go by the points of the scale, and "{shortened(key)}" is none.')
    return int(key)


def _options(row: Table, n_profiles: int) -> tuple[str, ...]:
    if row.has("options") and row.optional("options", (str, list), "a list of texts, or profiles") == OF_PROFILES:
        if n_profiles < 2:
            raise StudyError(
                f"{row.where} asks for a choice among profiles, but only one is shown.",
                "Show two side by side: [profiles] count = 2",
            )
        return ()
    if not row.has("options") and n_profiles > 1:
        return ()
    options = row.texts("options")
    if not 2 <= len(options) <= MOST_OPTIONS or len(set(map(folded, options))) < len(options):
        raise StudyError(f"The options of {row.where} must be 2 to {MOST_OPTIONS} different texts.")
    if any(_BAD.search(option) or not folded(option) for option in options):
        raise StudyError(f"An option of {row.where} is empty, or has quotes, backslashes or line breaks.")
    return options


def _about(row: Table, kind: str, n_profiles: int) -> int:
    """Return 1 for a question that is asked about each profile by itself, else 0."""
    if not row.flag("each_profile", default=False):
        return 0
    if kind == "choice" or n_profiles < 2:
        raise StudyError(f"{row.where} can't be asked about each profile: it is a choice, or only one is shown.")
    return 1


def _amount(row: Table) -> Amount:
    low, high = (row.optional(key, (int, float), "a number") for key in ("min", "max"))
    if low is not None and high is not None and not low < high:
        raise StudyError(f'"min" in {row.where} must be below "max".')
    return Amount(row.text("unit", ""), low, high, row.flag("whole", default=False), _mark(row))
