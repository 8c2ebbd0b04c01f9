"""Play the allocation design: the player gives one job after the other to one of several groups, and learns how each
choice turned out (Wu et al., section 3.1).

A game is a conversation and a round of it a trial. The state of a game follows from its turns so far and from draws
that its own seed names, so that it can be left at any round and resumed, and meets the same jobs and the same luck.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slant.collector.designs.allocation.games import ELICITATION, QUESTIONS, RATINGS, ROUNDS, Games, game_content
from slant.collector.designs.allocation.imported import PlayedGames, turn_reader
from slant.collector.designs.allocation.participants import PARTICIPANTS, check_participants, simulate_reply
from slant.collector.designs.allocation.parts import AllocationData, parse_allocation
from slant.collector.designs.allocation.texts import AnswerFormat
from slant.collector.designs.allocation.turns import called, next_trial, prompt_of, read_turn, standing
from slant.collector.designs.analyses import Analyses, Vocabulary, as_text
from slant.collector.designs.asks import Asks
from slant.collector.designs.design import Design, Imports, Reads, Simulates, used_frames
from slant.collector.designs.people import TRUE
from slant.collector.designs.proposed_study import AnswerTable, ProposedStudy, toml_text
from slant.collector.errors import StudyError, UnknownNameError, check_known
from slant.collector.reading.labels import mentioned_labels
from slant.collector.reading.spelling import folded
from slant.collector.records import Conversation, Prompt, Reading, Reply, Trial, Turn
from slant.collector.study.records import Condition, Fit, StudyFile, StudyModel, TestInfo, numbered

_SHOWN = ("points", "bonus", "would_succeed", "reminders", "scale", "ranks", "n_hires", "n_successes", "answer_format")


class AllocationAnalyses(Analyses):
    compares_variants = True
    vocabulary = Vocabulary(
        answers="rounds", condition="class of jobs", option="group", measured="which group it chooses in each round"
    )
    checked_view = "allocation_checked"
    checks: Mapping[str, Mapping[str, Any]] = {
        "first_option": {"n_options": "n_groups", "cluster": "history"},
        "games_ended": {},
        "game_influence": {},
        "answer_lengths": {},
    }
    game_index = ("allocation_game_indices", "si")
    number_sources = ("print_checks",)

    def fits(self, study: StudyFile) -> dict[str, Fit]:
        """Return the models of choice; an elicitation has no rounds to fit."""
        fits = {
            name: Fit(name, name, VIEW, None, None, None, ("model",), {}, (), (), settings)
            for name, settings in _SETTINGS.items()
        }
        return {} if study.data.task == ELICITATION else fits

    def conditions(self, data: AllocationData) -> tuple[Condition, ...]:
        """Return the classes of jobs."""
        labels = {job_class.name: job_class.label for job_class in data.classes}
        return numbered(labels, labels)

    def words(self, data: AllocationData) -> list[dict[str, str]]:
        """Return the jobs, by their classes."""
        return [
            {"test": ROUNDS, "group": job_class.name, "word": job}
            for job_class in data.classes
            for job in job_class.jobs
        ]

    def facts(self, trial: Mapping[str, Any]) -> dict[str, str]:
        factors = trial["factors"]
        facts_shown: dict[str, Any] = {"offered": _offered(factors) if trial["round"] is not None else None}
        if "is_success" in factors:
            facts_shown["how it went"] = "success" if factors["is_success"] else "failure"
        facts_shown |= {name.replace("_", " "): factors.get(name) for name in _SHOWN}
        return {name: as_text(value) for name, value in facts_shown.items() if value not in (None, [])}

    def options(self, trial: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the groups."""
        return tuple(map(str, trial["factors"].get("groups", ())))


class AllocationImports(Imports):
    imported_turns = staticmethod(turn_reader)
    imported_people = staticmethod(PlayedGames)

    def proposed_from_table(self, table: AnswerTable) -> ProposedStudy:
        return proposed_study(table)

    def as_imported_reply(self, study: StudyFile, trial: Trial, reply: Reply) -> Reply:
        """Return the reply of a file, in which a called group is a tool call, or is alone."""
        tool = _answer(study, trial).tool
        return called(tool, reply) if tool and trial.test == ROUNDS else reply


class AllocationReads(Reads):
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        return read_turn(study.data, _answer(study, trial), trial, reply)


class AllocationSimulates(Simulates):
    participants = PARTICIPANTS

    def knows_lengths(self, study: StudyFile, model: StudyModel) -> bool:
        """Return True for a model that does not reason by itself: it writes about as much as its format asks for."""
        return bool(study.data.texts.answers[model.frame].addon) or study.data.task == ELICITATION

    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        return simulate_reply(study.data, model, trial)


