"""Propose a factorial study for answers whose rows have a column for each factor: an audit, a survey, a conjoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from slant.collector.designs.factorial.factors import RESERVED
from slant.collector.designs.factorial.proposed_conjoint import (
    ANSWERS,
    Tasks,
    answers_in,
    crossing_of,
    kind_of,
    proposed_question,
    tasks_of,
    tasks_of_models,
)
from slant.collector.designs.proposed_study import AnswerTable, ProposedStudy, ids_of, name_of, toml_text
from slant.collector.errors import StudyError
from slant.collector.reading.plain import BrokenObject, as_answer, object_in, value_of
from slant.collector.reading.written_numbers import decimal_mark
from slant.collector.system.files import csv_text
from slant.collector.system.patterns import lazy_pattern

_QUESTIONS = "question question_id question_name measure outcome_name dv test"
_REPETITIONS = (
    "repetition rep repeat iteration iter run run_id replicate draw epoch seed trial trial_no n row index "
    "sample wiederholung durchgang versuch essai repetition_no ensayo intento prova herhaling"
)
_TEMPLATES = "wording wording_id template template_id prompt_id prompt_version"
_NEVER = (
    "tokens", "output_tokens", "input_tokens", "reasoning_tokens", "prompt_tokens", "completion_tokens", "prompt",
    "cost", "temperature", "latency", "latency_s", "rt", "response_time_ms", "duration", "finish_reason", "source",
    "custom_id", "trial_type", "trial_index", "plugin_version", "time_elapsed", "internal_node_id", "rt_key_duration",
    "choices", "correct", "correct_response", "is_error",
)  # fmt: skip
_MOST_CELLS = 100_000
_RATED = lazy_pattern(r"(?:^|_)(?:rating|score|judge?ment|grade|human|gold|truth|label|correct|accuracy)s?(?:_|$)")
_OF_ROWS = lazy_pattern(
    r"(?:output|row|run|trial|response|request|call|answer|batch|seq|serial|index|idx|line|log|record|obs|no|nr|number)(?:_|$)"
)
"""Match names of counters of rows; those of items (item_id) are levels, if they are few."""
_MOST_COUNTED = 30
_LONGEST_READ = 200
_MOST_QUESTIONS = 30
_ONE_BY_ONE = (
    "profiles side by side that a model chose among come in one by one: the mean of 0 and 1 is the share that was "
    "chosen, and which profiles were shown together is not kept"
)


@dataclass
class _Found:
    """Hold what the columns are: factors with what they say of their levels, answers, and the rest by our names."""

    answers: list[str]
    factors: dict[str, list[str]] = field(default_factory=dict)
    mapping: list[str] = field(default_factory=list)
    question: str | None = None
    template: str | None = None
    tasks: Tasks = field(default_factory=Tasks)
    remarks: list[str] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)


def proposed_study(table: AnswerTable) -> ProposedStudy:
    """Propose factors and questions from columns. A column of a few levels is a factor, with what it says of another
    one's levels; each column of answers is a question of the kind that its values have."""
    found = _found(table)
    named = {
        column: name_of(column, RESERVED) for columns in found.factors.items() for column in (columns[0], *columns[1])
    }
    if len(set(named.values())) < len(named):
        raise StudyError(f"two of its columns would be factors of one name ({', '.join(named)})")
    n_cells = prod(len(table.levels(factor)) for factor in found.factors)
    is_all = found.tasks.n_profiles == 1
    if is_all and n_cells > _MOST_CELLS:
        raise StudyError(f"its {len(found.factors)} factors have {n_cells:,} combinations, more than {_MOST_CELLS:,}")
    templates = {"plain": "plain"}
    if found.template is not None:
        templates = ids_of(table.levels(found.template), "wording")
        if all(name.isdigit() for name in templates.values()):
            templates = {said: f"wording_{name}" for said, name in templates.items()}
            found.mapping.append(f"wording={table.from_one(found.template)}")
        else:
            found.mapping.append(f"condition={found.template}")
    files, lines = _factors(table, found, named)
    questions = _questions(table, found)
    lines += crossing_of(table, found.factors, found.tasks.n_profiles, named)
    if len(questions) > max(1, len(found.answers)) and found.question is None:  # several in one answer
        lines += ["", "[crossing]", 'questions = "together"']
    shown = "{profiles}" if not is_all else "; ".join(f"{{{named[factor]}}}" for factor in found.factors)
    lines += ["", "# These texts are not in the files: write them here before you ask any model.", "[templates]"]
    lines += [f'{name} = "These answers were collected elsewhere. {shown}"' for name in templates.values()]
    remarks, has_numbers = [f"factors: {_listed(table, found)}", *found.remarks], False
    mark = _mark(table, found)
    chosen = {name_of(column) for column in found.tasks.chosen} if not is_all else set()
    for name, values in questions.items():
        question = proposed_question(name, values, mark=mark, is_one=is_all, is_choice=name in chosen)
        lines += ["", f"[questions.{name}]", *question.lines]
        remarks.append(f"{name}: {question.said}")
        has_numbers = has_numbers or question.kind not in ("text", "choice")
    mapping = [*found.mapping, *(f"{name}={column}" for column, name in named.items() if name != column)]
    layout = "people" if table.person else "tidy"
    # words have no mean: of each choice the table has its share
    fit = "marginal_means" if has_numbers else ""
    shares = "factorial_answers_by_level" if not has_numbers and 'kind = "choice"' in lines else ""
    texts = {**files, "study.toml": "\n".join(lines) + "\n"}
    return ProposedStudy(texts, tuple(remarks), fit, tuple(mapping), layout, table=shares, why=found.why)


