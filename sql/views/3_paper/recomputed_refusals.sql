-- recomputed_refusals: refusals of each test, and of each of its conditions, as papers print them.
-- grain: source, study, study_version, variant, model, test, refusals_removed, condition, quantity
-- design: association
-- gives: refusals, refusal_rate, n_trials
-- lacks: cell
-- note:  without a condition: of both. Where a table of results with the refusals kept prints "(-)", it has none:
--        that number is 0, and has the rows with `refusals_removed` false.
CREATE OR REPLACE VIEW recomputed_refusals AS
WITH wide AS (
    SELECT source, study, study_version, variant, model, test, NULL::BOOLEAN AS refusals_removed,
           NULL::VARCHAR AS condition, n_refusals::DOUBLE AS refusals, refusal_rate, n_trials::DOUBLE AS n_trials
    FROM refusal_counts
    UNION ALL BY NAME
    SELECT source, study, study_version, variant, model, test, false AS refusals_removed, n_refusals::DOUBLE AS refusals
    FROM refusal_counts
    UNION ALL BY NAME
    SELECT source, study, study_version, variant, model, test, condition, n_refusals::DOUBLE AS refusals,
           refusal_rate, n_trials::DOUBLE AS n_trials
    FROM refusals_by_condition
)
SELECT source, study, study_version, variant, model, test, refusals_removed, condition, quantity, recomputed,
       NULL::VARCHAR AS missing
FROM (UNPIVOT wide ON refusals, refusal_rate, n_trials INTO NAME quantity VALUE recomputed);
