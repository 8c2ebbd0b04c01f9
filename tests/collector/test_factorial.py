"""Factorial studies: what a file may say, what is crossed and drawn, what is sent, how it is read."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.designs.factorial.cells import make_cells
from slant.collector.designs.factorial.factors import Factor, Level
from slant.collector.designs.factorial.tasks import Tasks
from slant.collector.designs.study import Study
from slant.collector.errors import SlantError
from slant.collector.plan.conversations import plan, planned_count
from slant.collector.records import Reply, Trial
from slant.collector.studies.catalogue import load_study
from tests.support.batch_server import BatchServer
from tests.support.batching import Batching, both
from tests.support.commands import run_collect
from tests.support.tiny_audit import PAIRS, STUDY, audit, write_audit

JOBS = 'job = { levels = { clerk = "a clerk", nurse = "a nurse" } }'
CROSSING = '[templates]\nplain = "{name}'
MANY = "\n".join(f"f{n} = [{', '.join(map(str, range(10)))}]" for n in range(8))


def trials(study: Study, **options: int) -> list[Trial]:
    return [trial for conversation in plan(study, study.models[0], **options) for trial in conversation.trials]


def sent(study: Study, trial: Trial) -> str:
    return study.design.asks.text(study, study.models[0], trial)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([("{name} works", "{nane} works")], 'no placeholder "nane"'),
        ([("{name} works", "{name!r} works")], 'no placeholder "name!r"'),
        ([("{name} works", '{name}: {\\"fit\\": 3}')], "Write {{ or }} for a brace itself."),
        ([("as {job}.", ".")], 'The factor "job" is not used'),
        ([('nurse = "a nurse"', 'nurse = { plain = "a nurse" }')], 'The level "nurse"'),
        ([('nurse = "a nurse"', 'nurse = "a clerk"')], "have the same text"),
        ([(JOBS, 'job = ["clerk", "clerk"]')], "is given twice"),
        ([(JOBS, 'job = ["caf\u00e9", "cafe\u0301"]')], "is given twice"),
        ([(JOBS, "job = []")], "has no levels"),
        ([(JOBS, "job = [true]")], "must be texts or numbers"),
        ([(JOBS, 'job = { levels = { nurse = { plian = "a" } } }')], 'Did you mean "plain"?'),
        ([(JOBS, "rating = [1, 2]"), ("{job}", "{rating}"), ("{job}", "{rating}")], 'can be called "rating"'),
        ([(JOBS, f'{JOBS}\ngender = ["woman", "man"]')], 'are called "gender"'),
        ([("[factors]", "[facts]")], "needs at least one factor"),
        ([("[templates]", "[wordings]")], "needs at least one template"),
        ([('kind = "scale"', 'kind = "scael"')], 'Did you mean "scale"?'),
        ([("max = 5", "max = 1")], "may not be its ends"),
        ([('5 = "good"', '6 = "good"')], "label for 6"),
        ([('5 = "good"', '5 = "Bad"')], "are the same"),
        ([("max = 5", 'max = 5\ndirection = "both"'), ('1 = "bad", ', "")], "can't run the other way"),
        ([('kind = "yes_no"', 'kind = "choice"')], 'needs the key "options"'),
        ([('kind = "yes_no"', 'kind = "choice"\noptions = "profiles"')], "only one is shown"),
        ([('kind = "yes_no"', 'kind = "number"\nmin = 3\nmax = 3')], "must be below"),
        ([(CROSSING, f"[crossing]\nn = 3\n{CROSSING}")], '"n" in'),
        ([(CROSSING, f'[crossing]\ntakes = "random"\nn = 30\n{CROSSING}')], "but there are 8"),
        ([(CROSSING, f"[crossing]\nforbidden = [{{ jbo = 'nurse', name = 'Ada' }}]\n{CROSSING}")], '"job"?'),
        ([(CROSSING, f"[crossing]\nforbidden = [{{ job = 'nurse' }}]\n{CROSSING}")], "two factors or more"),
        (
            [(CROSSING, f"[crossing]\nforbidden = [{{ job = ['nurse', 'clerk'], name = 'Ada' }}]\n{CROSSING}")],
            'no cell with the level "Ada"',
        ),
        (
            [("{name} works", "{name} {size} works"), (JOBS, f"{JOBS}\nsize = [1, 2]")],
            'not used in the template "short"',
        ),
        ([("[questions.rating]", "[scales]\ncalm = ['Ada']\n[questions.rating]")], 'levels of the factor "item"'),
        ([("[[models]]", "[simulation]\nutilities = { gendre = { man = 1 } }\n[[models]]")], 'no factor "gendre"'),
        ([("[[models]]", "[simulation]\nrefusals = { gender = { man = 2 } }\n[[models]]")], "from 0 to 1"),
        ([("[[models]]", "[personas]\nplace = 'above'\nx = 'You'\n[[models]]")], '"above"'),
    ],
)
def test_what_a_study_can_not_be_is_a_sentence(changes: list[tuple[str, str]], said: str, tmp_path: Path) -> None:
    file = write_audit(tmp_path / "shops", *changes)
    found = run_collect("studies", "validate", file)
    assert (found.exit_code, "Traceback" in found.output) == (2, False)
    assert said in found.stderr


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("level,gender\nAda,woman\nAda,man\n", "is given twice"),
        ("level,gender\nAda,\n", 'no usable value in the column "gender"'),
        ("level,gender\nA\\da,woman\n", "can't be called"),
        ("nom,gender\nAda,woman\n", 'lacks the column "level"'),
        ("level,gender!\nAda,woman\n", "can't be the name of a factor"),
    ],
)
def test_a_file_of_levels_is_checked_too(names: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SlantError, match=re.escape(said)):
        audit(tmp_path, names=names)


def test_more_than_ten_million_cells_are_refused_before_any_is_made(tmp_path: Path) -> None:
    shown = "".join(f"{{f{n}}} " for n in range(8))
    changes = [("{name} works", f"{{name}} {shown}works"), ("{name}:", f"{{name}} {shown}:"), (JOBS, f"{JOBS}\n{MANY}")]
    with pytest.raises(SlantError, match=re.escape("3,200,000,000 cells")):
        audit(tmp_path, *changes)


def test_validating_says_what_difference_a_models_answers_would_find(tmp_path: Path) -> None:
    """Of 16 answers to a question 8 have each job: (1.96 + 0.84) √(2 / 8)."""
    result = run_collect("studies", "validate", write_audit(tmp_path))
    assert "standard deviations: name 1.98, gender 1.40, job 1.40. If answers are correlated" in result.output


def test_a_full_crossing_asks_each_cell_in_each_template_once(tmp_path: Path) -> None:
    study = audit(tmp_path)
    planned = trials(study)
    assert len(planned) == planned_count(study) == 4 * 2 * 2 * 2
    assert len({(trial.test, trial.condition, trial.item) for trial in planned}) == len(planned)
    assert len({trial.trial_id for trial in trials(study, repetitions=3)}) == 3 * len(planned)
    assert Counter(trial.test for trial in planned[:16])["rating"] not in (0, 16)  # questions take turns


def test_a_plan_is_the_same_every_time_and_its_order_follows_the_seed(tmp_path: Path) -> None:
    study = audit(tmp_path, text=PAIRS)
    one, other = trials(study, seed=1), trials(study, seed=2)
    assert one == trials(study, seed=1)
    assert [trial.item for trial in one] != [trial.item for trial in other]
    assert {(t.item, *t.factors["levels"]) for t in one} == {(t.item, *t.factors["levels"]) for t in other}


def test_what_was_shown_is_kept_and_is_what_was_sent(tmp_path: Path) -> None:
    study = audit(tmp_path, text=PAIRS)
    for trial in trials(study):
        shown, text = trial.factors, sent(study, trial)
        profiles = [shown["levels"][:3], shown["levels"][3:]]
        parts = text.split("Person 2\n")
        for levels, part in zip(profiles, (parts[0], parts[1].split("\n\n")[0]), strict=True):
            listed = [line.split(": ")[1] for line in part.splitlines() if line.startswith("- ")]
            assert listed == [levels[shown["names"].index(name)] for name in shown["order"]]
        assert profiles[0] != profiles[1]
        assert all(levels[2] != "doctor" or levels[1] == "college" for levels in profiles)


def test_the_share_of_a_level_under_forbidden_combinations_is_exact(tmp_path: Path) -> None:
    study = audit(tmp_path, text=PAIRS)
    shares = dict(zip(study.data.cells.factors[2].levels_of("job"), study.data.cells.shares[2], strict=True))
    assert shares == {"cleaner": 6 / 8, "doctor": 2 / 8}
    assert study.data.cells.n == 8
    assert {study.data.cells.cell(number) for number in range(8)} == {
        cell
        for cell in ((g, e, j) for g in range(2) for e in range(3) for j in range(2))
        if cell[1:] not in ((0, 1), (1, 1))
    }


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.integers(1, 60), st.integers(0, 10**6))
def test_balanced_cells_have_each_level_equally_often(sizes: list[int], n: int, seed: int) -> None:
    factors = tuple(
        Factor(f"f{no}", "", tuple(Level(str(level), {"": str(level)}) for level in range(size)))
        for no, size in enumerate(sizes)
    )
    drawn = make_cells(factors, [], "here").balanced(n, random.Random(seed))
    for place, size in enumerate(sizes):
        counts = Counter(cell[place] for cell in drawn)
        assert max(counts.values()) - min(counts.get(level, 0) for level in range(size)) <= 1


def test_a_large_study_is_planned_without_being_listed(tmp_path: Path) -> None:
    numbers = ", ".join(map(str, range(6500)))
    study = audit(tmp_path, (JOBS, f"job = [{numbers}]"), ("max = 5", "max = 5\ndirection = 'both'"))
    tasks = Tasks(study.data, study.seed)
    assert len(tasks) == planned_count(study) == 4 * 6500 * 2 * 3
    first = next(iter(plan(study, study.models[0]))).trials[0]
    assert sent(study, first).startswith(first.factors["levels"][0])


def test_a_reversed_scale_is_read_as_the_study_lists_it(tmp_path: Path) -> None:
    study = audit(tmp_path, ("max = 5", 'max = 5\ndirection = "both"'))
    of_rating = [trial for trial in trials(study) if trial.test == "rating"]
    assert Counter(trial.factors["directions"][0] for trial in of_rating) == {"forward": 16, "reversed": 16}
    for trial in of_rating:
        is_reversed = trial.factors["directions"] == ["reversed"]
        assert ("from 1 (good) to 5 (bad)" in sent(study, trial)) == is_reversed
        reading = study.design.reads.read(study, trial, Reply(answer="2"))
        assert reading.factors["values"] == (["4"] if is_reversed else ["2"])
        assert study.design.reads.read(study, trial, Reply(answer="Good")).factors["values"] == ["5"]


@pytest.mark.parametrize(
    ("answer", "outcome", "values", "outcomes"),
    [
        ('{"choice": "Person 2", "fit_1": 3, "fit_2": "7"}', "answered", ["2", "3", "7"], ["answered"] * 3),
        ('{"choice": 1, "fit_1": 3.5, "fit_2": null}', "answered", ["1", "", ""], ["answered", *["malformed"] * 2]),
        ('{"choice": "both", "fit_1": 8}', "malformed", ["", "", ""], ["malformed"] * 3),
        ('{"fit": 3}', "malformed", ["", "", ""], ["malformed"] * 3),
        ('{"choice": 1, "choice": 2}', "malformed", ["", "", ""], ["malformed"] * 3),
        ("I'm sorry, I can't compare people.", "refused", ["", "", ""], ["refused"] * 3),
        ("1", "malformed", ["", "", ""], ["malformed"] * 3),
        ('{"choice": ' + "[" * 5000, "malformed", ["", "", ""], ["malformed"] * 3),
    ],
)  # fmt: skip
def test_several_questions_in_one_answer_are_read_each_by_itself(
    answer: str, outcome: str, values: list[str], outcomes: list[str], tmp_path: Path
) -> None:
    study = audit(tmp_path, text=PAIRS)
    reading = study.design.reads.read(study, trials(study)[0], Reply(answer=answer))
    assert (reading.outcome, reading.factors) == (outcome, {"values": values, "outcomes": outcomes})


def test_an_outcome_of_the_provider_wins_and_nothing_is_read(tmp_path: Path) -> None:
    study = audit(tmp_path)
    reading = study.design.reads.read(study, trials(study)[0], Reply(answer="4", outcome="filtered"))
    assert (reading.outcome, reading.factors) == ("filtered", {})


def test_a_persona_is_the_system_message_or_comes_before_the_text(tmp_path: Path) -> None:
    study = audit(tmp_path, text=PAIRS)
    conversations = list(plan(study, study.models[0]))
    firsts = [study.design.asks.first(study, study.models[0], conversation) for conversation in conversations]
    roles = Counter((trial.group, len(prompt.messages)) for trial, prompt in firsts)
    assert roles == {("nobody", 1): 40, ("farmer", 2): 40}
    before = audit(tmp_path, ("[personas]", '[personas]\nplace = "user"'), text=PAIRS)
    begins = [sent(before, trial).startswith("You are a farmer.\n\nTwo") for trial in trials(before)]
    assert (begins.count(True), begins.count(False)) == (40, 40)


def test_questions_in_turns_are_one_conversation_that_goes_on_after_a_refusal(tmp_path: Path) -> None:
    study = audit(tmp_path, (CROSSING, f'[crossing]\nquestions = "in_turns"\n{CROSSING}'))
    conversation = next(iter(plan(study, study.models[0])))
    assert [trial.test for trial in conversation.trials] == ["rating", "hire"]
    assert planned_count(study) == 32 == len(trials(study))
    trial, prompt = study.design.asks.first(study, study.models[0], conversation)
    assert "works as" in prompt.messages[0]["content"] or ": a" in prompt.messages[0]["content"]
    assert (
        sent(study, conversation.trials[1]) == f"Would you hire {trial.factors['levels'][0]}?\nAnswer with yes or no."
    )


def test_an_edit_of_one_level_asks_only_its_own_prompts_again(tmp_path: Path) -> None:
    before = {trial.trial_id for trial in trials(audit(tmp_path / "a"))}
    after = {trial.trial_id for trial in trials(audit(tmp_path / "a", ('"a nurse"', '"a trained nurse"')))}
    assert len(before & after) == len(before) / 2


def test_items_have_scales_and_keys_inline_or_from_their_file(tmp_path: Path) -> None:
    items = 'item = ["tidy", "messy"]'
    changes = [
        (JOBS, items), ("as {job}", "{item}"), ("{job}", "{item}"),
        ("[questions.rating]", '[scales]\norder = ["tidy", "-messy"]\n\n[questions.rating]'),
    ]  # fmt: skip
    study = audit(tmp_path, *changes)
    shown = {tuple(trial.factors["levels"][-3:]) for trial in trials(study)}
    assert shown == {("tidy", "order", "1"), ("messy", "order", "-1")}


def test_a_study_that_a_person_writes_is_25_lines(tmp_path: Path) -> None:
    lines = [line for line in STUDY.splitlines() if line.strip()]
    assert len(lines) <= 25
    assert load_study(write_audit(tmp_path)).title == "Shops"


@pytest.mark.slow
@both
def test_a_batch_job_asks_personas_and_reads_answers_given_together(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with BatchServer() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        batch = Batching(tmp_path, server)
        batch.study = str(write_audit(tmp_path / "pairs", text=PAIRS))
        server.answer = lambda body: '{"choice": "Person 2", "fit_1": 3, "fit_2": 6}'
        server.finishes_at_once = True
        batch(provider, wait=True)
        counts = "SELECT position, persona, count(*), sum(chosen) FROM factorial_profiles"
        chosen = f"{counts} WHERE question = 'choice' GROUP BY ALL"
        assert sorted(batch.rows(chosen)) == [
            (1, "farmer", 40, 0), (1, "nobody", 40, 0), (2, "farmer", 40, 40), (2, "nobody", 40, 40)
        ]  # fmt: skip
        rated = "SELECT DISTINCT position, rating FROM factorial_profiles WHERE question = 'fit' ORDER BY ALL"
        assert batch.rows(rated) == [(1, 3), (2, 6)]