def _mark(table: AnswerTable, found: _Found) -> str | None:
    """Return the mark before decimals of the answers: said, that of real numbers, or what some of them show."""
    if table.decimal is not None:
        return table.decimal
    if all(name in table.exact for name in found.answers):
        return "."
    return decimal_mark(value for name in found.answers for value in table.columns[name] if len(value) <= _LONGEST_READ)


def _found(table: AnswerTable) -> _Found:
    taken = {table.person, table.model}
    mapping = [f"participant={table.person}"] if table.person not in (None, "participant") else []
    mapping += [f"model={table.model}"] if table.model not in (None, "model") else []
    tasks = tasks_of(table)
    n_profiles = tasks.n_profiles
    if n_profiles > 1:
        taken |= {tasks.task, tasks.place}
        mapping += tasks.mapping(table)
    of_models = tasks_of_models(table) if "repetition" not in table.columns else Tasks()
    is_together = max(n_profiles, of_models.n_profiles) > 1
    taken |= {of_models.task, of_models.place} - {table.model}
    repeated = next((n for n in _REPETITIONS.split() if n in table.columns and n not in taken), None)
    repeated = repeated or _numbered_last(table)
    taken |= {name for name in table.columns if repeated and table.columns[name] == table.columns[repeated]}
    if repeated is not None and not is_together and _counts(table, repeated, 1) and repeated != "repetition":
        mapping.append(f"repetition={repeated}")
    elif repeated is not None and not is_together and _counts(table, repeated, 0):
        mapping.append(f"repetition={repeated}+1")
    question = table.named(_QUESTIONS)
    n_asked = len(table.levels(question)) if question else 0
    question = question if 1 < n_asked <= _MOST_QUESTIONS and n_asked * 2 <= table.n_rows else None
    template = table.named(_TEMPLATES) if n_profiles == 1 else None
    template = template if template and table.can_be_factor(template) else None
    taken |= {question, template}
    taken |= {"id"} if "custom_id" in table.columns else set()  # the service's own name of what was asked
    free = [name for name in table.columns if name not in taken and name not in _NEVER]
    answers = answers_in(table, free)
    answers += [name for name in tasks.chosen if name not in answers and not table.answers]
    if not answers:
        raise StudyError("it has ratings, choices or numbers as answers, and no column was found that holds them")
    columns = [name for name in free if name not in answers and (name in table.forced or table.can_be_factor(name))]
    columns = [
        n
        for n in columns
        if n in table.forced
        or not (_names_others(table, n, columns) or _counts_rows(table, n) or _is_rated(table, n, columns))
    ]
    if not columns:
        raise StudyError("it has a column for each factor, of a few levels that come again, and none was found")
    found = _Found(answers, {}, mapping, question, template, tasks)
    found.remarks += [_ONE_BY_ONE] if of_models.n_profiles > 1 else []
    placed = {"task": tasks.task or of_models.task, "place": tasks.place or of_models.place, "repetition": repeated}
    found.why = _reasons(table, found, free, columns, placed)
    for name in sorted(columns, key=lambda n: (-len(table.levels(n)), n not in table.forced, bool(table.numbers(n)))):
        of = next((f for f in found.factors if table.says(f, name) or table.is_another_of(f, name)), None)
        if of is not None:
            found.factors[of].append(name)
        elif not any(table.says(name, factor) for factor in found.factors):
            found.factors[name] = []
    found.factors = {name: found.factors[name] for name in table.columns if name in found.factors}
    if n_profiles > 1:
        found.mapping += [f"{name_of(name)}={name}" for name in answers]  # "choice" is another name of answer elsewhere
    elif question is not None or len(answers) == 1:
        found.mapping += [f"answer={answers[0]}"] if answers[0] != "answer" else []
    else:
        found.mapping.append(f"test:answer={':'.join(answers)}")
    found.mapping += [f"test={question}"] if question not in (None, "test") else []
    return found


