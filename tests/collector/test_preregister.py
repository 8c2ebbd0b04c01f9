"""`collect preregister`: the text that is fixed before the data, and runs that keep it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect, load_study, preregister, read_registration
from slant.collector.errors import UsageError
from slant.collector.registration.canonical import FORMAT, parsed_json, parsed_registration, registration_of
from slant.collector.registration.document import is_eligible
from slant.collector.studies.stored_texts import kept_registrations
from tests.support.commands import run_collect
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

MODEL = ("simulated/small",)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_tiny(tmp_path_factory.mktemp("study")))


@pytest.fixture(scope="module")
def pilot(tiny: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    db = tmp_path_factory.mktemp("pilot") / "pilot.duckdb"
    collect(db, tiny, MODEL, pilot=4)
    return db


@pytest.fixture(scope="module")
def registered(tiny: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All answers, from a run that was given its registration, r.json next to it."""
    folder = tmp_path_factory.mktemp("registered")
    (folder / "r.json").write_text(preregister(tiny, MODEL).text, "utf-8")
    more = ("--registration", folder / "r.json", "--db", folder / "a.duckdb")
    said = run_collect("--study", tiny, "--simulated", *more).stderr
    assert ("As registered (SHA-256 " in said, "Not as registered" in said) == (True, False)
    return folder / "a.duckdb"


