"""The tiny study with words and wordings enough for a model over both: eight words in four wordings, so 64 trials."""

from __future__ import annotations

from pathlib import Path

from tests.support.tiny_study import STIMULI, WORDINGS, write_tiny

TRIALS = 64  # of one repetition
_MORE = "tea_coffee,group_a,Tea,chai\ntea_coffee,group_a,Tea,assam\n" + (
    "tea_coffee,group_b,Coffee,lungo\ntea_coffee,group_b,Coffee,moka\n"
)
_FIT = """[fits.lme4]
engine = "lme4"
view = "association_trials"
formula = "tokens ~ condition + (1 | wording)"
by = ["model", "test"]
levels = { condition = ["compatible", "incompatible"] }
"""


def write_worded(folder: Path, *, wordings: int = 4) -> Path:
    folder.mkdir(exist_ok=True)
    path = write_tiny(folder)
    more = [
        f'{number},"{number}: ""{{word}}"", [{{category_1}}, {{category_2}}]."\n' for number in range(2, wordings + 1)
    ]
    (folder / "stimuli.csv").write_text(STIMULI + _MORE, "utf-8")
    (folder / "wordings.csv").write_text(WORDINGS + "".join(more), "utf-8")
    path.write_text(path.read_text("utf-8").partition("[fits.lme4]")[0] + _FIT, "utf-8")
    return path
