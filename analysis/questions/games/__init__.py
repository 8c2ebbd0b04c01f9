"""Measure games: how stratified they became, with intervals and next to chance, and how much two conditions differ."""
