"""Study files: what is read, and what is refused, with one clear sentence. CSVs are read as spreadsheets save them:
what separates cells, and what is left empty, changes no row."""

from __future__ import annotations

import csv
import io
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant.collector.designs.association.simulated import COLUMNS
from slant.collector.errors import StudyError, UnknownNameError, UsageError
from slant.collector.plan.conversations import plan, planned_count
from slant.collector.studies.catalogue import list_studies, load_study, with_variant
from slant.collector.study.folder import StudyFolder
from slant.collector.study.toml_table import Table
from tests.support.each_row import each_row
from tests.support.tiny_study import TEXTS, TINY, write_tiny


def test_rmiat_comes_with_slant_and_has_what_the_paper_says() -> None:
    study = load_study("rmiat")
    assert "rmiat" in list_studies()
    assert [test.planned for test in study.tests] == [2000, 2000, 3000, 1440, 1440, 640, 640, 640, 480, 640]
    assert sum(len(words) for test in study.data.tests.values() for words in test.words.values()) == 617
    assert len(study.data.wordings) == 20
    assert [m.model for m in study.models if not m.asked_by_default] == ["deepseek-r1-pilot"]
    assert len(study.models) == 6


def test_claude_is_asked_with_the_papers_thinking_budget() -> None:
    claude = load_study("rmiat").model("claude-3.7-sonnet")
    assert claude.requested_model == "claude-3-7-sonnet-20250219"
    assert claude.settings == {"max_tokens": 5020, "thinking": {"type": "enabled", "budget_tokens": 5000}}
    assert claude.measure == "output"


def test_the_studys_tables_are_those_of_the_published_tables(shared: Path) -> None:
    ours = load_study("rmiat").path.parent / "rmiat" / "frames.csv"
    assert ours.read_text().split() == (shared / "published" / "prompt_frames.csv").read_text().split()


@each_row(
    ("spec", "found"),
    [
        *((spec, ("o3-mini", "openai", "o3-mini", "api", "reasoning")) for spec in ("o3-mini", "openai/o3-mini")),
        ("simulated/qwen3-8b", ("qwen3-8b", "simulated", "qwen3-8b", "local", "reasoning")),
        ("together/meta-llama/L-4", ("together/meta-llama/L-4", "together", "meta-llama/L-4", "api", None)),
    ],
)
def test_a_model_goes_by_its_id_or_its_provider_and_keeps_what_the_study_says_of_it(spec: str, found: object) -> None:
    model = load_study("rmiat").model(spec)
    assert (model.model, model.provider, model.requested_model, model.frame, model.measure) == found


@pytest.mark.parametrize("spec", ["o3mini", "simulated/o3mini"])
def test_an_unknown_bare_model_names_the_nearest(spec: str) -> None:
    with pytest.raises(UnknownNameError, match='Did you mean "o3-mini"'):
        load_study("rmiat").model(spec)


def test_an_unknown_study_or_variant_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r'no study "rmait"\. Did you mean "rmiat"'):
        load_study("rmait")
    with pytest.raises(UnknownNameError, match='Did you mean "balanced"'):
        with_variant(load_study("rmiat"), "ballanced")


def test_a_study_of_ones_own_is_read_by_path(tmp_path: Path) -> None:
    study = load_study(str(write_tiny(tmp_path)))
    assert (study.name, study.variants, study.tests[0].planned) == ("drinks", ("base", "balanced"), 8)
    assert with_variant(study, "balanced").data.option_order == "balanced"
    assert with_variant(with_variant(study, "balanced"), "base") == study