class AllocationAsks(Asks):
    whole_keys = ("success", "worth", "loss")
    conversation = "game"
    plays_games = True
    plan = staticmethod(Games)

    def answers(self, data: AllocationData) -> tuple[str, ...]:
        """Return the formats of answers; numbers are not asked by tool calls."""
        takes_tools = data.task != ELICITATION
        return tuple(name for name, answer in data.texts.answers.items() if takes_tools or not answer.tool)

    def frames(self, data: AllocationData) -> tuple[str, ...]:
        return self.answers(data)

    def needs_tools(self, study: StudyFile, model: StudyModel) -> bool:
        return bool(study.data.texts.answers[model.frame].tool)

    def source_variant(self, study: StudyFile) -> str | None:
        success = study.data.success
        return success.source if success.kind == "elicited" else None

    def rated_items(self, data: AllocationData) -> set[str]:
        return {job for job_class in data.classes for job in job_class.jobs}

    def with_rates(self, data: AllocationData, rates: Mapping[str, Mapping[str, float]]) -> AllocationData:
        return replace(data, elicited=rates)

    def contents(self, study: StudyFile) -> Iterator[str]:
        return (game_content(study, answer) for answer in study.data.texts.answers)

    def next(
        self, study: StudyFile, model: StudyModel, conversation: Conversation, history: Sequence[Turn]
    ) -> tuple[Trial, Prompt] | None:
        data: AllocationData = study.data
        state = standing(conversation, history)
        if state.is_over:
            return None
        trial = next_trial(data, conversation, history, state)
        last_round = min(state.place, data.n_rounds) - 1
        earlier = conversation.trials[last_round] if state.place else None
        return trial, prompt_of(data, _answer(study, trial), trial, state, earlier)


class Allocation(Design):
    name = "allocation"
    asks = AllocationAsks()
    simulates = AllocationSimulates()
    reads = AllocationReads()
    imports = AllocationImports()
    analyses = AllocationAnalyses()

    parse = staticmethod(parse_allocation)

    def tests(self, data: AllocationData) -> tuple[TestInfo, ...]:
        if data.task == ELICITATION:
            return (TestInfo(ELICITATION, 1, "Rates asked for", data.games * data.n_rounds),)
        rounds = TestInfo(ROUNDS, 1, "Rounds of the game", data.games * data.rounds)
        after = [
            TestInfo(QUESTIONS, 2, "Questions after the game", data.games * data.n_questions),
            TestInfo(RATINGS, 3, "Ratings after the game", data.games * data.n_ratings),
        ]
        return rounds, *(test for test in after if test.planned)

    def check(self, study: StudyFile) -> None:
        data: AllocationData = study.data
        for group in data.groups:  # an answer must name each alone, and a table distinguish them
            if wrong := set(group) & set('"[]\\') or {char for char in group if not char.isprintable()}:
                raise StudyError(f'The group "{group}" has {sorted(wrong)[0]!r} in its name, which no group may have.')
            if group != group.strip():
                raise StudyError(f'The group "{group}" begins or ends with a space, which no answer would have.')
            groups_named = [other for other in data.groups if mentioned_labels(group, (other,), plural=True)]
            if group not in groups_named:
                raise StudyError(f'No answer could name the group "{group}": give it a name of letters or digits.')
            if others := [name for name in groups_named if name != group]:
                raise StudyError(f'Who answers "{group}" names the group "{others[0]}" as well: give one another name.')
        for frame, user in used_frames(study).items():
            check_known(f"frame (an answer format, of {user})", frame, self.asks.answers(data))
        if data.success.kind == "elicited" and data.success.source not in study.variants:
            raise UnknownNameError(f"variant (elicited_in of {study.path.name})", data.success.source, study.variants)
        check_participants(data.simulation, [*(model.model for model in study.models), *PARTICIPANTS])


def _offered(factors: Mapping[str, Any]) -> list[str]:
    """Return the candidates in the order in which they were shown, each with its features if it has some."""
    of_group = dict(zip(factors.get("groups", []), factors.get("candidates", []), strict=False))
    shown = factors.get("groups_shown", [])
    return [f"{group} ({', '.join(of_group[group])})" if of_group.get(group) else group for group in shown]


def _answer(study: StudyFile, trial: Trial) -> AnswerFormat:
    data: AllocationData = study.data
    return data.texts.answers[trial.factors["answer_format"]]


DESIGN = Allocation()


VIEW = "allocation_candidates"
_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "choice": {},
    "policies": {"folds": 5, "seed": 20260101},
    "learning": {"chains": 4, "iterations": 2000, "warmup": 1000, "adapt_delta": 0.9, "seed": 20260101},
}


_ROUNDS = "round round_no round_number trial trial_no period t turn step"
_CHOICES = "choice chosen group arm option action answer response selected pick chosen_arm hired"
_REWARDS = "is_success reward success outcome won win correct feedback payoff result hit"
_GAMES = "game game_id game_no episode block session"
_CLASSES = "class job_class category sector context"
_JOBS = "job item role occupation task"
_MOST_ARMS = 20


