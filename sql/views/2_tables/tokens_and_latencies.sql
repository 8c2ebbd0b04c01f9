-- tokens_and_latencies: do models think longer if people answer later? Cohen's d of tokens next to people's D.
-- grain: call_id, people_call_id
-- order: source, study, study_version, variant, fit, models.model_no, model, tests.test_no, test, refusals_removed
--        DESC, measure, call_id, call_id
-- note:  Made by `analyze --fit effect_size` (of models) and `--fit d_score` (of people, Greenwald, Nosek & Banaji 2003),
--        matched by study, version, variant and test. Both are incompatible less compatible in units of a standard
--        deviation, but d is over trials of a model and D within people: signs and order compare, sizes do not.
CREATE OR REPLACE VIEW tokens_and_latencies AS
WITH effects AS (
    SELECT f.*, e.estimate, e.conf_low, e.conf_high
    FROM fits f
    JOIN estimates e ON e.call_id = f.call_id
    WHERE f.engine IN ('effect_size', 'd_score')
)
SELECT d.source, d.study, d.study_version, d.variant, d.model, coalesce(m.label, d.model) AS model_label, d.test,
       coalesce(t.label, d.test) AS test_label, d.refusals_removed, d.measure, d.estimate AS d, d.conf_low AS d_low,
       d.conf_high AS d_high, p.estimate AS people_d, p.conf_low AS people_d_low, p.conf_high AS people_d_high,
       p.n_groups AS n_people, sign(d.estimate) = sign(p.estimate) AS has_same_sign, d.fit, d.status,
       p.status AS people_status, d.call_id, p.call_id AS people_call_id
FROM effects d
JOIN effects p ON p.engine = 'd_score' AND p.source = 'human' AND p.study = d.study
              AND p.study_version = d.study_version AND p.variant = d.variant AND p.test = d.test
LEFT JOIN models m ON m.study = d.study AND m.study_version = d.study_version AND m.model = d.model
LEFT JOIN tests t ON t.study = d.study AND t.study_version = d.study_version AND t.test = d.test
WHERE d.engine = 'effect_size' AND d.source <> 'human';
