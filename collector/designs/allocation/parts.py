"""Read and check what an allocation study says: groups, classes of jobs, chances of success, texts.

All of it may be changed by a variant: the keys read here are the complete list (docs in collector/studies/hiring.toml).
What choices bring are tables by the names of the groups (`worth = { A = 90, B = 60 }`), all groups in each of them.
Ratings of the groups after a game are an extension: the paper has such ratings of its human participants only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slant.collector.designs.allocation.texts import Texts, parse_texts
from slant.collector.designs.placeholders import check_placeholders
from slant.collector.errors import StudyError
from slant.collector.reading.spelling import folded
from slant.collector.study.folder import StudyFolder
from slant.collector.study.toml_table import Table, checked_name, unknown_key

MAX_POINTS = 1_000_000
Numbers = tuple[float, ...]


def parse_payoff(table: Table, key: str, groups: Sequence[str], default: float) -> Numbers:
    """Return the points of each group for a success or a failure: one number for all, or a table by name."""
    what = f'"{key}" in {table.where}'
    value = table.optional(key, (int, float, dict), "a number, or a table by group")
    if isinstance(value, dict):
        return _by_name(table.table(key), groups, MAX_POINTS)
    return (_number(default if value is None else value, what, MAX_POINTS),) * len(groups)


def parse_chances(success: Table, groups: Sequence[str], classes: Sequence[str]) -> tuple[Numbers, ...]:
    """Return the chance of each group in each class, as `by_group` (the same in all classes) or `by_class` gives it."""
    if success.mapping("by_group"):
        return (_by_name(success.table("by_group"), groups, 1),) * len(classes)
    by_class, tables = success.table("by_class"), success.tables("by_class")
    for name in tables:
        if name not in classes:
            raise unknown_key(name, by_class.where, classes)
    _check_all(by_class, list(tables), classes, "class")
    return tuple(_by_name(tables[name], groups, 1) for name in classes)


def gains(chances: Sequence[float], worth: Sequence[float], loss: Sequence[float]) -> list[float]:
    """Return the mean gain of each group."""
    return [p * won - (1 - p) * lost for p, won, lost in zip(chances, worth, loss, strict=True)]


def _by_name(row: Table, names: Sequence[str], most: float) -> Numbers:
    values = {name: row.optional(name, (int, float), "a number") for name in names}
    row.finish()
    _check_all(row, [name for name, value in values.items() if value is not None], names, "group")
    return tuple(_number(values[name], f'"{name}" in {row.where}', most) for name in names)


def _check_all(row: Table, entries: Sequence[str], names: Sequence[str], description: str) -> None:
    for name in names:
        if name not in entries:
            raise StudyError(f'{row.where} must name every {description}, but "{name}" is missing.')


def _number(value: object, what: str, most: float) -> float:
    # not (… <= …) also refuses what is not a number, such as nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise StudyError(f"{what} must be a number from 0 to {most:,}, but it is {value!r}.")
    return float(value)


MAX_VALUE = 100
_REMINDER = "Please give one number from {low} to {high}, in the format asked for."


@dataclass(frozen=True, slots=True)
class Rating:
    """Define what each group is rated for, on a scale from `low` to `high`; every rating is asked separately."""

    name: str
    question: str
    low: int
    high: int
    reminder: str

    def asked(self, group: str) -> str:
        return self.question.format(group=group, low=self.low, high=self.high)

    def reminded(self) -> str:
        return self.reminder.format(low=self.low, high=self.high)


def parse_rating(row: Table) -> Rating:
    """Return an entry of [[ratings]]; StudyError if it breaks the rules."""
    rating = Rating(
        checked_name(row.text("rating"), "rating"),
        row.text("question"),
        row.integer("low", 1),
        row.integer("high", 7),
        row.text("reminder", _REMINDER),
    )
    row.finish()
    check_placeholders(rating.question, ("group",), ("low", "high"), f"question of {row.where}")
    check_placeholders(rating.reminder, (), ("low", "high"), f"reminder of {row.where}")
    if not 0 <= rating.low < rating.high <= MAX_VALUE:
        raise StudyError(
            f"The scale of {row.where} goes from {rating.low} to {rating.high}.",
            f'"low" must be below "high", and both from 0 to {MAX_VALUE}: as in low = 1, high = 7',
        )
    return rating


TASKS = ("game", "elicitation")
GROUP_ORDERS = ("as_listed", "shuffled")
JOBS_DRAWN = ("with_replacement", "one_a_game")
MAX_ROUNDS, MAX_GAMES = 1000, 100_000


@dataclass(frozen=True, slots=True)
class JobClass:
    """Define a class of jobs; `singular` names each of them if a text speaks of one person."""

    name: str
    label: str
    jobs: tuple[str, ...]
    singular: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feature:
    """Define what a candidate has besides a group, drawn for each candidate and round; mentioned before or after it."""

    name: str
    place: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Success:
    """Say how likely a choice succeeds. kind: constant (`rates` holds one), by_job (`of_job`), latin_square (`rates`
    from best to worst; each group is best in one class, and so on), hidden_mapping (match, else), by_group (`of_class`:
    by class, the chance of each group), elicited (the rates that the model itself gave in the variant `source`)."""

    kind: str
    rates: tuple[float, ...] = ()
    of_job: Mapping[str, float] | None = None
    source: str = ""
    of_class: tuple[Numbers, ...] = ()


@dataclass(frozen=True, slots=True)
class AllocationData:
    """Hold `Study.data` of an allocation study. `rounds_told` is the number of rounds that the preamble mentions.

    `is_pooled`: the games are analysed as one run. `asks_after`: the game is followed by one question for each class,
    then the `ratings` of each group. `worth` and `loss` are by group the points that a success brings and a failure
    costs. `elicited` has by model and job the chances that the model gave itself, if they were read from a database.
    """

    task: str
    games: int
    rounds: int
    rounds_told: int
    is_pooled: bool
    jobs_drawn: str
    groups: tuple[str, ...]
    group_order: str
    classes: tuple[JobClass, ...]
    features: tuple[Feature, ...]
    success: Success
    worth: Numbers
    loss: Numbers
    has_points: bool
    has_diversity_bonus: bool
    reminders: int
    asks_after: bool
    ratings: tuple[Rating, ...]
    texts: Texts
    simulation: Mapping[str, Mapping[str, Any]]
    elicited: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def jobs(self) -> list[tuple[int, int]]:
        """Return the jobs as (number of its class, its number there)."""
        return [(c, j) for c, job_class in enumerate(self.classes) for j in range(len(job_class.jobs))]

    @property
    def n_rounds(self) -> int:
        """Return the number of rounds of a game, or of jobs of an elicitation."""
        return self.rounds if self.task == "game" else len(self.jobs)

    @property
    def n_trials(self) -> int:
        """Return the number of trials of one conversation: rounds, and the questions and ratings after them."""
        return self.n_rounds + self.n_questions + self.n_ratings

    def facts(self, answer_format: str) -> dict[str, Any]:
        """Return the factors that all trials have in one format of answers."""
        n_rounds = self.games if self.is_pooled else self.n_rounds
        sizes = [len(each.jobs) for each in self.classes]
        return {"answer_format": answer_format, "n_rounds": n_rounds, "groups": list(self.groups), "class_sizes": sizes}

    @property
    def n_questions(self) -> int:
        return len(self.classes) if self.asks_after else 0

    @property
    def n_ratings(self) -> int:
        return len(self.ratings) * len(self.groups)


def parse_allocation(table: Table, folder: StudyFolder) -> AllocationData:
    """Return the parts of an allocation study; StudyError if they break the rules."""
    classes = tuple(_class(row) for row in table.rows("classes"))
    rounds = _whole(table, "rounds", 40, MAX_ROUNDS)
    groups = table.texts("groups")
    if len({folded(group) for group in groups}) < len(groups) or not all(group.strip() for group in groups):
        raise StudyError(f'"groups" in {table.where} must be different names.')
    data = AllocationData(
        task=table.choice("task", TASKS),
        games=_whole(table, "games", 30, MAX_GAMES),
        rounds=rounds,
        rounds_told=_whole(table, "rounds_told", rounds, MAX_ROUNDS),
        is_pooled=table.flag("pooled", default=False),
        jobs_drawn=table.choice("jobs_drawn", JOBS_DRAWN),
        groups=groups,
        group_order=table.choice("group_order", GROUP_ORDERS),
        classes=classes,
        features=tuple(_feature(row) for row in table.rows("features")),
        success=_success(table, groups, [job_class.name for job_class in classes]),
        worth=parse_payoff(table, "worth", groups, 1.0),
        loss=parse_payoff(table, "loss", groups, 0.0),
        has_points=table.flag("points", default=True),
        has_diversity_bonus=table.flag("diversity_bonus", default=False),
        reminders=_whole(table, "reminders", 2, 10, least=0),
        asks_after=table.flag("questions", default=False),
        ratings=tuple(parse_rating(row) for row in table.rows("ratings")),
        texts=parse_texts(table.table("prompt")),
        simulation={name: table.table("simulation").mapping(name) for name in table.mapping("simulation")},
    )
    _check(data, table.where)
    return data


def _class(row: Table) -> JobClass:
    name = checked_name(row.text("class"), "class")
    jobs = row.texts("jobs")
    job_class = JobClass(name, row.text("label", name), jobs, row.texts("singular", jobs))
    row.finish()
    if not jobs or len(job_class.singular) != len(jobs):
        raise StudyError(f'{row.where} needs one or more "jobs", and as many in "singular" where that is given.')
    return job_class


def _feature(row: Table) -> Feature:
    place = row.choice("place", ("before", "after"))
    feature = Feature(checked_name(row.text("feature"), "feature"), place, row.texts("values"))
    row.finish()
    if not feature.values:
        raise StudyError(f'"values" in {row.where} must hold at least one text.')
    return feature


def _success(table: Table, groups: tuple[str, ...], classes: Sequence[str]) -> Success:
    value = table.optional("success", (int, float, dict), "a chance, or a table")
    if not isinstance(value, dict):
        return Success("constant", (_chance(1.0 if value is None else value, f'"success" in {table.where}'),))
    row = table.table("success")
    if len(value) != 1:
        known = "by_group, by_class, by_job, latin_square, hidden_mapping or elicited_in"
        raise StudyError(f"{row.where} must hold one key: {known}.")
    if {"by_group", "by_class"} & value.keys():
        return Success("by_group", of_class=parse_chances(row, groups, classes))
    if source := row.optional_text("elicited_in"):
        return Success("elicited", source=source)
    if rates := row.optional("latin_square", list, "a list of chances"):
        return Success("latin_square", tuple(_chance(rate, row.where) for rate in rates))
    if chances := row.mapping("hidden_mapping"):
        inner = row.table("hidden_mapping")
        group_chances = tuple(_chance(chances.get(key), inner.where) for key in ("match", "other"))
        _ = [inner.optional(key, (int, float), "a chance") for key in ("match", "other")]
        inner.finish()
        return Success("hidden_mapping", group_chances)
    by_job = {job: _chance(rate, row.where) for job, rate in row.mapping("by_job").items()}
    row.finish()
    return Success("by_job", of_job=by_job)


def _chance(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise StudyError(f"A chance in {where} must be a number from 0 to 1, but it is {value!r}.")
    return float(value)


def _check(data: AllocationData, where: str) -> None:
    if len(data.groups) < 2 or not data.classes:
        raise StudyError(f'{where} needs two or more "groups" and one or more [[classes]].')
    names = [job for job_class in data.classes for job in job_class.jobs]
    ratings = [rating.name for rating in data.ratings]
    for what, listed in (("job", names), ("class", [c.name for c in data.classes]), ("rating", ratings)):
        if len(set(listed)) < len(listed):
            raise StudyError(f"A {what} is given twice in {where}.")
    if data.success.kind == "by_job":
        for job in (*names, *(data.success.of_job or {})):
            if job not in (data.success.of_job or {}) or job not in names:
                raise StudyError(f'"by_job" in {where} must name every job and no other; "{job}" is not in both.')
    n_groups, n_classes = len(data.groups), len(data.classes)
    if data.success.kind in ("latin_square", "hidden_mapping") and n_groups != n_classes:
        raise StudyError(
            f"A {data.success.kind} needs as many groups as classes, but there are {n_groups}, {n_classes}."
        )
    if data.success.kind == "latin_square" and len(data.success.rates) != n_groups:
        raise StudyError(f"latin_square in {where} needs one chance for each of the {n_groups} groups.")
    if data.asks_after and data.texts.question is None:
        raise StudyError(f'"questions" in {where} are to be asked, but [prompt] has no "question".')
    if data.task == "elicitation" and (data.asks_after or data.ratings):
        raise StudyError(f"An elicitation has no game after which {where} could ask questions or ratings.")
    if data.task == "elicitation" and (data.texts.first_query is None or data.texts.next_query is None):
        raise StudyError(f'An elicitation needs "first_query" and "next_query" in {where}, [prompt].')


def _whole(table: Table, key: str, default: int, most: int, least: int = 1) -> int:
    value = table.integer(key, default)
    if not least <= value <= most:
        raise StudyError(f'"{key}" in {table.where} must be from {least} to {most:,}, but it is {value}.')
    return value