WRONG_TOML = [
    (("frame =", "fraem ="), 'no key "fraem" .* Did you mean "frame"'),
    (("title =", 'titel = "x"\ntitle ='), 'no key "titel" .* Did you mean "title"'),
    (("[[models]]", "[[models]]\nlable = 'x'"), 'no key "lable" .* Did you mean "label"'),
    (("view =", "veiw = 'x'\nview ="), 'no key "veiw" .* Did you mean "view"'),
    (("option_order", "option_ordre"), 'no key "option_ordre" .* Did you mean "option_order"'),
    (('"balanced"', '"balancd"'), 'no option_order .* Did you mean "balanced"'),
    (('"association"', '"asociation"'), 'no design "asociation". Did you mean "association"'),
    (("{wording}", ""), r"placeholder \{wording\} is missing"),
    (("{wording}", "{wordign} {wording}"), 'no placeholder "wordign" in .*. Did you mean "wording"'),
    (("{wording}", "{wording.__class__}"), "no placeholder"),
    (("{wording}", "{wording} {"), "brace is left open"),
    (('"drinks"', '"../drinks"'), "can't be called"),
    (('"tea_coffee"', '"tea\'; DROP TABLE"'), "can't be called"),
    (('"small"', '"sm all"'), "can't be called"),
    (('"stimuli.csv"', '"../stimuli.csv"'), "outside the folder"),
    (('"stimuli.csv"', '"/etc/passwd"'), "outside the folder"),
    (('"stimuli.csv"', '"C:\\\\stimuli.csv"'), "outside the folder"),
    (('"stimuli.csv"', '"stimulli.csv"'), "no such file"),
    (('"stimuli.csv"', "12"), "must be the name of a CSV"),
    (("test_no = 1", 'test_no = "one"'), "must be a whole number"),
    (('frame = "plain"\n\n[var', 'frame = "plane"\n\n[var'), 'Did you mean "plain"'),
    (("[variants.balanced.prompt]", "[variants.balanced]\nname = 'x'\n[variants.balanced.prompt]"), "can't change"),
    (("title", "= title"), "it is not TOML"),
    (("title =", "x = " + "[" * 5000 + "\ntitle ="), "it is not TOML"),
    (("title =", "seed = -1\ntitle ="), '"seed" in study.toml must be between'),
    (("[[models]]", "[[models]]\nsettings = {since = 2025-01-01}"), "must be what JSON can say"),
    (("view =", "levels = {condition = ['one']}\nview ="), 'levels of "condition"'),
    (("view =", "levels = {condition = 'ab'}\nview ="), 'levels of "condition"'),
    (("view =", "by = ['model', 'wording']\nview ="), 'can\'t be made by "wording"'),
    (("view =", "by = ['source', 'model']\nview ="), 'can\'t be made by "source"'),
    (("view =", "by = ['model', 'model']\nview ="), "names a column twice"),
    (("view =", "outcome = 'tokens'\ncontrast = 'condition'\nview ="), 'two levels of its contrast "condition"'),
    (('formula = "tokens ~ (1 | wording)"', ""), 'needs the key "formula", or "outcome" and "contrast"'),
    (("view =", "engine = 'lme5'\nview ="), 'no engine for study.toml, .fits.lme4. "lme5". Did you mean "lme4"'),
    (("view =", "engine = 'amce'\nview ="), 'needs the key "outcome" for amce'),
    (("view =", "settings = {ramdom = ['item']}\nview ="), 'Did you mean "random"'),
    (("[variants.balanced.prompt]", "[variants.base.prompt]"), 'can\'t be called "base"'),
    (("{group_a_words} /", "{group_a_words} {attribute_a_named}"), 'lack a value for "attribute_a_named"'),
    (('"stimuli.csv"', '"names.csv"'), 'lacks the column "side"'),
    (("[[models]]", '[[models]]\nmodel="small"\nprovider="local"\nframe="plain"\n[[models]]'), "given twice"),
    (("[[models]]", '[[models]]\nmeasure = "resoning"'), 'Did you mean "reasoning"'),
]