def _counts_rows(table: AnswerTable, name: str) -> bool:
    """Return True for numbers that count rows, by their name; of few that come again (item_id) the rows say more."""
    numbers = table.numbers(name)
    is_of_rows = len(numbers or ()) > _MOST_COUNTED or _OF_ROWS.match(name) is not None
    return numbers is not None and table.is_counter(name) and is_of_rows


def _is_rated(table: AnswerTable, name: str, columns: Sequence[str]) -> bool:
    """Return True for numbers that somebody else gave (human_rating), by their name: as frequent as no design has
    them, and said by no other column."""
    if not _RATED.search(name) or table.numbers(name) is None or table.is_crossed(name):
        return False
    return not any(table.says(other, name) or table.is_another_of(other, name) for other in columns if other != name)


def _reasons(
    table: AnswerTable, found: _Found, free: Sequence[str], factors: Sequence[str], placed: Mapping[str, str | None]
) -> dict[str, str]:
    """Return the role of each column and the reason for it; for unused columns the reason why not."""
    why = {column: f"the {role}, by its name and numbers" for role, column in placed.items() if column}
    why |= {found.question: "names the question"} if found.question else {}
    why |= {found.template: "names the wording"} if found.template else {}
    why |= {table.model: "names models"} if table.model else {}
    why |= {table.person: "names who answered"} if table.person else {}
    for name in table.columns:
        if name in found.answers:
            named = "said by --map" if name in table.answers else "called as answers are" if name in ANSWERS else ""
            why[name] = f"answers: {named or 'numbers or words as frequent as no design has them'}"
        elif name in factors:
            why[name] = "a factor: its levels come again"
        elif name not in why and name in _NEVER:
            why[name] = "not taken: of the request or the answer, and never shown"
        elif name not in why and name in free:
            names_others = "counts rows, or names what other columns say"
            why[name] = f"not taken: {table.why_no_factor(name) or names_others}"
    return why


def _counts(table: AnswerTable, column: str, first: int) -> bool:
    """Return True if the numbers of a column are counted from this one on."""
    numbers = table.numbers(column)
    return numbers is not None and numbers == [float(n) for n in range(first, first + len(numbers))]


