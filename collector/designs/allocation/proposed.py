"""Propose an allocation study for games of choices and rewards that were played elsewhere."""

from __future__ import annotations

from slant.collector.designs.people import TRUE
from slant.collector.designs.proposed_study import AnswerTable, ProposedStudy, toml_text
from slant.collector.errors import StudyError
from slant.collector.reading.spelling import folded

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
