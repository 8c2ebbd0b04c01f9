-- How collecting ended otherwise than by the rule of precision that was registered. Reads registered_plans, the one row of
-- registered_rules (rule, looks, most_repetitions; the rule in words, "none" without one), and run_rules, the rule of each
-- run in the same words, which the caller brings.
WITH asked AS (
    SELECT t.source, t.study_version, t.variant, t.run_id, t.model, count(DISTINCT t.trial_id) AS n
    FROM trials t
    JOIN registered_plans p ON p.variant = t.variant AND p.source = t.source
    WHERE t.study = $study
    GROUP BY ALL
), asked_of_models AS (
    SELECT source, study_version, variant, model, sum(n) AS n FROM asked GROUP BY ALL
), widths AS (
    SELECT source, study_version, variant, model, look_no, looked_at, any_value(repetitions) AS repetitions,
           any_value(decision) AS decision
    FROM interval_widths
    WHERE study = $study
    GROUP BY ALL
), looked AS (
    SELECT source, study_version, variant, model, count(*) AS n_looks,
           arg_max(repetitions, (look_no, looked_at)) AS repetitions, arg_max(decision, (look_no, looked_at)) AS decision
    FROM widths
    GROUP BY ALL
)
SELECT a.source, a.study_version, a.variant, NULL AS model, NULL AS test, 'stopping_rule' AS deviation, NULL AS subject,
       r.rule AS registered, u.rule AS found, count(DISTINCT a.run_id) AS n
FROM asked a
JOIN run_rules u ON u.run_id = a.run_id
CROSS JOIN registered_rules r
WHERE u.rule <> r.rule
GROUP BY ALL
UNION ALL
SELECT l.source, l.study_version, l.variant, l.model, NULL, 'width_looks', NULL, r.looks::TEXT, l.n_looks::TEXT,
       l.n_looks - r.looks
FROM looked l
CROSS JOIN registered_rules r
WHERE l.n_looks > r.looks
UNION ALL
-- a model that has the trials of a look, and no more of them, though it was to be asked on
SELECT l.source, l.study_version, l.variant, l.model, NULL, 'left_early', NULL, r.rule, l.repetitions::TEXT, a.n
FROM looked l
JOIN asked_of_models a USING (source, study_version, variant, model)
JOIN registered_plans p ON p.variant = l.variant AND p.source = l.source
CROSS JOIN registered_rules r
WHERE l.decision = 'goes on' AND a.n * r.most_repetitions <= l.repetitions * p.trials_per_model
ORDER BY ALL
