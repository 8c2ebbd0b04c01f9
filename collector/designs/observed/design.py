"""Take rounds that people (or others) have played elsewhere as rows for fits: the observed design.

No model is asked. A row has a person, a game, a round, an action, and further columns that the study names (a score,
an opponent): these are attributes, which fits name as columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slant.collector.designs.analyses import Analyses, Vocabulary
from slant.collector.designs.asks import Asks
from slant.collector.designs.design import Design, Imports, Reads, Simulates
from slant.collector.designs.people import Cells, PeopleUnits, PlacedAnswer, cell_text, rounds_in_order
from slant.collector.designs.plan import trial_of
from slant.collector.designs.proposed_study import AnswerTable, ProposedStudy, ids_of, name_of, toml_text
from slant.collector.errors import StudyError
from slant.collector.reading.spelling import folded
from slant.collector.records import Reading, Reply, Trial
from slant.collector.stable_ids import stable_id
from slant.collector.study.crossed_fits import WORDS_OF_R
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyFile, StudyModel, TestInfo
from slant.collector.study.tables import read_levels
from slant.collector.study.toml_table import Table, checked_name

RESERVED = frozenset({
    "source", "study", "study_version", "variant", "run_id", "trial_id", "model", "model_label", "model_no",
    "participant", "test", "test_label", "test_no", "game", "round", "action", "outcome", "attributes", "latency_s",
    "response_time_ms", "repetition", "position", *WORDS_OF_R,
})  # fmt: skip
"""List columns that the view has itself, and words of R: no further column can have these names."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_BAD = re.compile(r'[\x00-\x1f"\\\\]')
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class ObservedData:
    """Hold `Study.data` of an observed study: games, what can be done in a round, further columns with their levels
    (none: a
    number).
    """

    games: tuple[str, ...]
    actions: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]


class ObservedAnalyses(Analyses):
    vocabulary = Vocabulary(
        answers="rounds", condition="game", option="action", test="game", measured="the action in each round"
    )
    trials_view = "observed_rounds"

    def attributes(self, data: ObservedData) -> Mapping[str, tuple[str, ...]]:
        return data.columns

    def factor_levels(self, study: StudyFile) -> dict[str, tuple[str, ...]]:
        return super().factor_levels(study) | {name: known for name, known in study.data.columns.items() if known}

    def facts(self, trial: Mapping[str, object]) -> dict[str, str]:
        factors: Mapping[str, Sequence[str]] = trial["factors"]  # type: ignore[assignment]
        return dict(zip(factors.get("names", ()), factors.get("levels", ()), strict=False))


class ObservedImports(Imports):
    def proposed_from_table(self, table: AnswerTable) -> ProposedStudy:
        return proposed_study(table, RESERVED)

    def imported_people(self, study: StudyFile, model: StudyModel) -> PeopleUnits:
        return ObservedRounds(study, model)


class ObservedReads(Reads):
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        if reply.outcome is not None and reply.outcome != "answered":
            return Reading(reply.outcome)
        said = folded(reply.answer or "")
        choice = next((action for action in study.data.actions if folded(action) == said), None)
        return Reading("answered", choice) if choice is not None else Reading("malformed", detail="no_action")


class ObservedSimulates(Simulates):
    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        return Reply(answer=study.data.actions[0])


class ObservedAsks(Asks):
    asks_anyone = False

    def contents(self, study: StudyFile) -> Iterator[str]:
        yield _content(study)

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        return ""


class Observed(Design):
    name = "observed"
    asks = ObservedAsks()
    simulates = ObservedSimulates()
    reads = ObservedReads()
    imports = ObservedImports()
    analyses = ObservedAnalyses()

    def parse(self, table: Table, folder: StudyFolder) -> ObservedData:
        named = table.table("columns")
        data = ObservedData(
            tuple(checked_name(name, "game") for name in table.texts("games")),
            table.texts("actions"),
            {name: read_levels(named, name) for name in table.mapping("columns")},
        )
        named.finish()
        for what, names in (("games", data.games), ("actions", data.actions)):
            if not names or len(set(map(folded, names))) < len(names):
                raise StudyError(f'"{what}" in {table.where} must be different texts, at least one.')
        for name in data.columns:
            if not _NAME.fullmatch(name) or name in RESERVED:
                raise StudyError(
                    f'A column of {table.where} can\'t be called "{name[:40]}".',
                    "A name has small letters, digits and underscores, and is no column of every row (such as round).",
                )
        return data

    def tests(self, data: ObservedData) -> tuple[TestInfo, ...]:
        return tuple(TestInfo(game, number, game, 0) for number, game in enumerate(data.games, 1))


