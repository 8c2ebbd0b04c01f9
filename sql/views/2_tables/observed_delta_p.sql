-- observed_delta_p: how much less consistent each model is in the incongruent block, as observed.
-- grain: source, study_version, variant, model, domain, structured_output
-- reads: consistency_by_block, models, tests
-- study: interference
-- note:  congruent minus incongruent: `delta_p` of the shares of consistent answers among the valid, `delta_mean_p` of
--        the mean probability of the consistent option, where log-probabilities are there. Neither knows of items or of
--        other models: Table 1's delta P is the model's, from analyze --fit brms. NULL where a block is missing.
CREATE OR REPLACE VIEW observed_delta_p AS
WITH beside AS (
    SELECT source, study_version, variant, model, domain, structured_output,
           max(n_valid) FILTER (block = 'congruent') AS n_valid_congruent,
           max(n_valid) FILTER (block = 'incongruent') AS n_valid_incongruent,
           max(consistent_rate) FILTER (block = 'congruent') AS congruent_rate,
           max(consistent_rate) FILTER (block = 'incongruent') AS incongruent_rate,
           max(mean_p_consistent) FILTER (block = 'congruent') AS congruent_mean_p,
           max(mean_p_consistent) FILTER (block = 'incongruent') AS incongruent_mean_p
    FROM consistency_by_block
    GROUP BY source, study_version, variant, model, domain, structured_output
)
SELECT c.source, c.study_version, c.variant, c.model, c.domain, c.structured_output,
       c.n_valid_congruent, c.n_valid_incongruent, c.congruent_rate, c.incongruent_rate,
       c.congruent_rate - c.incongruent_rate AS delta_p,
       c.congruent_mean_p, c.incongruent_mean_p, c.congruent_mean_p - c.incongruent_mean_p AS delta_mean_p
FROM beside c
LEFT JOIN models m ON m.study = 'interference' AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests d ON d.study = 'interference' AND d.study_version = c.study_version AND d.test = c.domain
ORDER BY c.source, c.study_version, c.variant, m.model_no, c.model, d.test_no, c.domain, c.structured_output;
