"""The factorial design: vignettes whose factors change from prompt to prompt, with any kinds of questions about them.

A trial is task × template × persona × question (or all questions in one answer). Its test is the question, its
condition the template, its group the persona, its item the cell; what was shown is among its factors (`tasks.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from slant.collector.designs.analyses import Analyses, AskedField, ReportPart, Vocabulary
from slant.collector.designs.asks import Asks, Question
from slant.collector.designs.design import Design, Imports, Reads, ended_early
from slant.collector.designs.factorial.chains import earlier_texts, not_reached, with_measures, with_typed
from slant.collector.designs.factorial.estimands import check_arguments, estimand_fits, with_declaration
from slant.collector.designs.factorial.parts import FactorialData, parse_parts
from slant.collector.designs.factorial.people import (
    DECIMAL,
    ShownProfiles,
    checked_shown,
    fields_of,
    placer_of,
    row_columns,
    without_persona,
)
from slant.collector.designs.factorial.proposed import proposed_study
from slant.collector.designs.factorial.questions import FORWARD, REASONING, REVERSED, AskedQuestion
from slant.collector.designs.factorial.remarks import check_data, remarks_on
from slant.collector.designs.factorial.simulated import FactorialSimulates, attributes_of, parse_simulation
from slant.collector.designs.factorial.tasks import (
    SENT_LEVELS,
    TOGETHER,
    Conversations,
    Tasks,
    as_sent,
    conditions_of,
    of_turn,
    units_of,
)
from slant.collector.designs.factorial.texts import schema_of, system_text, user_text, words_for_models
from slant.collector.designs.people import PeopleUnits, RowPlacer
from slant.collector.designs.plan import Plan, ShuffledQuestions
from slant.collector.designs.wordings import spoken_words
from slant.collector.reading.forms import JSON_BY_NAME, Found, UnreadForm
from slant.collector.reading.plain import AnswerReading, plain_lines, spoken, without_value
from slant.collector.records import Conversation, Prompt, Reading, Reply, Trial, Turn
from slant.collector.stable_ids import stable_id
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import Condition, StudyFile, StudyModel, TestInfo, numbered
from slant.collector.study.toml_table import Table

MOST_CONTENTS = 50_000
"""Prompts of a study that an edit compares by their text; in a larger one it asks all of a template again."""
DIRECTIONS_SHOWN = (FORWARD, REVERSED)


REPORT_PARTS = (
    ReportPart(
        "missing_by_level",
        "answers that are missing, by level",
        ("factorial_refusals",),
        (
            "If answers are missing more often at one level than at another, the remaining answers are a biased "
            "selection.",
        ),
    ),
    ReportPart(
        "balance",
        "what was shown",
        ("factorial_balance",),
        ("Levels were assigned at random, so small imbalances are expected; they are reported, not corrected.",),
    ),
    ReportPart(
        "by_level",
        "answers by level",
        ("factorial_marginal_means", "factorial_answers_by_level"),
        (
            "Means averaged over all other factors, without intervals; for intervals, which must allow for clustering, "
            "see the fits.",
        ),
    ),
    ReportPart("consistency", "choices shown twice", ("choice_consistency",)),
    ReportPart("scale_scores", "scores of scales", ("factorial_scale_scores",)),
)


class FactorialAnalyses(Analyses):
    vocabulary = Vocabulary(test="question", measured="the rating, option, number or text that was asked for")
    report_parts = REPORT_PARTS
    figures: Mapping[str, str] = {
        "marginal_means": "factorial_levels",
        "amce": "amce",
        "impact_ratios": "impact_ratio",
        "interactions": "amie",
        "paired_differences": "paired",
        "ratings": "factorial_answers_by_level",
    }
    checked_view = "factorial_trials"
    profiles_view = "factorial_profiles"
    compared = ("factorial_profiles", "measured")
    compared_items = ("item", "template", "position")
    checks: Mapping[str, Mapping[str, Any]] = {
        "balance": {}, "missing_levels": {}, "position_effects": {}, "scale_use": {}, "acquiescence": {},
        "proportional_odds": {}, "level_contrasts": {}, "nothing_in_levels": {},
    }  # fmt: skip
    fits = staticmethod(estimand_fits)
    own_fit = staticmethod(with_declaration)
    check_arguments = staticmethod(check_arguments)

    def conditions(self, data: FactorialData) -> tuple[Condition, ...]:
        return numbered(conditions_of(data))

    def own_words(self, data: FactorialData) -> set[str]:
        return spoken_words([*data.templates.values(), *(q.asked(t) for q in data.questions.values() for t in q.text)])

    def attributes(self, data: FactorialData) -> dict[str, tuple[str, ...]]:
        shown = {name: factor.levels_of(name) for name, factor in attributes_of(data).items()}
        personas = tuple(level.name for level in data.personas.levels)
        of_columns = {"template": tuple(data.templates), "persona": personas, "direction": DIRECTIONS_SHOWN}
        return shown | of_columns

    def measured_in(self, study: StudyFile, test: str | None) -> str:
        data: FactorialData = study.data
        of_questions = (one.unit for one in data.questions.values() if test in (one.name, one.base))
        return data.measures[test].unit if test is not None and test in data.measures else next(of_questions, "")

    def factor_levels(self, study: StudyFile) -> dict[str, tuple[Any, ...]]:
        data: FactorialData = study.data
        questions = tuple(dict.fromkeys((*(question.base for question in data.questions.values()), *data.measures)))
        own = {"test": questions, "question": questions, "condition": tuple(conditions_of(data))}
        shown = self.attributes(data)  # what a name signals comes before the names
        order = (name for factor in data.factors for name in sorted(factor.names, key=factor.name.__eq__))
        return super().factor_levels(study) | own | {name: shown[name] for name in order} | shown

    def plain_personas(self, data: FactorialData) -> tuple[str, ...]:
        return tuple(level.name for level in data.personas.levels if not any(level.texts.values()))

    def facts(self, trial: Mapping[str, Any]) -> dict[str, str]:
        """Return the profiles as they were shown, one a line, then what was read."""
        factors = trial["factors"]
        names, levels = factors.get("names") or [], factors.get("levels") or []
        facts = {"template": str(factors.get("template", "")), "persona": str(factors.get("persona") or "")}
        n = int(factors.get("n_profiles") or 1)
        for place in range(n):
            shown = zip(names, levels[place * len(names) : (place + 1) * len(names)], strict=False)
            facts |= {f"{name} {place + 1}" if n > 1 else str(name): str(level) for name, level in shown}
        values = factors.get("values") or []
        facts |= {str(name): str(v) for name, v in zip(factors.get("questions") or [], values, strict=False) if v}
        if sent := factors.get(SENT_LEVELS):
            facts["sent instead"] = ", ".join(map(str, sent))
        if "reversed" in (factors.get("directions") or []):
            facts["direction"] = "reversed"
        return {name: text for name, text in facts.items() if text}


class FactorialImports(Imports):
    proposed_from_table = staticmethod(proposed_study)
    row_columns = staticmethod(row_columns)

    def imported_people(self, study: StudyFile, model: StudyModel) -> PeopleUnits | None:
        """Return the reader that turns profiles into answers; None for vignettes and items that are all in the plan."""
        data: FactorialData = study.data
        return None if data.takes == "all" else ShownProfiles(FactorialAsks(), study, model, partial(_of_many, study))

    def row_placer(self, study: StudyFile) -> RowPlacer | None:
        return placer_of(study.data)

    def as_imported(self, planned: Trial, trial: Trial, draft: Mapping[str, Any]) -> Trial:
        """Return a row that says what was shown (its factors) with just that; elsewhere it is what the plan shows. The
        mark before decimals of the file's answers is kept, for answers are read by it."""
        shown = trial.factors
        if shown is not planned.factors:
            shown = checked_shown(shown, planned.factors)
        if mark := draft.get(DECIMAL):
            shown = {**shown, DECIMAL: mark}
        return trial if shown is trial.factors else replace(trial, factors=shown)


