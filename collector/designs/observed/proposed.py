"""Propose an observed study for rounds that people have played elsewhere."""

from __future__ import annotations

from slant.collector.designs.proposed_study import ProposedStudy, ids_of, toml_text
from slant.collector.designs.proposed_table import AnswerTable, name_of
from slant.collector.errors import StudyError

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
