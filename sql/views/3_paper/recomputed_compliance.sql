-- recomputed_compliance: how many answers are valid and consistent, by test and condition, as papers print them.
-- grain: source, study, study_version, variant, model, test, condition, quantity
-- design: forced_choice
-- gives: valid_percent, n_valid, n_trials, consistent_rate, n_consistent, observed_delta_p
-- lacks: cell
-- note:  answers that a provider forced into a schema are left out: they can hardly be invalid.
CREATE OR REPLACE VIEW recomputed_compliance AS
WITH wide AS (
    SELECT source, study, study_version, variant, model, test, condition, structured_output, valid_percent,
           n_valid::DOUBLE AS n_valid, n_trials::DOUBLE AS n_trials
    FROM compliance_by_condition
    UNION ALL BY NAME
    SELECT source, study, study_version, variant, model, test, condition, structured_output, consistent_rate,
           n_consistent::DOUBLE AS n_consistent
    FROM consistency_by_condition
    UNION ALL BY NAME
    SELECT source, study, study_version, variant, model, test, structured_output, delta_p AS observed_delta_p
    FROM observed_delta_p
)
SELECT source, study, study_version, variant, model, test, NULL::BOOLEAN AS refusals_removed,
       condition, quantity, recomputed, NULL::VARCHAR AS missing
FROM (
    UNPIVOT wide ON valid_percent, n_valid, n_trials, consistent_rate, n_consistent, observed_delta_p
    INTO NAME quantity VALUE recomputed
)
WHERE NOT structured_output;