class FactorialReads(Reads):
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        reading = self._read(study, trial, reply)
        left = not_reached(study.data, trial, reply, reading)
        return with_measures(study.data, trial.factors, ended_early(reading, left) if left else reading)

    def _read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        if reply.outcome is not None and reply.outcome != "answered":
            return Reading(reply.outcome)
        readings = self._readings(study.data, trial, reply.answer or "")
        values = [reading.value or "" for reading in readings]
        outcomes = [reading.outcome for reading in readings]
        read = {"values": values, "outcomes": outcomes}
        if "answered" in outcomes:
            unread = zip(trial.factors["questions"], readings, strict=True)
            detail = "; ".join(f"{name}: {reading.detail}" for name, reading in unread if reading.detail)
            return Reading("answered", values[0] if len(values) == 1 else None, detail or None, factors=read)
        detail = next((reading.detail for reading in readings if reading.detail), None) or ""
        return Reading("refused" if "refused" in outcomes else "malformed", detail=detail or None, factors=read)

    def decides_next(self, study: StudyFile, trial: Trial) -> bool:
        return study.data.is_chain and super().decides_next(study, trial)

    def with_measures(self, study: StudyFile, functions: Mapping[str, Any], of: str | None) -> FactorialData:
        return with_typed(study.data, functions, of)

    def measured(self, study: StudyFile, shown: Mapping[str, Any], outcome: Any) -> Mapping[str, Any]:
        return {**shown, **with_measures(study.data, shown, Reading(outcome, factors=shown)).factors}

    def _readings(self, data: FactorialData, trial: Trial, answer: str) -> list[AnswerReading]:
        shown = trial.factors
        labels = data.profiles.labels(shown["template"])
        questions = [data.questions[name].marked(shown.get(DECIMAL)) for name in shown["questions"]]
        form = data.form_of(questions[0].name, shown) or (JSON_BY_NAME if len(questions) > 1 else None)
        if form is None:
            return [questions[0].read(answer, shown["directions"][0], labels)]
        names = [question.name for question in questions]
        try:
            found = form.texts(spoken(answer), names, [question.kind == "text" for question in questions])
        except UnreadForm as unread:
            detail = str(unread)
            lines = plain_lines(answer[:_LONGEST_REFUSAL])
            reading = without_value(lines, detail) if unread.is_absent else AnswerReading("malformed", detail=detail)
            return [reading] * len(questions)
        asked = zip(questions, shown["directions"], found, strict=True)
        return [_read_found(question, direction, labels, texts) for question, direction, texts in asked]

    def asked_fields(self, study: StudyFile, trial: Trial) -> tuple[AskedField, ...]:
        return fields_of(study.data, as_sent(trial.factors))

    def words_for_models(self, study: StudyFile, trial: Trial) -> str:
        has_options = bool(self.asked_fields(study, trial)[0].options)
        return words_for_models(study.data, as_sent(trial.factors), has_options=has_options)

    def of_people(self, study: StudyFile, trial: Trial) -> Trial:
        return without_persona(study.data, trial)

    def schema_of(self, study: StudyFile) -> Mapping[str, Any] | None:
        """Return the schema of an answer to all questions; None if each is answered in its own words."""
        data: FactorialData = study.data
        has_own_form = any(question.form for question in data.questions.values())
        return schema_of(data.questions.values()) if data.asked == "together" and not has_own_form else None


