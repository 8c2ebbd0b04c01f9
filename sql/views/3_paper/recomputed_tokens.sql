-- recomputed_tokens: mean and standard deviation of tokens, as papers print them.
-- grain: source, study, study_version, variant, model, test, condition, quantity
-- design: association
-- gives: mean, sd, mean_tokens, sd_tokens, n
-- lacks: cell
-- note:  refusals removed. `mean` and `mean_tokens` are the same, `n` counts what has tokens.
CREATE OR REPLACE VIEW recomputed_tokens AS
WITH wide AS (
    SELECT source, study, study_version, variant, model, test, true AS refusals_removed, condition,
           mean_tokens AS mean, sd_tokens AS sd, mean_tokens, sd_tokens, n::DOUBLE AS n
    FROM tokens_by_condition
)
SELECT source, study, study_version, variant, model, test, refusals_removed, condition, quantity, recomputed,
       NULL::VARCHAR AS missing
FROM (UNPIVOT wide ON mean, sd, mean_tokens, sd_tokens, n INTO NAME quantity VALUE recomputed);
