"""A study of somebody's own, as small as one can be: one test, two words a side, one wording, all in one file."""

from __future__ import annotations

from pathlib import Path

TINY = r'''
name = "drinks"
title = "Tea and coffee"
design = "association"
frame = "plain"
tests = [{ test = "tea_coffee", test_no = 1, label = "Tea/Coffee" }]
stimuli = "stimuli.csv"

[prompt]
wordings = "wordings.csv"
names = "names.csv"
[prompt.frames.plain]
template = """\
{group_a_words} / {group_b_words}: {group_a_in_rule} {category_1}, {group_b_in_rule} {category_2}. {wording}"""

[[models]]
model = "small"
provider = "local"
frame = "plain"

[variants.balanced.prompt]
option_order = "balanced"

[fits.lme4]
view = "association_trials"
formula = "tokens ~ (1 | wording)"
'''
STIMULI = """test,side,group,word
tea_coffee,group_a,Tea,oolong
tea_coffee,group_a,Tea,sencha
tea_coffee,group_b,Coffee,mocha
tea_coffee,group_b,Coffee,latte
tea_coffee,attribute_a,Calm,rest
tea_coffee,attribute_b,Busy,work
"""
WORDINGS = 'wording,text\n1,"Sort ""{word}"": [{category_1}, {category_2}]."\n'
NAMES = (
    "frame,test,group_a_named,group_b_named,attribute_a_named,attribute_b_named,group_a_in_rule,group_b_in_rule,"
    "label_a,label_b\nplain,tea_coffee,tea,coffee,,,tea,coffee,Calm,Busy\n"
)
TEXTS = {"study.toml": TINY, "stimuli.csv": STIMULI, "wordings.csv": WORDINGS, "names.csv": NAMES}


def write_tiny(folder: Path, **changed: tuple[str, str]) -> Path:
    """Writes the study into `folder`; `study=(old, new)`, `stimuli=…`, … replace a piece of one file."""
    for name, text in TEXTS.items():
        old, new = changed.get(name.partition(".")[0], ("", ""))
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")
    return folder / "study.toml"
