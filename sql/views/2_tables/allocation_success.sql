-- allocation_success: how often the choices of each model succeed, next to what chance and knowing everything would give.
-- grain: source, study, study_version, variant, model
-- order: source, study, study_version, variant, model
-- design: allocation
-- note:  Wu et al., figure 13. Over all rounds with a choice and an outcome. `random_level` is the mean chance of
--        success of the groups in those rounds, `best_level` that of the group most likely to succeed. Where all
--        groups are equal both are the same, and the rate says nothing about the choices.
CREATE OR REPLACE VIEW allocation_success AS
WITH rounds AS (
    SELECT source, study, study_version, variant, model, is_success,
           choice IS NOT NULL AND is_success IS NOT NULL AS is_counted,  -- in a WHERE: three times as slow
           try_cast(map_extract(factor_lists, 'p_by_group')[1] AS DOUBLE[]) AS chances
    FROM allocation_round_rows
)
SELECT source, study, study_version, variant, model, count(*) FILTER (is_counted) AS n_rounds,
       avg(is_success::INTEGER) FILTER (is_counted) AS success_rate,
       avg(list_avg(chances)) FILTER (is_counted) AS random_level,
       avg(list_max(chances)) FILTER (is_counted) AS best_level
FROM rounds
GROUP BY source, study, study_version, variant, model
HAVING n_rounds > 0;
