-- claim_rows: the models and tests that each number in the text of a paper is of, and which of them are here.
-- grain: source, study, study_version, variant, number_no, scope_no, test_no
-- design: association
-- inner: yes
-- note:  `is_here`: there is what the number is made of. A number of the design needs one model (or test) for each test
--        (or model), so that it lacks only what none has (`is_absent`, `is_partial`). The least and the greatest of several
--        models are of whole cells (`is_counted`): the estimate of a part could contradict any bound. `absent`: a model with
--        all of its tests that are not here, in words, in the row of the first.
CREATE OR REPLACE VIEW claim_rows AS
WITH planned_tests AS (
    SELECT DISTINCT study, test, test_no FROM planned_cells
), wanted AS (
    SELECT p.study, p.number_no, p.model, p.test, p.quantity, p.name, coalesce(s.model, p.model) AS cell_model,
           coalesce(s.scope_no, 1) AS scope_no, t.test AS cell_test, t.test_no,
           p.name IN ('n_tests', 'n_prompts') AS is_of_any_model, p.name = 'n_models' AS is_of_any_test
    FROM printed_numbers p
    JOIN planned_tests t ON t.study = p.study AND (p.test IS NULL OR t.test = p.test)
    LEFT JOIN printed_scopes s ON s.study = p.study AND s.scope = coalesce(p.model, 'all')
    WHERE p.place = 'text' AND contains(p.quantity, ' ')
), cells AS (
    SELECT d.source, d.study_version, d.variant, w.*, c.* EXCLUDE (source, study, study_version, variant, model, test),
           CASE WHEN w.name IN ('b', 'min_b') THEN c.b
                WHEN w.name IN ('p', 'max_p', 'n_significant_tests') THEN c.p
                WHEN w.name = 'd_refusals_removed' THEN c.d_removed
                WHEN w.name = 'd_refusals_kept' THEN c.d_kept
                WHEN w.name IN ('min_significant_d', 'max_significant_d') THEN c.d_removed + c.p
                WHEN w.name IN ('iat_mentions', 'iat_mention_pct') THEN c.n_mentions_first + c.n_mentions_second
                WHEN w.name = 'iat_mentions_compatible' THEN c.n_mentions_first
                WHEN w.name = 'iat_mentions_incompatible' THEN c.n_mentions_second
                WHEN w.name IN ('welch_t', 'welch_df', 'welch_p') THEN c.welch_p
                WHEN w.name IN ('n_tests_all_models_significant', 'n_tests_four_models_significant')
                THEN c.needs_more::INTEGER
                WHEN w.name = 'tokens_multiple_of' THEN c.step
                WHEN w.name = 'max_reasoning_tokens' THEN c.max_tokens
                WHEN w.name IN ('n_models', 'n_tests', 'n_prompts', 'api_calls', 'refusals_total', 'refusal_rate_pct',
                                'refusals_in_race_tests_pct', 'refusals_compatible_pct', 'refusals_incompatible_pct',
                                'extra_tokens_pct')
                THEN c.n_trials
           END IS NOT NULL AS is_here,
           is_here AND c.shortfall IS NULL AS is_whole
    FROM (SELECT DISTINCT source, study, study_version, variant FROM claim_cells) d
    JOIN wanted w USING (study)
    LEFT JOIN claim_cells c ON c.source = d.source AND c.study = d.study AND c.study_version = d.study_version
        AND c.variant = d.variant AND c.model = w.cell_model AND c.test = w.cell_test
), marked AS (
    SELECT *, count(*) OVER of_model AS n_tests_wanted,
           NOT is_here AND NOT (is_of_any_test AND bool_or(is_here) OVER of_model)
           AND NOT (is_of_any_model AND (bool_or(is_here) OVER of_test OR scope_no > min(scope_no) OVER of_test))
               AS is_absent,
           is_here AND NOT is_whole AND NOT (is_of_any_model AND bool_or(is_whole) OVER of_test)
           AND NOT (is_of_any_test AND bool_or(is_whole) OVER of_model) AS is_partial,
           is_whole OR (is_here AND name NOT IN ('min_b', 'max_p')) AS is_counted
    FROM cells
    WINDOW of_test AS (PARTITION BY source, study, study_version, variant, number_no, cell_test),
           of_model AS (PARTITION BY source, study, study_version, variant, number_no, scope_no)
)
SELECT *, CASE WHEN is_absent AND test_no = min(test_no) OVER alike
               THEN CASE WHEN is_of_any_model THEN 'any model' ELSE cell_model END
                    || CASE WHEN count(*) OVER alike < n_tests_wanted
                            THEN ' in ' || string_agg(cell_test, ', ' ORDER BY test_no) OVER alike ELSE '' END
          END AS absent
FROM marked
WINDOW alike AS (PARTITION BY source, study, study_version, variant, number_no, scope_no, is_absent);
