"""The prompts that are kept as golden files: the first word of group b in wording 1, by frame, test and condition.

After a change that is meant: `python -m tests.support.golden_prompts` writes them anew; read the difference before you
commit.
"""

from __future__ import annotations

from slant.collector.designs.association.design import Cells, rendered
from slant.collector.records import Trial
from slant.collector.studies.catalogue import Study, StudyModel, load_study
from tests.support import TESTS

GOLDEN = TESTS / "golden" / "rmiat"
MODELS = {"api": "o3-mini", "local": "gpt-oss-20b"}


def all_trials(study: Study, model: StudyModel) -> list[Trial]:
    """Every trial of one model, unshuffled: word by word, wording by wording, compatible before incompatible."""
    cells = Cells(study, model, seed=1)
    return [cells.trial((number // 2, number % 2, 1), number) for number in range(2 * len(cells))]


def golden_prompts(study: Study, frame: str) -> dict[str, str]:
    """File name → prompt, 20 of each frame."""
    prompts = {}
    for trial in all_trials(study, study.model(MODELS[frame])):
        if trial.wording == 1 and trial.item == study.data.tests[trial.test].words["group_b"][0]:
            prompts[f"{frame}.{trial.test}.{trial.condition}.txt"] = rendered(study.data, frame, trial)
    return prompts


if __name__ == "__main__":
    for frame in MODELS:
        for name, text in golden_prompts(load_study("rmiat"), frame).items():
            (GOLDEN / name).write_bytes(text.encode())
