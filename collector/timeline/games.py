"""Write games for people: what a round says goes by the last answer alone, so that each of its texts is known before.

A study's plan draws who would succeed before a game is asked, whatever the answers are. So a page needs no chance of
its own: each round has, for each choice, whether it succeeds and what is said then.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.plan.conversations import plan
from slant.collector.records import Conversation, Prompt, Reply, Trial, Turn
from slant.collector.timeline.timeline import no_timeline

_DATA = ("test", "condition", "item", "round")
MAX_GAMES = 200


def games_of(study: Study, seed: int | None = None) -> list[list[dict[str, Any]]]:
    """Return the games of one repetition (200 at most), each a list of rounds: `choices`, `answers`, `successes` (1 or
    0 by choice), `data`, and `texts`: what is shown, by the choice before it (one text in the first round).

    Questions after the game are left out. UsageError if the study has no rounds of choices that succeed or fail, or if
    what a round says depends on more than the last answer, such as points so far.
    """
    model = study.models[0] if study.models else study.people
    games = []
    for conversation in plan(study, model, seed):
        game, other = (_walked(study, model, conversation, place=place) for place in (0, -1))
        if not game:
            raise no_timeline(study, "each of its trials is made from the answers before it")
        if [each["texts"] for each in game] != [each["texts"] for each in other]:
            raise no_timeline(study, "its rounds say more than what came of the last choice (points so far, for one)")
        games.append(game)
        if len(games) == MAX_GAMES:
            break
    return games


def _walked(study: Study, model: Any, conversation: Conversation, *, place: int) -> list[dict[str, Any]]:
    """Return the rounds as they are met by someone who always takes the choice in this place."""
    rounds: list[dict[str, Any]] = []
    history: list[Turn] = []
    met: list[tuple[Trial, Prompt]] = [study.design.first(study, model, conversation)]
    while met and met[0][0].round is not None:
        trial, prompt = met[0]
        turns = list(_turns(study, trial, prompt))
        if not turns:
            return []
        rounds.append(
            {
                "texts": [_text(prompt) for _, prompt in met],
                "choices": [html.escape(turn.reading.choice or "") for turn in turns],
                "answers": [turn.reading.choice for turn in turns],
                "successes": [int(turn.reading.factors["is_success"]) for turn in turns],
                "data": {name: getattr(trial, name) for name in _DATA},
            }
        )
        following = [study.design.next(study, model, conversation, [*history, turn]) for turn in turns]
        met = [each for each in following if each is not None]
        history.append(turns[place])
    return rounds


def _turns(study: Study, trial: Trial, prompt: Prompt) -> Iterator[Turn]:
    """Yield a turn for each choice there is, in the order in which they are shown; none if no choice can succeed."""
    shown: Sequence[str] = trial.factors.get("groups_shown", ())
    for choice in shown:
        reply = study.design.as_imported_reply(study, trial, Reply(answer=choice))
        reading = study.design.read(study, trial, reply)
        if reading.choice is None or "is_success" not in reading.factors:
            return
        yield Turn(prompt, reply, reading, trial.trial_id)


def _text(prompt: Prompt) -> str:
    said: list[str] = []
    for message in prompt.new:
        if message["role"] == "user":
            said += [result["content"] for result in message.get("results", ())]
            said.append(str(message["content"]))
    text = "\n\n".join(part for part in said if part)
    return f'<div class="asked">{html.escape(text)}</div>'
