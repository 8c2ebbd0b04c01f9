-- recomputed_claims: the numbers in the text of a paper, each a quantity of the models and tests that it speaks of.
-- grain: source, study, study_version, variant, model, test, quantity
-- design: association
-- gives: n_models, n_tests, n_prompts, api_calls, tokens_multiple_of, max_reasoning_tokens, refusals_total,
--        refusal_rate_pct, refusals_in_race_tests_pct, refusals_compatible_pct, refusals_incompatible_pct, b, p, min_b,
--        max_p, n_tests_all_models_significant, n_tests_four_models_significant, d_refusals_removed, d_refusals_kept,
--        min_significant_d, max_significant_d, n_significant_tests, iat_mentions, iat_mentions_compatible,
--        iat_mentions_incompatible, iat_mention_pct, welch_t, welch_df, welch_p, extra_tokens_pct
-- fits:  lme4 by cell; effect_size by cell; effect_size by cell (refusals kept); welch by model (refusals kept)
-- note:  compatible and incompatible are the first and the second condition of the study. Tests of all (or four) models:
--        significantly more tokens in each of those that the claim names, and in no other model of the paper.
CREATE OR REPLACE VIEW recomputed_claims AS
WITH cells AS MATERIALIZED (
    FROM claim_rows
), counted AS (
    SELECT *, n_mentions_first + n_mentions_second AS n_mentions, sum(n_trials) OVER of_model AS n_trials_of_model,
           bool_and(needs_more) OVER of_test AND n_models_that_need_more = count(*) OVER of_test AS is_only_theirs
    FROM cells
    WHERE is_counted
    WINDOW of_test AS (PARTITION BY source, study, study_version, variant, number_no, cell_test),
           of_model AS (PARTITION BY source, study, study_version, variant, number_no, cell_model)
), numbers AS (
    SELECT source, study, study_version, variant, number_no, CASE name
           WHEN 'n_models' THEN count(DISTINCT cell_model)
           WHEN 'n_tests' THEN count(DISTINCT cell_test)
           WHEN 'n_prompts' THEN max(n_wordings)
           WHEN 'api_calls' THEN min(n_trials_of_model)
           WHEN 'tokens_multiple_of' THEN min(step)
           WHEN 'max_reasoning_tokens' THEN max(max_tokens)
           WHEN 'refusals_total' THEN sum(n_refusals)
           WHEN 'refusal_rate_pct' THEN 100 * sum(n_refusals) / sum(n_trials)
           WHEN 'refusals_in_race_tests_pct'
           THEN 100 * coalesce(sum(n_refusals) FILTER (starts_with(cell_test, 'race_')), 0) / sum(n_refusals)
           WHEN 'refusals_compatible_pct' THEN 100 * sum(n_refusals_first) / sum(n_refusals)
           WHEN 'refusals_incompatible_pct' THEN 100 * sum(n_refusals_second) / sum(n_refusals)
           WHEN 'b' THEN first(b ORDER BY scope_no, test_no)
           WHEN 'p' THEN first(p ORDER BY scope_no, test_no)
           WHEN 'min_b' THEN min(b)
           WHEN 'max_p' THEN max(p)
           WHEN 'd_refusals_removed' THEN first(d_removed ORDER BY scope_no, test_no)
           WHEN 'd_refusals_kept' THEN first(d_kept ORDER BY scope_no, test_no)
           WHEN 'min_significant_d' THEN min(d_removed) FILTER (p < 0.05)
           WHEN 'max_significant_d' THEN max(d_removed) FILTER (p < 0.05)
           WHEN 'n_significant_tests' THEN count(DISTINCT cell_test) FILTER (p < 0.05)
           WHEN 'iat_mentions' THEN sum(n_mentions)
           WHEN 'iat_mentions_compatible' THEN sum(n_mentions_first)
           WHEN 'iat_mentions_incompatible' THEN sum(n_mentions_second)
           WHEN 'iat_mention_pct' THEN 100 * sum(n_mentions) / sum(n_answers)
           WHEN 'welch_t' THEN first(welch_t ORDER BY scope_no, test_no)
           WHEN 'welch_df' THEN first(welch_df ORDER BY scope_no, test_no)
           WHEN 'welch_p' THEN first(welch_p ORDER BY scope_no, test_no)
           WHEN 'extra_tokens_pct'
           THEN 100 * ((sum(tokens_second) / sum(n_tokens_second)) / (sum(tokens_first) / sum(n_tokens_first)) - 1)
           ELSE count(DISTINCT cell_test) FILTER (is_only_theirs) END::DOUBLE AS recomputed
    FROM counted
    GROUP BY source, study, study_version, variant, number_no, name
), lacks AS (
    SELECT source, study, study_version, variant, number_no, model, test, quantity,
           string_agg(absent, '; ' ORDER BY scope_no) AS absences,
           string_agg(shortfall, '; ' ORDER BY scope_no, test_no) FILTER (is_partial) AS shortfalls,
           CASE WHEN bool_or(is_counted) THEN nullif(concat_ws('; ', absences, shortfalls), '')
                ELSE format('Each of its cells is incomplete. Missing: {}.', shortfalls) END AS missing
    FROM cells
    GROUP BY source, study, study_version, variant, number_no, model, test, quantity
    HAVING bool_or(is_here)
)
SELECT l.source, l.study, l.study_version, l.variant, l.model, l.test, NULL::BOOLEAN AS refusals_removed,
       NULL::VARCHAR AS condition, l.quantity, n.recomputed, l.missing
FROM lacks l
LEFT JOIN numbers n USING (source, study, study_version, variant, number_no)
WHERE n.recomputed IS NOT NULL OR l.missing IS NOT NULL;