def document(tiny: str, **choices: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(preregister(tiny, MODEL, **choices).text)
    return found


def test_the_printed_hash_is_that_of_the_files_bytes(tiny: str, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    result = run_collect("preregister", "--study", tiny, "--simulated", "--out", out)
    assert result.stdout == f"{hashlib.sha256(out.read_bytes()).hexdigest()}  {out}\n"
    assert run_collect("preregister", "--study", tiny, "--simulated", "--out", out).stdout == result.stdout
    other = run_collect("preregister", "--study", tiny, "--simulated", "--seed", 9, "--out", out)
    assert (other.exit_code, "registers something else" in other.stderr) == (2, True)


def test_it_says_what_is_asked_and_how_it_is_analysed(tiny: str) -> None:
    found = document(tiny, looks_at=[4], exclusions=["Under 5 tokens"], eligible=["openai/o*"], rule="The next one.")
    (plan,) = found["plans"]
    assert (plan["seed"], plan["trials_per_model"], plan["tests"]) == (0, 8, {"tea_coffee": 8})
    assert found["study"]["version"] == load_study(tiny).version
    assert len(found["prompts"][plan["models"][0]["prompts"]]) == 8
    assert [(fit["name"], fit["formula"]) for fit in found["fits"]] == [("lme4", "tokens ~ (1 | wording)")]
    assert found["looks"] == {"planned": 2, "at": [4, 8]}
    assert found["exclusions"]["rules"] == ["Under 5 tokens"]
    assert found["later_models"] == {"eligible": ["openai/o*"], "rule": "The next one."}


def test_its_prompts_are_those_that_are_sent(tiny: str, registered: Path) -> None:
    sent = {row[0] for row in rows_in(registered, "SELECT prompt_hash FROM attempts")}
    (hashes,) = document(tiny)["prompts"].values()
    assert set(hashes) == sent


def test_a_machine_without_keys_registers_the_same_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    without = preregister("ultimatum")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    assert preregister("ultimatum") == without


def test_games_that_hold_earlier_answers_say_why_they_have_no_prompts() -> None:
    found = json.loads(preregister("hiring", ["openai/gpt-4o"], variants=["success_elicited", "base"]).text)
    lacking = [m for plan in found["plans"] for m in plan["models"] if m["prompts"] is None]
    assert [plan["variant"] for plan in found["plans"]] == ["success_elicited", "main"]
    assert ["another variant" in model["why_no_prompts"] for model in lacking] == [True]


def test_a_pilot_adds_the_numbers_that_the_plan_was_made_with(tiny: str, pilot: Path) -> None:
    found = document(tiny, pilot=pilot)["pilot"]
    assert (found["trials"], sum(cell["n"] for cell in found["cells"])) == (4, 4)
    assert {cell["condition"] for cell in found["cells"]} == {"compatible", "incompatible"}
    (expected,) = found["expected"]
    mean = rows_in(pilot, "SELECT avg(output_tokens) FROM trials")[0][0]
    assert (expected["trials"], expected["output_tokens"]) == (8, round(8 * mean))


def test_a_database_without_answers_is_no_pilot(tiny: str, pilot: Path) -> None:
    result = run_collect("preregister", "--study", "ultimatum", "--from", pilot, "--out", pilot.parent / "x.json")
    assert (result.exit_code, "is no pilot of it" in result.stderr) == (1, True)
    assert not (pilot.parent / "x.json").exists()


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"looks_at": [8]}, "the plan has 8 of each model"),
        ({"fits": ["lm4"]}, 'Did you mean "lme4"'),
        ({"eligible": ["gpt; DROP"]}, "no pattern"),
        ({"pilot": "nowhere.duckdb"}, "no database .* of a pilot"),
    ],
)
def test_what_can_not_be_kept_is_not_registered(tiny: str, choice: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        preregister(tiny, MODEL, **choice)


def test_a_run_keeps_the_registration_it_is_given(tiny: str, registered: Path) -> None:
    kept = rows_in(registered, "SELECT registration FROM runs")
    registration = read_registration(registered.parent / "r.json")
    assert kept == [(registration.sha256,)]
    assert kept_registrations(registered, "drinks") == [registration] == [preregister(tiny, MODEL)]


@pytest.mark.slow
def test_a_registration_that_comes_after_all_answers_is_kept_too(tiny: str, registered: Path) -> None:
    later = preregister(tiny, MODEL, exclusions=["Under 5 tokens"])
    (registered.parent / "later.json").write_text(later.text, "utf-8")
    more = ("--simulated", "--registration", registered.parent / "later.json", "--db", registered)
    assert "Nothing to ask" in run_collect("--study", tiny, *more).stderr
    assert kept_registrations(registered, "drinks")[0] == later


def test_what_is_not_as_registered_is_said_before_anybody_is_asked(tiny: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(preregister(tiny, ["openai/o3-mini"]).text, "utf-8")
    more = ["--simulated", "--seed", 5, "--repetitions", 2, "--variant", "base", "--dry-run", "--db", tmp_path / "a"]
    said = run_collect("--study", tiny, "--registration", tmp_path / "r.json", *more).stderr
    assert "Not as registered: the seed is 5, registered is 0." in said
    assert "asked 2 times, registered is 1" in said
    assert "simulated/small is neither registered nor eligible" in said
    wrong = run_collect("--study", "ultimatum", "--simulated", "--registration", tmp_path / "r.json", "--dry-run")
    assert (wrong.exit_code, 'of the study "drinks"' in wrong.stderr) == (2, True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data + b"\n", "it was changed"),
        (lambda data: data.replace(b'"seed":0', b'"seed":"0x1"'), "no whole number"),
        (lambda data: data.replace(FORMAT.encode(), b"another"), "format"),
        (lambda data: data.replace(b'"plans":[', b'"plans":[7,'), "a plan has no"),
        (lambda data: b"[" * 100_000, "no JSON"),
        (lambda data: b"\xff\xfe", "no JSON"),
    ],
)
def test_a_file_that_is_no_registration_is_refused_in_a_sentence(tiny: str, change: Any, words: str) -> None:
    data = preregister(tiny, MODEL).text.encode()
    with pytest.raises(UsageError, match=words):
        parsed_registration(change(data), "r.json")


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.dictionaries(st.text(max_size=5), FINITE | st.text(max_size=5) | st.booleans(), max_size=5))
def test_a_text_is_canonical_whatever_the_order_it_was_made_in(values: dict[str, Any]) -> None:
    turned = dict(reversed(values.items()))
    made = [registration_of({"study": {"name": "a"}, "values": one}) for one in (values, turned)]
    assert made[0] == made[1]
    assert parsed_json(made[0].text)["values"] == values


@given(st.text(alphabet="abc/-.", min_size=1))
def test_a_pattern_of_a_star_takes_every_model_of_its_provider_and_no_other(name: str) -> None:
    assert is_eligible(f"openai/{name}", ["openai/*"])
    assert not is_eligible(f"other/{name}", ["openai/*"])
