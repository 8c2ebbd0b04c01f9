"""Studies as labs have them: texts to the byte, documents and their edits as levels, answers in a form of one's own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.ask.run_warnings import Endings
from slant.collector.designs.factorial.texts import user_text
from slant.collector.errors import SlantError, StudyError
from slant.collector.reading.forms import AnswerForm, UnreadForm
from slant.collector.records import Reply, Trial
from slant.collector.studies.catalogue import load_study

HEAD = 'name = "lab"\ntitle = "A lab"\ndesign = "factorial"\n'
MODEL = '[[models]]\nmodel = "gpt-6-luna"\nprovider = "openai"\n'
RATING = 'questions.rating = { kind = "scale", min = 1, max = 10 }\n'
LIST = """
factors.resume = { files = "resumes/*.txt" }
factors.advert = { files = "adverts/*.txt" }
factors.name = ["Ana Ruiz", "Mei Lin", "Tom Berg"]
templates.plain = { file = "template.txt" }
crossing.questions = "together"
answer.form = "list"
questions.experience = { kind = "number", min = 0, max = 25 }
questions.skills = { kind = "number", min = 0, max = 25 }
questions.fit = { kind = "number", min = 0, max = 25 }
questions.promise = { kind = "number", min = 0, max = 25 }
"""
JSON = """
factors.name = ["Ann", "Jan"]
templates.plain = "{name} applies. Answer in JSON."
crossing.questions = "together"
answer.form = "json"
answer.path.s1 = "scores[0]"
answer.path.s2 = "scores[1]"
answer.path.s3 = "scores[2]"
answer.path.hire = "assessment.hire"
answer.path.reason = "assessment.reason"
questions.s1 = { kind = "scale", min = 1, max = 7 }
questions.s2 = { kind = "scale", min = 1, max = 7 }
questions.s3 = { kind = "scale", min = 1, max = 7 }
questions.check = { kind = "yes_no" }
questions.hire = { kind = "yes_no" }
questions.reason = { kind = "text" }
"""
EDITS = """
factors.document = { files = "document.txt" }
factors.edit = { of = "document", file = "edits.csv" }
templates.plain = { file = "template.txt" }
answer = { form = "after", after = "ANSWER:" }
"""


def study_of(folder: Path, text: str, **files: str) -> Any:
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content.encode())
    (folder / "study.toml").write_text(HEAD + text + MODEL, "utf-8")
    return load_study(folder / "study.toml")


def trials_of(study: Any) -> list[Trial]:
    plan = study.design.asks.plan(study, study.models[0], study.seed)
    return [trial for number, place in enumerate(plan.places(1)) for trial in plan.conversation(place, number).trials]


def prompts_of(study: Any) -> list[str]:
    return [user_text(study.data, trial.factors) for trial in trials_of(study)]


def read(study: Any, answer: str) -> list[str | None]:
    """Return the value of each question, or the outcome of an answer without any."""
    trial = trials_of(study)[0]
    reading = study.design.reads.read(study, trial, Reply(answer=answer))
    if reading.outcome != "answered":
        return [reading.outcome] * len(trial.factors["questions"])
    return [value or None for value in reading.factors["values"]]


def copied(case: Path, folder: Path) -> Path:
    for file in case.rglob("*"):
        if file.is_file() and "prompts" not in file.parts:
            (folder / file.relative_to(case)).parent.mkdir(parents=True, exist_ok=True)
            (folder / file.relative_to(case)).write_bytes(file.read_bytes())
    return folder


@pytest.mark.parametrize(("case", "text"), [("a_list", LIST), ("c_edits", EDITS + RATING)])
def test_prompts_equal_the_labs_to_the_byte(shared: Path, tmp_path: Path, case: str, text: str) -> None:
    folder = shared / "cases" / "own_form" / case
    study = study_of(copied(folder, tmp_path), text)
    expected = sorted(file.read_bytes() for file in (folder / "prompts").iterdir())
    assert sorted(prompt.encode() for prompt in prompts_of(study)) == expected


@pytest.mark.parametrize(("case", "text"), [("a_list", LIST), ("b_json", JSON), ("c_edits", EDITS + RATING)])
def test_answers_in_a_labs_form_are_read_as_the_lab_reads_them(
    shared: Path, tmp_path: Path, case: str, text: str
) -> None:
    study = study_of(copied(shared / "cases" / "own_form" / case, tmp_path), text)
    names = list(study.data.questions)
    wrong = []
    for line in (shared / "cases" / "own_form" / case / "answers.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        want = row["expected"]
        if want is None or isinstance(want, str):
            want = [want or "malformed"] * len(names)
        elif isinstance(want, dict):
            want = [want[name] for name in names]
        want = want if isinstance(want, list) else [want]
        if (got := read(study, row["answer"])) != [None if value is None else str(value) for value in want]:
            wrong.append((row, got))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('factors.edit = { of = "letter", file = "edits.csv" }', "exactly once"),
        ('factors.edit = { of = "lettre", file = "edits.csv" }', 'Did you mean "letter"?'),
        ('factors.other = { files = "*.text" }', "no file in"),
        ('factors.other = { files = "../*.txt" }', "outside the folder"),
        ('factors.other = { files = ["letter.txt", "sub/letter.txt"] }', "given twice"),
        ('answer = { factor = "lettre", forms = {} }', 'Did you mean "letter"?'),
        ('answer = { form = "lst" }', 'Did you mean "list"?'),
        ('answer = { form = "json", path = { ratng = "a" } }', 'Did you mean "rating"?'),
        ('answer = { form = "json", path = "a[b" }', "can't be followed"),
        ('answer = { form = "pattern", pattern = "(?<rating>", example = "1" }', "The pattern of"),
        ('answer = { form = "pattern", pattern = "(\\\\d+)", example = "{rating}" }', 'no group for "rating"'),
        ('answer = { form = "pattern", pattern = "=(?<rating>.)", example = "{rating}" }', "its own example"),
        ('factors.tone = { levels = { a = "in {mood}" } }\nfactors.mood = { levels = { b = "{tone}" } }', "each other"),
    ],
)
def test_what_a_form_or_a_document_can_not_be_is_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "letter.txt").write_text("Sir", "utf-8")
    files = {"letter__txt": "Dear Ann, dear Bo", "edits__csv": "edit,find,replace\nname,dear,Dear\nname,ea,e\n"}
    with pytest.raises(SlantError, match=said.replace("?", r"\?")):
        study_of(tmp_path, BASE + text + "\n" + RATING, **files)


BASE = 'factors.letter = { files = "letter.txt" }\ntemplates.plain = "{letter}"\n'


def test_a_placebo_that_changes_nothing_is_refused_unless_it_is_declared(tmp_path: Path) -> None:
    levels = 'factors.letter = { levels = { baseline = "I apply.", copy = "I apply." }EQUAL }\n'
    text = levels + 'templates.plain = "{letter}"\n' + RATING
    with pytest.raises(StudyError, match=r'equal = \["baseline", "copy"\]'):
        study_of(tmp_path, text.replace("EQUAL", ""))
    declared = study_of(tmp_path, text.replace("EQUAL", ', equal = ["baseline", "copy"]'))
    assert declared.design.remarks(declared)


def test_cells_whose_prompts_are_the_same_as_sent_are_refused(tmp_path: Path) -> None:
    text = 'factors.job = ["nurse", "clerk"]\nfactors.who = { levels = { a = "Ann, {job}", b = "Bo" } }\n'
    study = study_of(tmp_path, text + 'templates.plain = "{who}"\n' + RATING)
    with pytest.raises(StudyError, match=r'"nurse, b, plain" and "clerk, b, plain"'):
        study.design.remarks(study)


def test_braces_of_files_and_levels_are_text_but_for_names_of_factors(tmp_path: Path) -> None:
    text = 'factors.name = { levels = { a = "{Ann}", b = "Bo" } }\ntemplates.plain = { file = "t.txt" }\n'
    study = study_of(tmp_path, text + RATING, t__txt='\ufeff{"id": {name}, "x": {}}{question}{nobody}')
    asked = "Answer with one number from 1 to 10."
    assert prompts_of(study)[0] in {f'{{"id": {who}, "x": {{}}}}{asked}{{nobody}}' for who in ("{Ann}", "Bo")}


def test_trim_takes_white_space_off_each_text(tmp_path: Path) -> None:
    text = 'factors.name = { levels = { a = " Ann ", b = "Bo\\n" } }\ntemplates.plain = "\\n{name}\\n\\n\\nworks. "\n'
    question = 'questions.rating = { kind = "scale", text = " Rate. ", answer = "" }\n'
    ends = {bool(trim): prompts_of(study_of(tmp_path, trim + text + question)) for trim in ("", "trim = true\n")}
    assert sorted(ends[False]) == ["\n Ann \n\n\nworks. \n\n Rate. ", "\nBo\n\n\n\nworks. \n\n Rate. "]
    assert sorted(ends[True]) == ["Ann\n\n\nworks.\n\nRate.", "Bo\n\n\nworks.\n\nRate."]


FORMS_AS_A_FACTOR = """
factors.form = { levels = { tag = "Use <rating>.", after = "End with Final score: n", json = "JSON." } }
templates.plain = "Rate. {form}"
answer.factor = "form"
answer.forms.tag = { form = "tag" }
answer.forms.after = { form = "after", after = "Final score:" }
answer.forms.json = { form = "json" }
"""


def test_the_form_of_an_answer_can_be_a_factor(tmp_path: Path) -> None:
    study = study_of(tmp_path, FORMS_AS_A_FACTOR + RATING)
    answers = {"tag": "<rating>4</rating>", "after": "**Final score:** 4/10", "json": '{"rating": 4}'}
    for trial in trials_of(study):
        level = trial.factors["levels"][0]
        for form, answer in answers.items():
            reading = study.design.reads.read(study, trial, Reply(answer=answer))
            assert reading.choice == ("4" if form == level else None), (level, form)


def test_questions_that_are_not_read_are_said_at_the_end_of_a_run(tmp_path: Path) -> None:
    study = study_of(tmp_path, JSON)
    trial, endings, other = trials_of(study)[0], Endings(), Endings()
    for answer in (
        '{"scores": [4]}',
        '{"scores": [1, 2, 3], "check": true, "assessment": {"hire": false, "reason": "x"}}',
    ):
        endings.count_questions(study.design.reads.read(study, trial, Reply(answer=answer)))
        other.add(json.loads(json.dumps(endings.as_message())))
        endings = Endings()
    assert other.notes("openai", "gpt-5") == ["gpt-5: 5 of 12 questions were not read, in 1 of 2 answered trials."]
    other.unread = Counter({(19, 17): 40})
    assert other.notes("openai", "gpt-5") == ["gpt-5: 17 of 19 questions of each trial were not read."]


FORMS = {
    "list": AnswerForm("list"),
    "json": AnswerForm("json", {"a": "x.y[1]", "b": "x.y[0].z"}),
    "after": AnswerForm("after", {"a": "First:", "b": "Then"}),
    "tag": AnswerForm("tag", {"a": "one", "b": "two"}),
    "pattern": AnswerForm("pattern", {}, r"A=(?<a>\d+); B=(?<b>\d+)", "A={a}; B={b}"),
}


@given(st.sampled_from(sorted(FORMS)), st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_form_reads_what_it_writes(form: str, a: int, b: int) -> None:
    answer = FORMS[form].written({"a": a, "b": b})
    assert FORMS[form].texts(answer, ["a", "b"], [False, False]) == [(str(a),), (str(b),)]


def test_a_list_may_have_any_of_the_usual_bullets() -> None:
    found = {bullet: FORMS["list"].texts(f"{bullet} 1\n{bullet} 2", ["a", "b"], [False, False]) for bullet in "-*•"}
    assert all(texts == [("1",), ("2",)] for texts in found.values()), found


@given(st.sampled_from(sorted(FORMS)), st.text(st.sampled_from('[{<>}]",:;.=AB12one \n*-/'), max_size=60))
def test_no_answer_breaks_a_form(form: str, answer: str) -> None:
    try:
        found = FORMS[form].texts(answer, ["a", "b"], [False, True])
    except UnreadForm:
        return
    assert len(found) == 2


def test_a_pattern_that_would_backtrack_for_ever_ends() -> None:
    form = AnswerForm("pattern", {}, r"(?<a>(x+x+)+y)", "xxy")
    with pytest.raises(UnreadForm):
        form.texts("x" * 50_000, ["a"], [True])


ONE_AT_A_TIME = """
factors.document = { files = "document.txt" }
factors.edit = { of = "document", file = "edits.csv" }
factors.tone = ["kind", "curt"]
factors.advert = ["clerk", "driver", "cook"]
templates.plain = "In a {tone} tone, for a {advert}: {document}"
crossing = { kind = "one_at_a_time", material = ["advert", "document"], placebo = ["placebo"], bound = 0.5 }
"""


def test_one_change_at_a_time_is_made_of_each_material(shared: Path, tmp_path: Path) -> None:
    study = study_of(copied(shared / "cases" / "own_form" / "c_edits", tmp_path), ONE_AT_A_TIME + RATING)
    shown = [dict(zip(t.factors["names"], t.factors["levels"], strict=True)) for t in trials_of(study)]
    changes = Counter((levels["edit"], levels["tone"]) for levels in shown)
    singles = [("name", "kind"), ("address", "kind"), ("car", "kind"), ("placebo", "kind"), ("baseline", "curt")]
    assert changes == dict.fromkeys([("baseline", "kind"), *singles], 3)
    fit = study.design.analyses.fits(study)["paired"]
    assert fit.settings == {
        "attributes": ["edit", "tone"], "material": ["advert", "document"], "placebo": ["placebo"], "bound": 0.5,
    }  # fmt: skip


def test_a_crossing_of_one_change_at_a_time_needs_a_material_and_known_placebos(tmp_path: Path) -> None:
    base = 'factors.a = ["x", "y"]\nfactors.b = ["u", "v"]\ntemplates.plain = "{a} {b}"\n' + RATING
    for crossing, said in (
        ('{ kind = "one_at_a_time" }', '"material"'),
        ('{ material = ["b"] }', "one_at_a_time"),
        ('{ kind = "one_at_a_time", material = ["c"] }', '"c"'),
        ('{ kind = "one_at_a_time", material = ["b"], bound = 0 }', "above 0"),
        ("{ bound = 0.5 }", "one_at_a_time"),
        ('{ kind = "one_at_a_time", material = ["b"], placebo = ["x"] }', '"x"'),
    ):
        with pytest.raises(SlantError, match=said):
            study_of(tmp_path, f"{base}crossing = {crossing}\n")
