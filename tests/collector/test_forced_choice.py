"""The forced-choice design: what is planned, in which order and on which side, and what a study file may not say. How
likely A and B were, also where the letter stands inside of JSON, however the tokens are cut."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant.collector.ask.attempts import OptionLogprobs, read_option_logprobs
from slant.collector.designs.forced_choice.design import DESIGN, rendered
from slant.collector.errors import UsageError
from slant.collector.keep.final_trials import Finals
from slant.collector.plan.conversations import done_in, plan, planned_count
from slant.collector.providers import openai
from slant.collector.reading.letters import read_choice
from slant.collector.records import Trial
from slant.collector.studies.catalogue import Study, load_study
from tests.collector.test_option_logprobs import probabilities
from tests.support import TESTS
from tests.support import recorded_logprobs as recorded
from tests.support.each_row import each_row
from tests.support.recorded_logprobs import Step
from tests.support.tiny_choice import write_choice

STUDY = load_study("interference")
MODELS = [model.model for model in STUDY.models]
GOLDEN = TESTS / "golden" / "interference"


def trials(model: str = "gpt-5", seed: int = STUDY.seed, repetitions: int = 1, study: Study = STUDY) -> list[Trial]:
    return [t for conversation in plan(study, study.model(model), seed, repetitions) for t in conversation.trials]


def test_the_study_is_the_papers() -> None:
    assert MODELS == ["claude-sonnet-4", "gemini-2.5-pro", "gpt-5"]
    assert [(test.test, test.label, test.planned) for test in STUDY.tests] == [
        ("gender_career", "Gender-Career", 160),
        ("gender_science", "Gender-Science", 160),
    ]
    cells = Counter((t.test, t.condition, t.group) for t in trials())
    assert len(cells) == 16
    assert set(cells.values()) == {20}
    assert 3 * planned_count(STUDY) == 960


def test_the_words_are_the_shared_stand_ins_with_their_provenance(shared: Path) -> None:
    with (shared / "stimuli_interference.csv").open(encoding="utf-8") as file:
        given = list(csv.DictReader(file))
    ours = [(word, test) for test in STUDY.data.tests.values() for word in test.words]
    assert [(w.word, w.group, d.label, w.tier) for w, d in ours] == [
        (row["word"], row["category"], row["domain"], row["tier"]) for row in given
    ]
    assert [w.provenance["source"] for w, _ in ours] == [row["source"] for row in given]
    for (word, test), row in zip(ours, given, strict=True):
        for block in STUDY.data.conditions:
            assert test.options(block, word.group)[0] == row[f"consistent_pairing_{block}"]


def test_the_prompt_is_the_one_that_is_kept_to_the_byte() -> None:
    """After a change that is meant: write the files anew, and read the difference. All trials are pending then."""
    found = {t.condition: rendered(STUDY.data, t) for t in trials() if t.item == "John"}
    assert found == {block: (GOLDEN / f"{block}.txt").read_text(encoding="utf-8") for block in STUDY.data.conditions}


def test_each_block_is_asked_as_a_whole_and_shuffled_inside() -> None:
    asked = trials("claude-sonnet-4")
    runs = [(asked[at].test, asked[at].condition) for at in range(0, 320, 80)]
    assert len(set(runs)) == 4
    assert all((t.test, t.condition) == runs[place // 80] for place, t in enumerate(asked))
    assert [t.position for t in asked] == list(range(320))
    assert [t.factors["position_in_block"] for t in asked] == 4 * list(range(1, 81))
    words = [[t.item for t in asked[at : at + 80]] for at in (0, 80)]
    assert sorted(words[0]) == sorted(words[1])
    assert words[0] != words[1]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**62), st.sampled_from(MODELS))
def test_each_block_comes_first_in_one_domain_and_second_in_the_other(seed: int, model: str) -> None:
    whole = trials(model, seed, 2)
    for asked in (whole[:320], whole[320:]):
        first = Counter((t.condition, t.factors["block_position"]) for t in asked)
        assert first == {(block, place): 80 for block in STUDY.data.conditions for place in (1, 2)}
        assert {t.test for t in asked[:160]} == {asked[0].test}


def test_the_next_repetition_turns_order_and_sides_round() -> None:
    by_cell = {(t.test, t.condition, t.item, t.repetition): t.factors for t in trials(repetitions=2)}
    for (test, block, word, repetition), factors in by_cell.items():
        other = by_cell[test, block, word, 3 - repetition]
        assert {factors["block_position"], other["block_position"]} == {1, 2}
        assert {factors["consistent_letter"], other["consistent_letter"]} == {"A", "B"}


def test_asking_more_often_later_asks_only_the_further_repetitions() -> None:
    assert trials(repetitions=3)[:320] == trials()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**62))
def test_either_side_is_consistent_for_half_the_words_of_every_cell(seed: int) -> None:
    sides = Counter((t.test, t.condition, t.group, t.factors["consistent_letter"]) for t in trials(seed=seed))
    assert len(sides) == 32
    assert set(sides.values()) == {10}


def test_of_an_odd_number_of_words_either_side_has_one_more_by_the_seed(tmp_path: Path) -> None:
    study = load_study(write_choice(tmp_path))
    plans = [trials("small", seed, study=study) for seed in range(20)]
    counts = [[t.factors["consistent_letter"] for t in plan if t.group == "Cats"].count("A") for plan in plans]
    assert set(counts) == {2, 4}  # one or two of three words, in two blocks


def test_all_models_and_both_blocks_get_a_word_on_the_same_side() -> None:
    sides = {(t.test, t.item): set() for t in trials()}  # type: ignore[var-annotated]
    for model in MODELS:
        for t in trials(model):
            sides[t.test, t.item].add(t.factors["consistent_letter"])
    assert {len(letters) for letters in sides.values()} == {1}


def test_option_texts_and_letters_say_the_same() -> None:
    for t in trials():
        assert t.expected == (t.option_a if t.factors["consistent_letter"] == "A" else t.option_b)
        assert t.group in (t.expected or "").split(" + ")
        assert t.group not in (t.option_b if t.expected == t.option_a else t.option_a or "").split(" + ")  # type: ignore[union-attr]


@pytest.mark.parametrize("change", [
    lambda model: replace(model, requested_model="gpt-5-mini"),
    lambda model: replace(model, settings={"temperature": 0}),
    lambda model: replace(model, structured_output=True),
    lambda model: replace(model, provider="openrouter"),
])  # fmt: skip
def test_what_is_sent_is_a_part_of_the_trials_id(change: Callable[..., object]) -> None:
    model = STUDY.model("gpt-5")
    ids, others = ({c.conversation_id for c in plan(STUDY, m)} for m in (model, change(model)))  # type: ignore[arg-type]
    assert len(ids) == len(others) == 320
    assert not ids & others


def test_ids_are_planned_in_the_order_of_the_conversations_and_skipped_ones_keep_their_places() -> None:
    model = STUDY.model("gpt-5")
    asked = list(plan(STUDY, model, 7, 2))
    cells = DESIGN.asks.plan(STUDY, model, 7)
    assert [cells.trial_ids(place) for place in cells.places(2)] == [(c.conversation_id,) for c in asked]
    rest = list(plan(STUDY, model, 7, 2, skip=bytes(i % 2 for i in range(640))))
    assert rest == asked[::2]


def test_the_same_seed_gives_the_same_ids_and_order_on_every_machine() -> None:
    """Whoever changes these makes everybody pay twice."""
    text = "\n".join(f"{t.trial_id} {t.position} {t.factors['consistent_letter']}" for t in trials(repetitions=2))
    assert hashlib.sha256(text.encode()).hexdigest() == IDS_SHA256
    assert STUDY.version == "v33cf3fcd24d6"


IDS_SHA256 = "0fc3fe80645986bf55940b8a30b7e4565bb13cdd9b21866c1db9410161e46f06"


def test_mending_where_a_word_comes_from_makes_no_trial_pending(tmp_path: Path) -> None:
    version = load_study(write_choice(tmp_path)).version
    for change in ((",tier", ",item_id"), ("tabby,ours", "tabby,published"), ("word,tier", "word,source")):
        assert load_study(write_choice(tmp_path, stimuli=change)).version == version
    assert load_study(write_choice(tmp_path, stimuli=("tabby", "tiger"))).version != version


WRONG = [
    ("pairs", ("pets,incongruent,Dogs,Indoors\n", ""), '"incongruent" of the test "pets" must have two pairs'),
    ("pairs", ("pets,incongruent", "pets,mixed"), 'no condition .* "mixed"'),
    ("pairs", ("incongruent,Cats,Outdoors", "incongruent,Cats,Indoors"), '"Indoors" must be in one .* not in 2'),
    ("pairs", ("congruent,Cats,Indoors", "congruent,Cats,Cats"), '"Indoors" must be in one pair .* not in 0'),
    ("pairs", ("Dogs,Outdoors", "Dog,Outdoors"), 'no group .* "Dog". Did you mean "Dogs"'),
    ("pairs", ("pets,congruent", "pet,congruent"), "must have two pairs"),
    ("pairs", ("second_group", "second"), 'lacks the column "second_group"'),
    ("pairs", ("test,condition", "domain,block"), 'lacks the column "test"'),
    ("study", ("[prompt]", 'blocks = ["x", "y"]\n[prompt]'), 'no key "blocks" in study.toml'),
    ("stimuli", ("poodle", "Tabby"), r'"Tabby" is listed twice .* \(Cats and Dogs\)'),
    ("stimuli", ("poodle", ""), "word or its group is empty"),
    ("stimuli", ("pets,Dogs,hound", "pests,Dogs,hound"), 'Did you mean "pets"'),
    ("stimuli", (",tier", ",teir"), 'Did you mean "tier"'),
    ("study", ('design = "f', 'frame = "api"\ndesign = "f'), "has no frames"),
    ("study", ('provider = "local"', 'provider = "local"\nframe = "api"'), 'model small has the frame "api"'),
    ("study", ("{option_a}", "{option_c}"), 'Did you mean "option_'),
    ("study", ("{word}?", "word?"), r"placeholder \{word\} is missing in wording 1"),
    ("study", ("[prompt]", 'conditions = ["congruent"]\n[prompt]'), "must be two different names"),
    ("study", ("[[prompt.wordings]]\nwording = 1", "[[prompt.wordings]]\nwording = 0.5"), "must be a text"),
    ("study", ('label = "Pets" }', 'label = "Pets" }, { test = "x", test_no = 2, label = "x" }'), "has no words"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "change", "sentence"), WRONG)
def test_a_mistake_is_one_clear_sentence(tmp_path: Path, file: str, change: tuple[str, str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as caught:
        load_study(write_choice(tmp_path, **{file: change}))
    assert "\n" not in caught.value.what


def test_a_plan_that_is_half_done_goes_on(tmp_path: Path) -> None:
    study = load_study(write_choice(tmp_path))
    finals = Finals()
    ids = [t.trial_id for t in trials("small", 3, 2, study)]
    finals.add(set(ids[:10]))
    done = done_in(study, study.model("small"), 3, 2, finals)
    assert (done.trials, list(done.conversations)) == (10, [1] * 10 + [0] * 34)


OPTIONS = ("Male + Career", "Female + Family")
HEAD: list[Step] = [('{"', {'{"': 1.0}), ("answer", {"answer": 1.0})]
TAIL: Step = ('"}', {'"}': 1.0})
CUT: dict[str, list[Step]] = {
    "the letter alone": [('":', {'":': 1.0}), (' "', {' "': 1.0}), ("A", {"A": 0.75, "B": 0.2, "C": 0.05}), TAIL],
    "with its quote": [('":', {'":': 1.0}), (' "A', {' "A': 0.75, ' "B': 0.2, " ": 0.05}), TAIL],
    "with all before it": [('":"A', {'":"A': 0.75, '":"B': 0.2, '":': 0.05}), TAIL],
    "with all after it": [('":', {'":': 1.0}), (' "', {' "': 1.0}), ('A"}', {'A"}': 0.7, "A": 0.05, 'B"}': 0.2})],
}


def measured(steps: list[Step], answer: str | None = None) -> OptionLogprobs:
    reply = openai.reply(recorded.chat(steps, "".join(token for token, _ in steps) if answer is None else answer), {})
    reading = read_choice(reply, OPTIONS)
    return read_option_logprobs(reply.logprobs, reply.answer, *(reading.spelled or OPTIONS), reading.place)


MEASURED: list[tuple[str, list[Step], str | None, tuple[float | None, float | None, str]]] = [
    *((f"inside of JSON {cut}", HEAD + steps, None, (0.75, 0.2, "exact")) for cut, steps in CUT.items()),
    ("a bare letter", [("B", {"B": 0.9, "A": 0.1})], None, (0.1, 0.9, "exact")),
    ("a small one", [("b", {"b": 0.9, "a": 0.1})], None, (0.1, 0.9, "exact")),
    ("reasoning before it, a stop token after it", [("A or B", {"A or B": 1.0}), ("?\n", {"?\n": 1.0}), *HEAD,
     *CUT["the letter alone"], ("<|end|>", {"<|end|>": 1.0})], '{"answer": "A"}', (0.75, 0.2, "exact")),
    ("the last of several equal letters", [("So", {"So": 1.0}), (" A", {" A": 1.0}), (":\n", {":\n": 1.0}),
     ("A", {"A": 0.6, "B": 0.4})], None, (0.6, 0.4, "exact")),
    ("not among the likeliest", [("A", {"A": 0.99})], None, (0.99, None, "exact")),
    ("an option that is written out", [("Male", {"Male": 0.7, "Female": 0.3}), (" + Career", {" + Career": 1.0})],
     None, (0.7, 0.3, "first_token")),
]  # fmt: skip


@each_row(("said", "steps", "answer", "found"), MEASURED)
def test_the_letter_is_measured_given_all_before_it_wherever_it_stands(
    said: str, steps: list[Step], answer: str | None, found: tuple[float | None, float | None, str]
) -> None:
    assert probabilities(measured(steps, answer)) == found


@pytest.mark.parametrize("answer", ['{"answer": "A or B"}', "I can't choose.", '{"answer": "A",}', ""])
def test_an_invalid_answer_has_none(answer: str) -> None:
    assert measured([(answer, {answer: 1.0})] if answer else [], answer) == OptionLogprobs()