@pytest.mark.parametrize(("change", "sentence"), WRONG_TOML)
def test_a_mistake_in_the_toml_is_one_clear_sentence(tmp_path: Path, change: tuple[str, str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as caught:
        load_study(write_tiny(tmp_path, study=change))
    assert caught.value.exit_code == 2
    assert "\n" not in caught.value.what


def test_the_group_of_a_word_may_be_called_its_category(tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
    ours = load_study(str(write_tiny(tmp_path / "ours")))
    theirs = load_study(str(write_tiny(tmp_path / "theirs", stimuli=("side,group,word", "side,category,word"))))
    assert theirs.data.tests == ours.data.tests
    assert theirs.version == ours.version


WRONG_CSV = [
    ("stimuli", ("latte", "mocha"), 'word "mocha" is in group_b twice'),
    ("stimuli", ("latte", "Mocha"), 'word "Mocha" is in group_b twice'),
    ("stimuli", ("mocha", "sencha"), "both group_a and group_b"),
    ("stimuli", ("latte", "Sencha"), 'The word "Sencha" is in both'),
    ("stimuli", ("latte", "rest"), 'The word "rest" is in both'),
    ("stimuli", ("word", "wrod"), 'lacks the column "word"'),
    ("stimuli", ("group,word", "group,word,colour"), 'no key "colour" in the header'),
    ("stimuli", ("group_a,", "group_c,"), 'Did you mean "group_'),
    ("stimuli", ("Tea,sencha", "Teas,sencha"), "two groups"),
    ("stimuli", ("tea_coffee,attribute_a,Calm,rest\n", ""), "no words for attribute_a"),
    ("stimuli", ("tea_coffee,group_a", "tea_cofee,group_a"), 'Did you mean "tea_coffee"'),
    ("stimuli", ("latte", "latte,more"), "line 5, has more cells"),
    ("stimuli", ("latte", ""), "is empty"),
    ("wordings", ("{word}", "word"), r"placeholder \{word\} is missing in wording 1"),
    ("wordings", ("{category_2}", "{category_3}"), 'Did you mean "category_'),
    ("wordings", ("1,", "one,"), "must be a whole number"),
    ("names", ("Calm,Busy", "Calm,calm"), "same label twice"),
    ("names", ("\nplain,tea_coffee,tea,coffee,,,tea,coffee,Calm,Busy", ""), "has no names in the frame"),
    ("names", ("plain,tea_coffee", "plain,tea_cofee"), 'Did you mean "tea_coffee"'),
    ("names", ("Calm,Busy", "Calm,"), 'lack a value for "label_b"'),
]


@pytest.mark.parametrize(("file", "change", "sentence"), WRONG_CSV)
def test_a_mistake_in_a_csv_is_one_clear_sentence(
    tmp_path: Path, file: str, change: tuple[str, str], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        load_study(write_tiny(tmp_path, **{file: change}))


def test_a_byte_that_is_not_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    path = write_tiny(tmp_path)
    stimuli = tmp_path / "stimuli.csv"
    stimuli.write_bytes(stimuli.read_bytes().replace(b"latte", b"caf\xe9"))
    with pytest.raises(StudyError, match=r"stimuli.csv: line 5 holds a byte that is not UTF-8"):
        load_study(path)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    path = write_tiny(tmp_path / "study")
    os.rename(tmp_path / "study" / "stimuli.csv", tmp_path / "elsewhere.csv")
    (tmp_path / "study" / "stimuli.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(StudyError, match="outside the folder"):
        load_study(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "callers.toml").write_text("")
    with pytest.raises(StudyError, match=r'no study file .*Did you mean ".*callers.toml"'):
        load_study(tmp_path / "calers.toml")
    with pytest.raises(StudyError, match="There is no study file"):
        load_study(str(tmp_path / "none.toml"))


def test_the_version_changes_with_what_is_asked_and_with_nothing_else(tmp_path: Path) -> None:
    version = load_study(write_tiny(tmp_path)).version
    same = [("title =", "# a comment\ntitle ="), ("Tea and", "Tea or"), ("tokens ~", "tokens ~ 1 +"), ("small", "tiny")]
    for change in same:
        assert load_study(write_tiny(tmp_path, study=change)).version == version
    assert load_study(write_tiny(tmp_path, stimuli=("latte", "lungo"))).version != version
    assert load_study(write_tiny(tmp_path, study=("{wording}", "{wording} "))).version != version


def test_other_numbers_to_simulate_from_are_the_same_version(tmp_path: Path) -> None:
    version = load_study(write_tiny(tmp_path)).version
    columns = ",".join(("model", "test", "condition", *COLUMNS))
    (tmp_path / "simulation.csv").write_text(f"{columns}\nsmall,tea_coffee,compatible,9,1,0,1,0,0,0,0,1\n")
    study = load_study(write_tiny(tmp_path, study=("title =", 'simulation = "simulation.csv"\ntitle =')))
    assert study.version == version
    assert study.data.simulation["small", "tea_coffee", "compatible"]["mean_tokens"] == 9


def test_line_ends_and_a_byte_order_mark_do_not_change_the_version(tmp_path: Path) -> None:
    path = write_tiny(tmp_path)
    version = load_study(path).version
    stimuli = tmp_path / "stimuli.csv"
    stimuli.write_bytes(b"\xef\xbb\xbf" + stimuli.read_bytes().replace(b"\n", b"\r\n"))
    path.write_bytes(TINY.replace("\n", "\r\n").encode())
    assert load_study(path).version == version


@settings(max_examples=150, deadline=None)
@given(
    file=st.sampled_from(sorted(TEXTS)), start=st.integers(0, 900), length=st.integers(0, 30), new=st.text(max_size=3)
)
def test_a_study_with_any_damage_is_read_or_refused_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, file: str, start: int, length: int, new: str
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    path = write_tiny(folder)
    damaged = TEXTS[file][:start] + new + TEXTS[file][start + length :]
    (folder / file).write_bytes(damaged.encode("utf-8", "replace"))
    with suppress(UsageError):
        study = load_study(path)
        assert len(list(plan(study, study.model("local/any")))) == planned_count(study)


def test_the_words_that_are_taken_out_before_topics_are_those_of_the_paper_in_its_order(shared: Path) -> None:
    words = load_study("rmiat").fits["stm"].settings["removed_words"]
    theirs = (shared / "data" / "rmiat" / "stm_removed_words.txt").read_text("utf-8").split()
    assert words == [*theirs, "weapon", "instrument", "insect", "flower"]


def test_a_study_s_own_words_labels_and_prompts_are_taken_out_before_topics() -> None:
    settings = load_study("rmiat").fits["stm"].settings
    assert {"aster", "zinnia", "pleasant", "categorize"} <= set(settings["removed_words"])
    assert not {"the", "of", "kept_words", "woman"} & set(settings["removed_words"])
    assert not {"kept_words", "removed_last"} & set(settings)


SAVED = st.text("aé,;\t\"\n 'ж", max_size=8)


def rows_of(folder: Path, text: str) -> list[dict[str, str]]:
    (folder / "names.csv").write_text(text, encoding="utf-8", newline="")
    return StudyFolder(folder).rows(Table({"names": "names.csv"}, "the study"), "names", ("level", "group"))


@given(st.lists(st.tuples(SAVED, SAVED), max_size=4), st.sampled_from(",;\t"), st.integers(0, 2), st.booleans())
def test_any_separator_and_empty_cells_give_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], separator: str, n_empty: int, has_mark: bool
) -> None:
    written = io.StringIO()
    writer = csv.writer(written, delimiter=separator)
    writer.writerows([*row, *[""] * n_empty] for row in [("level", "group"), *rows])
    text = ("\ufeff" if has_mark else "") + written.getvalue()
    filled = [{"level": level.strip(), "group": group.strip()} for level, group in rows if (level + group).strip()]
    assert rows_of(tmp_path_factory.getbasetemp(), text) == filled


def test_a_cell_without_a_name_above_it_is_refused_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"names.csv, line 3, has more cells than the header"):
        rows_of(tmp_path, "level;group;\nAda;woman;\nBen;man;x\n")