def _names_others(table: AnswerTable, column: str, columns: Sequence[str]) -> bool:
    """Return True for an id, or the whole text, of what several columns say together, or of what one says as well: it
    is no factor next to these."""
    said = [name for name in columns if name != column and table.says(column, name)]
    pairs = {name: len(set(zip(table.columns[column], table.columns[name], strict=True))) for name in columns}
    levels = len(table.levels(column))
    is_same = any(n == levels == len(table.levels(name)) for name, n in pairs.items() if name != column)
    return column in ("id", "sample_id", "question_id", "input", "prompt", "stimulus", "stimulus_id") and (
        is_same or len(said) > 1
    )


def _numbered_last(table: AnswerTable) -> str | None:
    """Return the last part of the names of requests if it counts: the third answer to emily-nurse is emily-nurse-3."""
    parts = [name for name in table.columns if "#" in name]
    is_number = len(parts) > 1 and (_counts(table, parts[-1], 1) or _counts(table, parts[-1], 0))
    return parts[-1] if is_number and len(table.levels(parts[-1])) > 1 else None


def _listed(table: AnswerTable, found: _Found) -> str:
    said = []
    for factor, more in found.factors.items():
        also = f", and what it says of each: {', '.join(more)}" if more else ""
        said.append(f"{factor} ({len(table.levels(factor))} levels{also})")
    return "; ".join(said)


def _factors(table: AnswerTable, found: _Found, named: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    files, lines = {}, ["[factors]"]
    for factor, more in found.factors.items():
        levels = table.levels(factor)
        if not more:
            lines.append(f"{named[factor]} = [{', '.join(toml_text(level) for level in levels)}]")
            continue
        place = {level: number for number, level in reversed([*enumerate(table.columns[factor])])}
        rows = [(level, *(table.columns[name][place[level]] for name in more)) for level in levels]
        files[f"{named[factor]}.csv"] = csv_text(("level", *(named[name] for name in more)), rows)
        lines.append(f'{named[factor]} = {{ file = "{named[factor]}.csv" }}')
    return files, lines


def _questions(table: AnswerTable, found: _Found) -> Mapping[str, Sequence[str]]:
    """Return the answers to each question, by its name."""
    if found.question is None:
        names = [
            name_of(answer, ()) if len(found.answers) > 1 or found.tasks.n_profiles > 1 else "answer"
            for answer in found.answers
        ]
        if len(found.answers) == 1 and (inner := _of_keys(table.columns[found.answers[0]], found)):
            return inner if found.tasks.n_profiles == 1 else dict([*inner.items()][:1])
        return {name: table.columns[answer] for name, answer in zip(names, found.answers, strict=True)}
    asked = {said: name_of(made) for said, made in ids_of(table.levels(found.question), "question").items()}
    given: dict[str, list[str]] = {name: [] for name in asked.values()}
    for question, answer in zip(table.columns[found.question], table.columns[found.answers[0]], strict=True):
        if question in asked:
            given[asked[question]].append(answer)
    return given


def _of_keys(values: Sequence[str], found: _Found) -> dict[str, list[str]]:
    """Return the values under each key that holds numbers or a few words in most answers, which are JSON, by its name:
    such an answer is read by the names of its questions. Of the other keys there is a remark."""
    objects = [_read(object_in, value) or {} for value in values]
    said = Counter(key for each in objects for key in each)
    texts: dict[str, list[str]] = {}
    left = []
    for key in [key for key, n in said.items() if n * 2 > len(values)][:_MOST_QUESTIONS]:
        name = _read(name_of, key) or ""
        given = [as_answer(_read(value_of, each, name)) or "" for each in objects]
        if name not in texts and any(given) and kind_of(given) != "text":
            texts[name] = given
        else:
            left.append(key)
    found.remarks += [f"of the answers, which are JSON, not taken: {', '.join(left)}"] if texts and left else []
    return texts


def _read(read: Callable[..., Any], *given: Any) -> Any:
    """Return the finding of a reader of objects; None where it finds nothing, or a broken object."""
    try:
        return read(*given)
    except (BrokenObject, KeyError, StudyError):
        return None
