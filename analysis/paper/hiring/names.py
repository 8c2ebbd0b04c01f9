"""What the printed numbers' file calls models, experiments and metrics, and what they are called here.

Of a game, `test` is the variant ("steer_bonus") and `condition` the format of answers ("cot").
"""

from __future__ import annotations

FRONTIER, NON_REASONING = "frontier", "frontier_non_reasoning"
UNEQUAL = ("unequal_40", "unequal_80")
RESETTLEMENT = "resettlement"

MODELS = {
    "Humans": "humans",
    "fair random assignment": "random",
    "mean of frontier LLM cells": FRONTIER,
    "mean of 5 frontier models": NON_REASONING,
    "mean over models": NON_REASONING,
    "all conditions": NON_REASONING,
    "GPT-4o + Gemini 2.5 Flash pooled": "gpt-4o + gemini-2.5-flash",
    "Gemini and Claude": "gemini-2.5-flash + claude-sonnet-4",
    "Claude 4 Sonnet / Claude 3 Haiku": "claude-sonnet-4 / claude-3-haiku",
}
"""Those that are no model of the study; the others have its labels. Several with a sign between them: SEVERAL."""
SEVERAL = {
    "gpt-4o + gemini-2.5-flash": ("gpt-4o", "gemini-2.5-flash"),
    "gemini-2.5-flash + claude-sonnet-4": ("gemini-2.5-flash", "claude-sonnet-4"),
    "claude-sonnet-4 / claude-3-haiku": ("claude-sonnet-4", "claude-3-haiku"),
}

_ELICITED = "elicited job-wise success probabilities"
_FEATURES = {
    "hair color": "hair", "tattoo shape": "tattoo", "hair color + tattoo shape": "hair_tattoo", "age": "age",
    "education": "education", "age + education": "age_education",
}  # fmt: skip
VARIANTS = {
    "main hiring game": "main",
    "temperature 1.5": "temperature_1_5",
    "refugee resettlement": RESETTLEMENT,
    "military conscription": "conscription",
    "success probability 0.1": "success_0_1",
    _ELICITED: "success_elicited",
    "unequal success rates": UNEQUAL[0],
    "unequal success rates, 40 rounds": UNEQUAL[0],
    "unequal success rates, 80 rounds": UNEQUAL[1],
    **{f"resettlement with features: {said}": f"{RESETTLEMENT}_{name}" for said, name in _FEATURES.items()},
    "resettlement with age + education": f"{RESETTLEMENT}_age_education",
    "system-prompt values steer": "steer_values",
    "prior associations (20 single-round trials x 20 jobs)": "prior_associations",
    "ReAct": "react",
    "real demographic labels": "real_groups",
}
FEATURES = tuple(f"{RESETTLEMENT}_{name}" for name in _FEATURES.values())
FORMATS = {"Direct": "direct", "CoT": "cot", "Reasoning": "reasoning", "ReAct": "react"}

RANKS = ("best", "second", "third", "fourth")
_SHARES = {
    "share naming the best group": "best", "share naming the second-best group": "second",
    "share naming the third group": "third", "share naming the worst group": "fourth",
    "share naming the fourth group": "fourth",
}  # fmt: skip
QUANTITIES = {
    "SI": "si", "BGD": "bgd", "GASI": "gasi", "global SI": "si", "SI ratio": "si_ratio",
    "p value vs default T": "p_value", "SI below random threshold": "is_below_random",
    "mean reduction in SI": "si_reduction", "outcome": "outcome", "core result p value": "p_value",
    "design: rounds": "n_rounds", "design: jobs": "n_jobs", "design: job classes": "n_classes",
    "design: jobs per class": "n_jobs_of_class", "design: groups": "n_groups",
    "design: success probability": "success", "design: runs per model x prompt": "n_games",
    "design: temperature": "temperature",
    "design: success probability best group": "success_best",
    "design: success probability second group": "success_second",
    "design: success probability third group": "success_third",
    "design: success probability worst group": "success_fourth",
    "design: participants in source study": "n_of_source_study", "design: mean age": "mean_age_years",
    "design: used here": "n_used", "design: classic setting": "n_classic", "design: p=0.1 setting": "n_success_0_1",
    "design: diversity steer": "n_diversity_steer", "mean political orientation (1-6)": "mean_political_orientation",
    "share some college or bachelor": "percent_college",
    "entropy of group hiring shares (abstract)": "entropy_of_shares_abstract",
    "entropy of group hiring shares (original)": "entropy_of_shares", "rounds before deviation": "rounds_to_deviation",
}  # fmt: skip
RANGES = {
    "GASI range": ("gasi_min", "gasi_max"),
    "elicited probability range": ("elicited_min_percent", "elicited_max_percent"),
}


def quantity_of(metric: str, is_percent: bool) -> str:
    """ "share_best", in per cent "percent_best"; of people "percent_female"."""
    if metric in _SHARES:
        return f"{'percent' if is_percent else 'share'}_{_SHARES[metric]}"
    if metric not in QUANTITIES and metric.startswith("share "):
        return f"percent_{metric.removeprefix('share ').replace('-', '_').lower()}"
    return QUANTITIES.get(metric, metric)