class FactorialAsks(Asks):
    dealt_words = "levels dealt to prompts at random"
    conversation = "conversation"

    def has_turns(self, study: StudyFile) -> bool:
        return bool(study.data.asked == "in_turns")

    def dealt(self, data: FactorialData, seed: int) -> FactorialData:
        return replace(data, dealt_by=seed)

    def questions(self, study: StudyFile, model: StudyModel) -> Sequence[Question]:
        return Tasks(study.data, study.seed)

    def plan(self, study: StudyFile, model: StudyModel, seed: int) -> Plan[Any]:
        tasks = ShuffledQuestions(self, study, model, seed)
        return Conversations(tasks, len(study.data.questions)) if self.has_turns(study) else tasks

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        return user_text(study.data, as_sent(trial.factors), None if (trial.round or 1) == 1 else {})

    def contents(self, study: StudyFile) -> Iterator[str]:
        tasks = Tasks(study.data, study.seed)
        if not _is_large(study.data):
            return (_content(study, task.factors) for task in tasks)
        return (_of_many(study, unit.test, name) for unit in units_of(study.data) for name in study.data.templates)

    def content(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        if not _is_large(study.data):
            return _content(study, trial.factors)
        return _of_many(study, trial.test, trial.factors["template"])

    def _prompt(self, study: StudyFile, model: StudyModel, trial: Trial) -> Prompt:
        return _opening(study.data, trial, self.text(study, model, trial))

    def is_fresh(self, study: StudyFile, trial: Trial) -> bool:
        return bool(study.data.is_fresh(trial.factors))

    def needs_reasoning(self, study: StudyFile) -> bool:
        questions = study.data.questions.values()
        return any(link.startswith(f"{REASONING}.") for one in questions for link in one.links)

    def next(
        self, study: StudyFile, model: StudyModel, conversation: Conversation, history: Sequence[Turn]
    ) -> tuple[Trial, Prompt] | None:
        """Return the next turn: its question with the earlier answers that it shows."""
        step = super().next(study, model, conversation, history)
        if step is None or not history:
            return step
        data, trial = study.data, step[0]
        text = user_text(data, as_sent(trial.factors), earlier_texts(data, conversation.trials, history))
        if self.is_fresh(study, trial):
            return trial, _opening(data, trial, text)
        return trial, Prompt((*step[1].new[:-1], {"role": "user", "content": text}), step[1].before)


class Factorial(Design):
    name = "factorial"
    asks = FactorialAsks()
    simulates = FactorialSimulates()
    reads = FactorialReads()
    imports = FactorialImports()
    analyses = FactorialAnalyses()
    starts = ("vignette", "conjoint", "questionnaire", "personas")

    def parse(self, table: Table, folder: StudyFolder) -> FactorialData:
        data = parse_parts(table, folder)
        check_data(data, table.where)
        return replace(data, simulation=parse_simulation(table, data))

    def tests(self, data: FactorialData) -> tuple[TestInfo, ...]:
        per_direction = data.n_tasks * len(data.templates) * len(data.personas.levels)
        planned = {unit.test: per_direction * len(unit.directions) for unit in units_of(data)}
        if data.asked == "in_turns":
            planned = dict.fromkeys(data.questions, next(iter(planned.values())))
        names = ("",) if not data.has_personas else tuple(level.name for level in data.personas.levels)
        labels = {TOGETHER: "all questions"}
        return tuple(
            TestInfo(test, number, labels.get(test, test.replace("_", " ")), n, names)
            for number, (test, n) in enumerate(planned.items(), 1)
        )

    def remarks(self, study: StudyFile) -> list[str]:
        return remarks_on(study, self)


DESIGN = Factorial()
_LONGEST_REFUSAL = 2_000


def _opening(data: FactorialData, trial: Trial, text: str) -> Prompt:
    """Return the prompt with which a conversation begins."""
    system = system_text(data, as_sent(trial.factors))
    messages = [{"role": "system", "content": system}] if system else []
    return Prompt((*messages, {"role": "user", "content": text}))


def _read_found(question: AskedQuestion, direction: str, labels: tuple[str, ...], found: Found) -> AnswerReading:
    """Return the reading of what a form found for a question: texts that are read differently are no answer."""
    if isinstance(found, UnreadForm):
        return AnswerReading("malformed", detail=str(found))
    readings = [question.read(text, direction, labels) for text in found]
    same = len({reading.value for reading in readings}) == 1
    return readings[0] if same else AnswerReading("malformed", detail="several_values")


def _is_large(data: FactorialData) -> bool:
    """Return True if a study asks too much to compare its prompts one by one, or deals them: then one that is edited
    deals all of them again."""
    n = data.n_tasks * len(data.templates) * len(data.personas.levels) * len(data.questions)
    return data.dealt_by is not None or n > MOST_CONTENTS


def _content(study: StudyFile, shown: Mapping[str, Any]) -> str:
    data: FactorialData = study.data
    fresh = [question.name for question in data.questions.values() if question.is_fresh]
    turns = range(1, len(data.questions) + 1) if data.asked == "in_turns" else ()
    later = (user_text(data, of_turn(shown, turn), {}) for turn in turns[1:])
    text = (system_text(data, shown), user_text(data, of_turn(shown, 1) if turns else shown), *later)
    return stable_id(study.asked_as, *text, *fresh, data.asked, study.temperature)[:12]


def _of_many(study: StudyFile, test: str, template: str) -> str:
    """Describe all prompts of one question and template, in a study that has too many to tell them apart."""
    data: FactorialData = study.data

    def described() -> str:
        shown = (data.factors, data.cells.lists, data.takes, data.n, data.templates[template], data.questions)
        parts = (*shown, data.asked, data.profiles, data.personas, data.persona_place, data.together, data.forms)
        return stable_id(study.asked_as, test, template, repr(parts), study.seed, study.temperature)[:12]

    key = (study.asked_as, test, template, study.seed, study.temperature)
    return data.remembered(key, described)  # type: ignore[no-any-return]