class ObservedRounds(PeopleUnits):
    """Read rows of games: rounds without a column of numbers are counted in the order of the file."""

    def __init__(self, study: StudyFile, model: StudyModel) -> None:
        self._study, self._model = study, model
        self._data: ObservedData = study.data
        self._games = {folded(game): game for game in self._data.games}
        self._lengths: Counter[int] = Counter()
        self.columns = ("action", *self._data.columns)

    def unit(self, cells: Cells) -> Hashable:
        return cell_text(cells, "game") or cell_text(cells, "test")

    def notes(self) -> list[str]:
        """Return a sentence on games shorter than most."""
        [(usual, _)] = self._lengths.most_common(1) or [(0, 0)]
        short = sum(n for length, n in self._lengths.items() if length < usual)
        if not short:
            return []
        return [f"{short:,} {'game has' if short == 1 else 'games have'} fewer rounds than most, which have {usual}"]

    def answers(self, person: int, rows: Sequence[Cells]) -> Iterator[PlacedAnswer]:
        study, known = self._study, len(self._data.games) == 1
        said = cell_text(rows[0], "game") or cell_text(rows[0], "test")
        game = self._data.games[0] if known and not said else self._games.get(folded(said))
        if game is None:
            raise StudyError(f'is of the game "{said[:40]}", which the study does not have')
        has_rounds = any(cell_text(row, "round") for row in rows)
        rounds = rounds_in_order(rows) if has_rounds else range(1, len(rows) + 1)
        self._lengths[len(rows)] += 1
        for place, (number, cells) in enumerate(zip(rounds, rows, strict=True)):
            levels = [cell_text(cells, name) for name in self._data.columns]
            for name, level in zip(self._data.columns, levels, strict=True):
                if _BAD.search(level) or len(level) > _LONGEST:
                    raise StudyError(f"has quotes, line breaks or more than {_LONGEST} characters in {name}")
                if level and (known_levels := self._data.columns[name]) and level not in known_levels:
                    raise StudyError(f'has "{level}" as {name}, which is not one of the study\'s levels')
            trial = trial_of(
                study,
                self._model,
                stable_id(study.name, "human", study.variant, game, number),
                test=game,
                condition="",
                item=game,
                group="",
                repetition=1,
                position=None,
                game=stable_id(study.name, "human", study.variant, game),
                round=number,
                factors={"names": list(self._data.columns), "levels": levels},
                content=_content(study),
            )
            action = cell_text(cells, "action") or cell_text(cells, "answer")
            yield PlacedAnswer(trial, action, place, trial.game or "", number)


def _content(study: StudyFile) -> str:
    data: ObservedData = study.data
    return stable_id(study.asked_as, list(data.games), list(data.actions), dict(data.columns))[:12]


DESIGN = Observed()


_ACTIONS = "action move act play contribution offer"
_OTHER_ACTIONS = "decision choice response answer"
_GAMES = "game game_name game_type treatment task"
_ROUNDS = "round round_no round_number trial period t turn stage"
_OF_TWO = "opponent partner other opponent_action partner_action other_action"
_OF_GAMES = "score payoff points coordination"
_MOST_ACTIONS = 30
_MOST_GAMES = 20


def proposed_study(table: AnswerTable, reserved: frozenset[str]) -> ProposedStudy:
    """Propose the games and actions that the rows have, with all further columns that fits can name."""
    person, action = table.person, table.answers[0] if table.answers else table.named(_ACTIONS)
    is_of_two = bool(set(_OF_TWO.split()) & set(table.columns))
    action = action or (table.named(_OTHER_ACTIONS) if is_of_two else None)
    if person is None or action is None:
        what = "people" if person is None else "what was done in each round (action)"
        raise StudyError(f"it has rounds of people, and no column was found that says {what}")
    game = next((name for name in _GAMES.split() if name in table.columns and name != person), None)
    if game is not None and len(table.levels(game)) > _MOST_GAMES:
        game = None
    rounds = table.named(_ROUNDS)
    others = [name for name in table.columns if name not in (person, action, game, rounds)]
    if rounds is None and not is_of_two and not set(_OF_GAMES.split()) & set(others):
        raise StudyError("it has rounds of games, and no column numbers them or names an opponent or a score")
    actions = table.levels(action)
    if not 1 < len(actions) <= _MOST_ACTIONS:
        raise StudyError(f"an action is one of a few, and {action} has {len(actions):,}")
    games = ids_of(table.levels(game), "game") if game else {"game": "game"}
    columns: dict[str, str] = {}
    for name in others:
        if table.numbers(name) is not None and len(table.levels(name)) > 2:
            columns[name] = '"number"'
        elif table.can_be_factor(name):
            columns[name] = f"[{', '.join(map(toml_text, table.levels(name)))}]"
    named = {column: name_of(column, reserved) for column in columns}
    score = next((name for name in ("score", "payoff", "points", "reward") if columns.get(name) == '"number"'), None)
    measured = score or next((name for name, kind in columns.items() if kind == '"number"'), None)
    texts = [name for name, kind in columns.items() if kind != '"number"']
    mapping = [f"participant={person}", *([] if action == "answer" else [f"answer={action}"])]
    mapping.append(f"game={game}" if game else "game==game")
    mapping += [f"round={table.from_one(rounds)}"] if rounds else []
    mapping += [f"{name}={column}" for column, name in named.items() if name != column]
    lines = [
        f"games = [{', '.join(map(toml_text, games.values()))}]",
        f"actions = [{', '.join(map(toml_text, actions))}]  # what can be done in a round",
        "",
        '# Further columns that come in: the levels of a text, the reference first, or "number". Fits name them.',
        "[columns]",
        *(f"{named[column]} = {kind}" for column, kind in columns.items()),
    ]
    if measured:
        terms = " + ".join(named[name] for name in texts) or "1"
        lines += ["", f"[fits.{named[measured]}]", 'engine = "lme4"', 'view = "observed_rounds"']
        lines += ['by = ["model", "test"]', f'formula = "{named[measured]} ~ {terms} + (1 | participant)"']
    remarks = (f"games: {', '.join(games)}; actions: {', '.join(actions[:8])}{' …' if len(actions) > 8 else ''}",)
    fit = named[measured] if measured else ""
    return ProposedStudy({"study.toml": "\n".join(lines) + "\n"}, remarks, fit, tuple(mapping), "people")
