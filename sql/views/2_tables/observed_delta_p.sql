-- observed_delta_p: how much less consistent each model is in another condition than in the first one, as observed.
-- grain: sorted by source, study, study_version, variant, model, test, condition, structured_output
-- design: forced_choice
-- note:  `reference` (the study's first condition: congruent, say) minus `condition`: `delta_p` of the shares of
--        consistent answers among the valid, `delta_mean_p` of the mean probability of the consistent option, where
--        log-probabilities are there. Neither knows of items or of other models: the delta P of condition_contrasts is
--        the model's, from analyze --fit brms. NULL if one of the two is missing.
CREATE OR REPLACE VIEW observed_delta_p AS
WITH cells AS (
    SELECT source, study, study_version, variant, model, test, structured_output, condition,
           n_valid, consistent_rate AS rate, mean_p_consistent AS mean_p
    FROM consistency_by_condition
), compared AS (
    SELECT w.*, o.condition, f.condition AS reference, r.n_valid AS reference_n_valid,
           c.n_valid,
           r.rate AS reference_rate, c.rate, r.mean_p AS reference_mean_p, c.mean_p
    FROM (SELECT DISTINCT source, study, study_version, variant, model, test, structured_output FROM cells) w
    JOIN conditions f ON f.study = w.study AND f.study_version = w.study_version AND f.condition_no = 1
    JOIN conditions o ON o.study = w.study AND o.study_version = w.study_version AND o.condition_no > 1
    LEFT JOIN cells r ON r.condition = f.condition AND r.source = w.source AND r.study = w.study
        AND r.study_version = w.study_version AND r.variant = w.variant AND r.model = w.model
        AND r.test = w.test AND r.structured_output = w.structured_output
    LEFT JOIN cells c ON c.condition = o.condition AND c.source = w.source AND c.study = w.study
        AND c.study_version = w.study_version AND c.variant = w.variant AND c.model = w.model
        AND c.test = w.test AND c.structured_output = w.structured_output
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.test, c.condition, c.reference, c.structured_output,
       c.reference_n_valid, c.n_valid, c.reference_rate, c.rate, c.reference_rate - c.rate AS delta_p,
       c.reference_mean_p, c.mean_p, c.reference_mean_p - c.mean_p AS delta_mean_p
FROM compared c;
