-- mixed_cells: models whose trials were not all asked and counted alike, and how they differ.
-- grain: sorted by source, study, study_version, variant, model
-- note:  a study's version leaves out its models, its seed and --seed, so one cell of a table may hold trials of
--        several of these. Only such models are rows here; no row is the good case. `n_settings` counts the settings,
--        prompt frames and schemas enforced or not, `n_providers` the providers and model names asked; `token_sources`
--        names what `tokens` is.
CREATE OR REPLACE VIEW mixed_cells AS
SELECT t.source, t.study, t.study_version, t.variant, t.model,
       count(DISTINCT t.run_id) AS n_runs,
       count(DISTINCT {'settings': m.settings, 'frame': m.frame, 'is_structured': t.is_structured})
           FILTER (m.run_id IS NOT NULL OR t.is_structured) AS n_settings,
       count(DISTINCT r.seed) AS n_seeds,
       count(DISTINCT t.token_source) AS n_token_sources,
       count(DISTINCT {'provider': t.provider, 'requested_model': t.requested_model}) AS n_providers,
       string_agg(DISTINCT t.token_source, ' + ' ORDER BY t.token_source) AS token_sources
FROM (
    -- a run has thousands of trials that differ in none of this
    SELECT DISTINCT source, study, study_version, variant, model, run_id, token_source, provider, requested_model,
           coalesce(map_extract(factor_lists, 'structured_output')[1][1] = 'true', false) AS is_structured
    FROM trial_rows
    WHERE NOT is_left_out
) t
LEFT JOIN runs r ON r.run_id = t.run_id
LEFT JOIN run_models m ON m.run_id = t.run_id AND m.model = t.model
GROUP BY t.source, t.study, t.study_version, t.variant, t.model
HAVING n_settings > 1 OR n_seeds > 1 OR n_token_sources > 1 OR n_providers > 1;