def proposed_study(table: AnswerTable) -> ProposedStudy:
    """Propose the groups that were chosen, the length of the games, and the classes and jobs if rows have them."""
    rounds, reward = table.named(_ROUNDS), table.named(_REWARDS)
    choice = table.answers[0] if table.answers else table.named(_CHOICES)
    lacking = {"round": rounds, "choice": choice, "is_success": reward}
    if missing := [what for what, column in lacking.items() if column is None]:
        raise StudyError(f"it has rounds of games with a choice and a success, and no column is {' or '.join(missing)}")
    assert rounds is not None
    assert reward is not None
    assert choice is not None
    game = next((name for name in _GAMES.split() if name in table.columns), None)
    if game is None and table.person is None:
        raise StudyError("it has games, and no column says which one a row is of")
    numbers = table.numbers(rounds)
    if not table.is_flag(reward) or numbers is None or any(number % 1 for number in numbers):
        raise StudyError(f"a round has a whole number and ends with a success or none, unlike {rounds} and {reward}")
    groups = table.levels(choice)
    if not 1 < len(groups) <= _MOST_ARMS:
        raise StudyError(f"a choice is of a few groups, and {choice} has {len(groups):,}")
    used = {rounds, reward, choice, game, table.person, table.model}
    free = [name for name in table.columns if name not in used and table.can_be_factor(name)]
    job_class, job = table.named(_CLASSES, free) if free else None, table.named(_JOBS, free) if free else None
    plain = [folded(group) for group in groups]
    if any(one != other and one in other for one in plain for other in plain):  # as 1 is of 10
        letters = (chr(ord("A") + number) for number in range(len(groups)))
        names = dict(zip(groups, (f"arm {letter}" for letter in letters), strict=True))
    else:
        names = {}
    said = [value.lower() for value in table.columns[reward] if value]
    share = min(0.99, max(0.01, round(sum(value in TRUE for value in said) / len(said), 2)))
    is_zero = min(numbers) == 0
    mapping = [f"answer={choice}", f"is_success={reward}", f"round={rounds}{'+1' if is_zero else ''}"]
    mapping += [f"participant={table.person}"] if table.person else []
    mapping += [f"game={game}"] if game and game != "game" else []
    mapping += [f"condition={job_class}"] if job_class else []
    mapping += [f"item={job}"] if job else ["item==job"] if table.person is None else []
    mapping = [part for part in mapping if len(set(part.split("="))) > 1]
    n_rounds = int(max(numbers)) + is_zero
    values = tuple(f"answer:{group}={name}" for group, name in names.items())
    remarks = [
        f"{len(groups)} groups ({', '.join(groups[:6])}{' …' if len(groups) > 6 else ''}), {n_rounds} rounds",
        f"chances of success are not in the files: {share} for all, as often as choices succeeded; write them down "
        "before games are replayed",
    ]
    if names and table.person is None:
        raise StudyError("a group's name must not be part of another's, but one is: rename them in the file")
    toml = _toml(list(names.values()) or groups, n_rounds, share, _classes(table, job_class, job))
    layout = "people" if table.person else "tidy"
    return ProposedStudy({"study.toml": toml}, tuple(remarks), "choice", tuple(mapping), layout, values)


def _classes(table: AnswerTable, job_class: str | None, job: str | None) -> dict[str, list[str]]:
    if job_class is None:
        return {"class": table.levels(job) if job else ["job"]}
    if job is None:
        return {name: [name] for name in table.levels(job_class)}
    jobs: dict[str, dict[str, None]] = {}
    for one, other in zip(table.columns[job_class], table.columns[job], strict=True):
        jobs.setdefault(one, {})[other] = None
    return {name: list(listed) for name, listed in jobs.items()}


def _toml(groups: list[str], n_rounds: int, share: float, classes: dict[str, list[str]]) -> str:
    listed = ", ".join(map(toml_text, groups))
    parts = [
        f"games = 1\nrounds = {n_rounds}\ngroups = [{listed}]",
        f"success = {share}                        # of all groups: not in the files",
    ]
    for name, jobs in classes.items():
        parts.append(f"\n[[classes]]\nclass = {toml_text(name)}\njobs = [{', '.join(map(toml_text, jobs))}]")
    parts.append(
        "\n# These texts are not in the files: write them here before you ask any model.\n[prompt]\n"
        'preamble = "These games were played elsewhere. You choose {rounds} times among {groups}. {classes}"\n'
        'round = "Round {round}, {job}: {candidates}. Whom do you choose?"\n'
        'outcome_success = "{group} succeeded."\noutcome_failure = "{group} failed."\n'
        'reminder = "Name one of {groups_and}."\n\n'
        '[prompt.answers.direct]\naddon = "Answer: [name]"\nmarker = "Answer:"'
    )
    return "\n".join(parts) + "\n"
