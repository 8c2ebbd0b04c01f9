"""Rows made here, for tests that need some and don't care which."""

from __future__ import annotations

from pathlib import Path

from slant.collector.keep.journal import utc_now
from slant.collector.records import Attempt, Run
from tests.support.stored import rows_in


def a_run(run_id: str = "run-1") -> Run:
    return Run(
        run_id=run_id,
        source="collected",
        study="rmiat",
        study_version="v1",
        variant="base",
        seed=1,
        repetitions=1,
        models='[{"model": "o3-mini", "planned": 2}]',
        tests='[{"test": "t", "test_no": 1, "label": "T"}]',
        settings="{}",
        code_version="0",
        machine="here",
        command="collect",
        started_at=utc_now(),
    )


def an_attempt(n: int) -> Attempt:
    return Attempt(
        attempt_id=f"run-1-{n}",
        run_id="run-1",
        sequence=n,
        conversation_id=f"trial-{n}",
        trial_id=f"trial-{n}",
        turn=1,
        try_no=1,
        is_final=True,
        source="collected",
        study="rmiat",
        study_version="v1",
        variant="base",
        model="o3-mini",
        provider="openai",
        requested_model="o3-mini",
        repetition=1,
        position=n,
        test="gender_career",
        condition="compatible",
        item="John",
        group="Male Names",
        wording=1,
        option_a="Career",
        option_b="Family",
        expected="Career",
        outcome="answered",
        answer="Career",
        choice="Career",
        tokens=64,
        token_source="usage",
        reasoning_tokens=64,
        output_tokens=70,
        done_at=utc_now(),
    )


def attempts_in(db: Path) -> int:
    return int(rows_in(db, "SELECT count(*) FROM attempts")[0][0])
