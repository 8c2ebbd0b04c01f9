"""The allocation design: answers as models write them, draws that only names decide, and files that break the rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from slant.collector.designs import design_named
from slant.collector.designs.allocation.games import Games, draw_game, draw_round
from slant.collector.designs.allocation.turns import group_in, numbers
from slant.collector.errors import UsageError
from slant.collector.plan.conversations import plan, planned_count
from slant.collector.records import Conversation, Reply, Trial
from slant.collector.studies.catalogue import load_study, load_variants
from tests.support.each_row import each_row
from tests.support.tiny_game import write_game

HIRING = load_study("hiring")
DESIGN = design_named("allocation")
GROUPS = HIRING.data.groups


def first_trial(variant: str, answer_format: str) -> Trial:
    study = load_study("hiring", variant)
    game = next(plan(study, study.model("gpt-4o")))
    found = DESIGN.asks.next(study, study.model("gpt-4o"), game, [])
    assert found is not None
    return replace(found[0], factors={**found[0].factors, "answer_format": answer_format})


@each_row(
    ("answer_format", "answer", "choice"),
    [
        ("direct", "Tufa", "Tufa"),
        ("direct", "Answer: tufa", "Tufa"),
        ("direct", "**Answer:** Weki.", "Weki"),
        ("direct", "Answer:\nReku", "Reku"),
        ("direct", "I recommend the Aima candidate.", "Aima"),
        ("cot", "Reasoning: Tufa and Weki did well, Aima did not.\nAnswer: Weki", "Weki"),
        ("cot", "Reasoning: …\n\n**Answer: Reku**", "Reku"),
        ("cot", "Answer: Tufa\nWait, Weki was better.\nAnswer: Weki", "Weki"),
        ("reasoning", "Tufas do well here, so Tufa.", "Tufa"),
        ("react", "Thought: Tufa or Weki?\nAction: Assign[Weki]\nObservation: Tufa would …", "Weki"),
    ],
)
def test_the_group_that_an_answer_names_is_found(answer_format: str, answer: str, choice: str) -> None:
    reading = DESIGN.reads.read(HIRING, first_trial("main", answer_format), Reply(answer=answer))
    assert (reading.outcome, reading.choice, reading.is_final) == ("answered", choice, True)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("Answer: Tufa or Weki", "malformed"),
        ("Answer:", "malformed"),
        ("", "malformed"),
        ("Answer: Tufanese", "malformed"),
        ("I'm sorry, but I can't rank people by their origin.", "refused"),
    ],
)
def test_an_answer_that_names_no_group_or_two_is_asked_again(answer: str, outcome: str) -> None:
    trial = first_trial("main", "direct")
    reading = DESIGN.reads.read(HIRING, trial, Reply(answer=answer))
    assert (reading.outcome, reading.choice, reading.is_final) == (outcome, None, False)
    last = replace(trial, factors={**trial.factors, "reminders": 2})
    over = {"game_over": outcome, "n_not_asked": 39, "not_asked": {"rounds": 39}}
    assert DESIGN.reads.read(HIRING, last, Reply(answer=answer)).factors == over


def test_percentages_are_read_as_one_number() -> None:
    assert numbers("Answer: 35%") == numbers("35.0 percent") == ("35",)
    assert numbers("between 30 and 40") == ("30", "40")
    assert numbers("1,000 people; 12.5") == ("12.5",)
    assert group_in("Tufas and tufa", GROUPS).label == "Tufa"


def test_what_chance_decides_is_named_by_game_and_round_alone() -> None:
    data = HIRING.data
    drawn = [draw_round(data, "game", 1, number) for number in range(1, 41)]
    assert drawn == [draw_round(data, "game", 1, number) for number in range(1, 41)]
    assert draw_round(data, "another", 1, 3) != drawn[2]
    jobs = Counter(draw_round(data, f"game {n}", 1, 1).job for n in range(4000))
    assert len(jobs) == 20
    assert all(130 < count < 270 for count in jobs.values())  # 200 each, drawn with replacement


def test_everybody_succeeds_as_often_as_the_study_says() -> None:
    games = Games(HIRING, HIRING.model("gpt-4o"), 1)
    trials = [trial for number in range(1, 61) for trial in games.conversation(number, 0).trials]
    for group in GROUPS:
        share = sum(group in trial.factors["would_succeed"] for trial in trials) / len(trials)
        assert share == pytest.approx(0.9, abs=0.03)


def test_a_latin_square_gives_each_group_each_rank_once() -> None:
    data = load_study("hiring", "unequal_40").data
    squares = [draw_game(data, f"game {number}").ranks for number in range(50)]
    for square in squares:
        assert all(sorted(row) == [0, 1, 2, 3] for row in (*square, *zip(*square, strict=True)))
    assert len({str(square) for square in squares}) > 5


def test_a_candidate_s_features_are_drawn_said_and_kept() -> None:
    study = load_study("hiring", "resettlement_age_education")
    game: Conversation = next(plan(study, study.model("gpt-4o")))
    found = DESIGN.asks.next(study, study.model("gpt-4o"), game, [])
    assert found is not None
    trial, prompt = found
    age, education = trial.factors["candidates"][0]
    assert f"A new {age} Taz {education}, " in prompt.messages[-1]["content"]
    assert trial.factors["features"] == ["age", "education"]


def test_the_paper_s_conditions_are_there_with_their_numbers_of_trials() -> None:
    variants = load_variants("hiring")
    extensions = [name for name, variant in variants.items() if variant.is_extension]
    assert (len(variants), extensions) == (25, ["ratings"])
    assert all(variant.about for variant in variants.values())
    other = {"unequal_40": 30 * 44, "unequal_80": 30 * 84, "elicited_rates": 600, "prior_associations": 400}
    other |= {"ratings": 30 * 48}
    assert {name: planned_count(study) for name, study in variants.items()} == {
        name: other.get(name, 1200) for name in variants
    }


def test_pooled_games_of_one_round_count_as_one_game() -> None:
    study = load_study("hiring", "prior_associations")
    trials = [game.trials[0] for game in plan(study, study.model("gpt-4o"))]
    assert len({trial.game for trial in trials}) == 1
    assert [trial.round for trial in trials] == list(range(1, 401))
    assert set(Counter(trial.item for trial in trials).values()) == {20}


def test_a_temperature_is_set_in_each_provider_s_own_words() -> None:
    study = load_study("hiring", "temperature_1_5")
    assert study.model("gpt-4o").settings == {"temperature": 1.5}
    assert study.model("gemini-2.5-flash").settings == {"generationConfig": {"temperature": 1.5}}
    assert study.model("simulated/greedy").settings == {}
    assert set(study.left_out) == {"claude-sonnet-4", "claude-3-haiku", "o3", "deepseek-r1"}


EVEN, CHANCE = 'groups = ["Ato", "Beno"]', "success = 0.5"
TOOL = 'answers.tool = {{ addon = "", tool = "{}" }}\nanswers.cot = {{'
RATING = 'ratings = [{ rating = "skill", question = "From {low} to {high}, how skilled is {group}?", high = 5 }]'


def rating(old: str, new: str) -> str:
    return f"{CHANCE}\n{RATING.replace(old, new)}"


@each_row(
    ("old", "new", "message"),
    [
        (EVEN, 'groups = ["Ato", "ato"]', "must be different names"),
        (EVEN, 'groups = ["Ato", "Ato Beno"]', 'names the group "Ato" as well'),
        (EVEN, 'groups = ["Ato", "[Beno]"]', "which no group may have"),
        (EVEN, 'groups = ["Ato", "Beno "]', "begins or ends with a space"),
        (CHANCE, f"{CHANCE}\nworth = {{ Ato = 2 }}", '"Beno" is missing'),
        (CHANCE, f"{CHANCE}\nworth = {{ Ato = 2, Beno = 1, Cedo = 1 }}", 'no key "Cedo"'),
        (CHANCE, f"{CHANCE}\nworth = {{ Ato = 2, Beno = nan }}", "number from 0 to 1,000,000, but it is nan"),
        (CHANCE, f"{CHANCE}\nloss = -1", "must be a number from 0"),
        (CHANCE, f'{CHANCE}\nloss = "all"', "must be a number, or a table by group"),
        (CHANCE, "success = { by_group = { Ato = 0.2, Beno = 2 } }", "must be a number from 0 to 1, but it is 2"),
        (CHANCE, "success = { by_class = { high = { Ato = 0.2, Beno = 0.3 } } }", 'every class, but "low" is missing'),
        (CHANCE, "success = { by_class = { high = 1, low = 1 } }", "must be a table"),
        (CHANCE, "success = { by_group = { Ato = 1, Beno = 1 }, by_job = { Judge = 1 } }", "must hold one key"),
        (CHANCE, rating("high = 5", "high = 1"), "The scale of .* goes from 1 to 1"),
        (CHANCE, rating("{group}?", "he?"), "placeholder {group} is missing"),
        (CHANCE, rating("high = 5", "hihg = 5"), 'Did you mean "high"'),
        (CHANCE, rating("ratings = [", f"ratings = [{RATING[11:-1]}, "), "A rating is given twice"),
        *(
            ("answers.cot = {", TOOL.format(name), "The tool in .* can't be called")
            for name in ("answer", "as sign", "ä")
        ),
        (CHANCE, "success = 1.5", "must be a number from 0 to 1, but it is 1.5"),
        (CHANCE, "success = { latin_square = [0.9, 0.8, 0.7] }", "one chance for each of the 2 groups"),
        (CHANCE, "success = { hidden_mapping = { match = 0.9 } }", "must be a number from 0 to 1"),
        (CHANCE, 'success = { elicited_in = "rates" }', 'no variant .*"rates"'),
        (CHANCE, "success = { by_job = { Judge = 0.2 } }", "must name every job"),
        ("rounds = 6", "rounds = 0", '"rounds" .* must be from 1 to 1,000'),
        ("rounds = 6", "round = 6", 'no key "round"'),
        ('frame = "direct"', 'frame = "dirct"', 'Did you mean "direct"'),
        ("Post: {job}.", "Post: {jobb}.", 'no placeholder "jobb" in round'),
        ("Post: {job}.", "Post.", "placeholder {job} is missing"),
        ("[prompt]", '[variants.a]\nlike = "b"\n\n[prompt]', 'variant .that "a" is like'),
        ("[prompt]", '[simulation.greedy]\npolicy = "gredy"\n\n[prompt]', 'Did you mean "greedy"'),
        ("[prompt]", '[variants.a]\nleft_out = { smal = "x" }\n\n[prompt]', 'Did you mean "small"'),
    ],
)
def test_a_game_that_breaks_the_rules_is_refused_in_a_sentence(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load_study(write_game(tmp_path, (old, new)))
