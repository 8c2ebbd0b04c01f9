-- model_checks: what `collect check-model` found of each model that was asked, and which were never checked.
-- grain: sorted by source, study, study_version, variant, model, provider, requested_model, settings
-- note:  the latest check with the same settings counts. `check_verdict`: ok, usable with care, not usable, unchecked;
--        NULL for imported and simulated answers, which no check can be made of. `difficulty_correlation` is the rank
--        correlation of the count with the difficulty of 20 questions, `sum_share` how often output = reasoning + answer.
CREATE OR REPLACE VIEW model_checks AS
WITH asked AS (
    SELECT DISTINCT r.source, r.study, r.study_version, r.variant, m.model, m.provider, m.requested_model,
           coalesce(m.settings, '{}') AS settings
    FROM run_models m
    JOIN runs r ON r.run_id = m.run_id
    WHERE m.model IS NOT NULL
), latest AS (
    SELECT *
    FROM checks
    QUALIFY row_number() OVER (
        PARTITION BY provider, requested_model, settings ORDER BY checked_at DESC, run_id DESC
    ) = 1
)
SELECT a.source, a.study, a.study_version, a.variant, a.model, a.provider, a.requested_model, a.settings,
       CASE WHEN a.source = 'collected' THEN coalesce(c.verdict, 'unchecked') END AS check_verdict,
       c.reasons, c.counted, c.difficulty_correlation, c.step, c.zero_share, c.sum_share,
       c.temperature, c.effort, c.seed, c.served_models, c.checked_at
FROM asked a
LEFT JOIN latest c ON a.source = 'collected' AND c.provider = a.provider
    AND c.requested_model = a.requested_model AND c.settings = a.settings;
