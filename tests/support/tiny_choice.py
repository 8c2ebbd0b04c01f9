"""A forced-choice study of somebody's own, as small as one can be: one test, four groups, eleven words."""

from __future__ import annotations

from pathlib import Path

CHOICE = r"""
name = "pets"
title = "Pets and places"
design = "forced_choice"
seed = 4
tests = [{ test = "pets", test_no = 1, label = "Pets" }]
stimuli = "stimuli.csv"
pairs = "pairs.csv"

[prompt]
[[prompt.wordings]]
wording = 1
text = "{word}? A: {option_a} B: {option_b}"

[[models]]
model = "small"
provider = "local"
"""
STIMULI = """test,group,word,tier
pets,Cats,tabby,ours
pets,Cats,tomcat,ours
pets,Cats,kitten,ours
pets,Dogs,poodle,ours
pets,Dogs,puppy,ours
pets,Dogs,hound,
pets,Indoors,sofa,ours
pets,Indoors,carpet,ours
pets,Outdoors,meadow,ours
pets,Outdoors,forest,ours
pets,Outdoors,river,ours
"""
PAIRS = """test,condition,first_group,second_group
pets,congruent,Cats,Indoors
pets,congruent,Dogs,Outdoors
pets,incongruent,Cats,Outdoors
pets,incongruent,Dogs,Indoors
"""

Change = tuple[str, str]


def write_choice(folder: Path, study: Change = ("", ""), stimuli: Change = ("", ""), pairs: Change = ("", "")) -> Path:
    """The study, each of its files with one text replaced; the path of its TOML."""
    for name, text, (old, new) in (
        ("study.toml", CHOICE, study),
        ("stimuli.csv", STIMULI, stimuli),
        ("pairs.csv", PAIRS, pairs),
    ):
        assert old in text
        (folder / name).write_text(text.replace(old, new) if old else text, encoding="utf-8")
    return folder / "study.toml"
