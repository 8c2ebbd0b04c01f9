"""Make a jsPsych timeline of a study's trials, or games: plain data, which any page of jsPsych can run.

A study's plan draws who would succeed before a game is asked, whatever the answers are. So a page needs no chance of
its own: each round has, for each choice, whether it succeeds and what is said then.

Write one page that runs a timeline: it holds jsPsych, its style and the trials, and loads nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from slant.collector.designs.analyses import AskedField
from slant.collector.designs.study import Study
from slant.collector.errors import UsageError
from slant.collector.plan.conversations import plan
from slant.collector.records import Conversation, Prompt, Reply, Trial, Turn
from slant.collector.templates import template_environment

_WEB = Path(__file__).resolve().parent / "web"
SCRIPTS = ("jspsych.js", "html-button-response.js", "survey-html-form.js", "timeline.js")
CONSENT = (
    "This text is what people read before they begin: who asks, what for, how long it takes, what is kept, and that "
    "they may stop at any time."
)


def timeline_page(
    study: Study,
    trials: Sequence[dict[str, Any]],
    consent: str | None,
    n_trials: int | None,
    games: Sequence[Sequence[dict[str, Any]]] = (),
    *,
    is_served: bool = False,
) -> str:
    """Return the page as HTML. `n_trials` per person, drawn evenly from tests and conditions; None: all of them.
    `games`: instead of trials, of which each person plays one. `is_served`: it sends its answers to its server.
    """
    contents: dict[str, Any] = {"study": study.name, "study_version": study.version, "is_served": is_served}
    if study.person_columns:
        contents["person"] = {"preamble": '<p class="asked">About you</p>', "html": "".join(_of_person(study))}
    contents |= {"games": list(games)} if games else {"n": n_trials, "trials": list(trials)}
    scripts = [_read(name).replace("</script", "<\\/script") for name in SCRIPTS]
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    template = template_environment("slant.collector.timeline", is_html=True).get_template("timeline.html.j2")
    return template.render(
        title=study.title,
        consent=consent or CONSENT,
        is_own_consent=bool(consent),
        policy=f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
        + ("; connect-src 'self'" if is_served else ""),
        style=Markup(_read("jspsych.css")),
        scripts=[Markup(text) for text in scripts],
        # in a script element nothing is unescaped, so that no text of a study may end it
        timeline=Markup(json.dumps(contents, ensure_ascii=False).replace("<", "\\u003c")),
    )


def _read(name: str) -> str:
    return (_WEB / name).read_text("utf-8")


BUTTONS, FORM = "html-button-response", "survey-html-form"
_DATA = ("test", "condition", "item", "wording", "group", "option_a", "option_b", "expected")
MAX_TRIALS = 100_000
_OF_ROUNDS = ("test", "condition", "item", "round")
MAX_GAMES = 200


def timeline_of(study: Study, seed: int | None = None) -> list[dict[str, Any]]:
    """Return the trials of one repetition, each once, in the order of the study's plan.

    A trial has the parameters of its plug-in, what is stored for each button (`answers`), and in `data` what tells
    which trial it is: its answer comes back by `collect import --layout people` as it is. UsageError for a study whose
    conversations go on from the answers.
    """
    if not study.design.asks.asks_anyone:
        raise UsageError(
            f'No timeline of "{study.name}": its design ({study.design.name}) asks no one; its rows come from files.'
        )
    if study.design.asks.has_turns(study):
        raise no_timeline(
            study, "each of its trials is made from the answers before it (what came of them, what was said)"
        )
    trials = [_trial(study, trial, prompt) for trial, prompt in _asked(study, seed)]
    if len(trials) > MAX_TRIALS:
        raise UsageError(f"A timeline has at most {MAX_TRIALS:,} trials, and this study has {len(trials):,}.")
    return trials


def no_timeline(study: Study, why: str) -> UsageError:
    """Return the error for a study whose page would have to know more than it can."""
    return UsageError(
        f'No timeline of "{study.name}": {why}, which slant does as it asks. A page has texts that are known '
        "before the first trial.",
        "What people did on a page of yours comes in by: collect import --layout people (of a game the columns "
        "round, answer, is_success)",
    )


def _asked(study: Study, seed: int | None) -> Iterator[tuple[Trial, Prompt]]:
    """Yield the questions, each once: personas are for models, and are not shown to people."""
    seen = set()
    model = study.models[0] if study.models else study.people
    for conversation in plan(study, model, seed):
        trial, prompt = study.design.asks.first(study, model, conversation)
        place = (
            trial.test,
            trial.condition,
            trial.item,
            trial.wording,
            study.design.reads.of_people(study, trial).group,
        )
        if place not in seen:
            seen.add(place)
            yield trial, prompt


def _trial(study: Study, trial: Trial, prompt: Prompt) -> dict[str, Any]:
    text = "\n\n".join(str(message["content"]) for message in prompt.messages if message["role"] == "user")
    fields = study.design.reads.asked_fields(study, trial)
    if for_models := study.design.reads.words_for_models(study, trial):
        text = text.replace(for_models, "").strip()
    data = {name: value for name in _DATA if (value := getattr(trial, name)) not in (None, "")}
    stimulus = f'<div class="asked">{html.escape(text)}</div>'
    if len(fields) == 1 and fields[0].options:
        shown = [html.escape(label) for _, label in fields[0].options]
        answers = [answer for answer, _ in fields[0].options]
        return {"type": BUTTONS, "stimulus": stimulus, "choices": shown, "answers": answers, "data": data}
    is_one = len(fields) == 1
    form = "".join(_field(field, is_one=is_one) for field in fields)
    return {"type": FORM, "preamble": stimulus, "html": form, "fields": [field.name for field in fields], "data": data}


def _of_person(study: Study) -> Iterator[str]:
    """Yield a field for each column of people that the study names ([people])."""
    for name, levels in study.person_columns.items():
        label = name.replace("_", " ").capitalize()
        options = tuple((level, level.replace("_", " ")) for level in levels)
        yield _field(AskedField(name, label, options, "text" if levels else "number"), is_one=False)


def _field(field: AskedField, *, is_one: bool) -> str:
    name, label = html.escape(field.name), "" if is_one else f"{html.escape(field.label)} "
    if field.options:  # all of them are seen before one is chosen
        marked = f'<input type="radio" name="{name}" required'
        listed = "".join(
            f'<label>{marked} value="{html.escape(answer)}">{html.escape(shown)}</label>'
            for answer, shown in field.options
        )
        return f'<fieldset><legend>{label}</legend><div class="options">{listed}</div></fieldset>'
    if field.kind == "number":
        return f'<p><label>{label}<input name="{name}" type="number" step="any" required></label></p>'
    return f'<p><label>{label}<textarea name="{name}" rows="3" required></textarea></label></p>'


def conditions_in(trials: Sequence[dict[str, Any]]) -> int:
    """Return the number of cells of test and condition, among which a person's trials are divided."""
    return len({(trial["data"].get("test"), trial["data"].get("condition")) for trial in trials})


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
    met: list[tuple[Trial, Prompt]] = [study.design.asks.first(study, model, conversation)]
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
                "data": {name: getattr(trial, name) for name in _OF_ROUNDS},
            }
        )
        following = [study.design.asks.next(study, model, conversation, [*history, turn]) for turn in turns]
        met = [each for each in following if each is not None]
        history.append(turns[place])
    return rounds


def _turns(study: Study, trial: Trial, prompt: Prompt) -> Iterator[Turn]:
    """Yield a turn for each choice there is, in the order in which they are shown; none if no choice can succeed."""
    shown: Sequence[str] = trial.factors.get("groups_shown", ())
    for choice in shown:
        reply = study.design.imports.as_imported_reply(study, trial, Reply(answer=choice))
        reading = study.design.reads.read(study, trial, reply)
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
