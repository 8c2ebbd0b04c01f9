-- token_sources: what the analysed token counts of each model are, and in which steps they come.
-- grain: sorted by source, study, study_version, variant, model, token_source
-- note:  token_source: usage (the provider's own reasoning count), output (all output tokens), template (up to a
--        closing marker), retokenized. `step` is the greatest common divisor of all positive counts (o3-mini: 64);
--        NULL with fewer than two different ones, from which no step can be inferred. Refusals are included.
--        `check_verdict` is that of model_checks (the worst, if a model was asked in several ways): an unchecked
--        count, or one that is not usable, is no dependent variable.
CREATE OR REPLACE VIEW token_sources AS
WITH counts AS (
    SELECT source, study, study_version, variant, model, token_source, tokens, count(*) AS n
    FROM trials
    WHERE NOT is_left_out
    GROUP BY source, study, study_version, variant, model, token_source, tokens
), summary AS (
    SELECT source, study, study_version, variant, model, token_source,
           sum(n)::BIGINT AS n_trials,
           coalesce(sum(n) FILTER (tokens IS NULL), 0)::BIGINT AS n_without_tokens,
           min(tokens) AS min_tokens,
           max(tokens) AS max_tokens,
           count(tokens) AS n_distinct,
           coalesce(sum(n) FILTER (tokens = 0), 0) / nullif(sum(n) FILTER (tokens IS NOT NULL), 0) AS zero_share,
           min(tokens) FILTER (tokens > 0) AS least
    FROM counts
    GROUP BY source, study, study_version, variant, model, token_source
), divisors AS (
    -- the step divides the least count, so only that count's divisors need trying
    SELECT source, study, study_version, variant, model, token_source, unnest(range(1, least + 1)) AS divisor, least
    FROM summary
), steps AS (
    SELECT d.source, d.study, d.study_version, d.variant, d.model, d.token_source, d.divisor AS step
    FROM divisors d
    JOIN counts c ON c.source = d.source AND c.study = d.study AND c.study_version = d.study_version
        AND c.variant = d.variant AND c.model = d.model AND c.token_source IS NOT DISTINCT FROM d.token_source
    WHERE d.least % d.divisor = 0 AND c.tokens > 0
    GROUP BY d.source, d.study, d.study_version, d.variant, d.model, d.token_source, d.divisor
    HAVING bool_and(c.tokens % d.divisor = 0) AND count(*) > 1
), checked AS (
    SELECT source, study, study_version, variant, model,
           arg_min(check_verdict, list_position(['not usable', 'unchecked', 'usable with care', 'ok'], check_verdict))
               AS check_verdict
    FROM model_checks
    GROUP BY source, study, study_version, variant, model
)
SELECT s.source, s.study, s.study_version, s.variant, s.model, s.token_source, s.n_trials, s.n_without_tokens,
       s.min_tokens, s.max_tokens, s.n_distinct, s.zero_share, max(steps.step) AS step, c.check_verdict
FROM summary s
LEFT JOIN models m USING (study, study_version, model)
LEFT JOIN checked c USING (source, study, study_version, variant, model)
LEFT JOIN steps ON steps.source = s.source AND steps.study = s.study AND steps.study_version = s.study_version
    AND steps.variant = s.variant AND steps.model = s.model AND steps.token_source IS NOT DISTINCT FROM s.token_source
GROUP BY s.source, s.study, s.study_version, s.variant, s.model, s.token_source, s.n_trials, s.n_without_tokens,
    s.min_tokens, s.max_tokens, s.n_distinct, s.zero_share, m.model_no, c.check_verdict;
