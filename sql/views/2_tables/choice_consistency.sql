-- choice_consistency: how consistent choices are that were shown twice, and what people's would be without slips.
-- grain: call_id, statistic, attribute, level
-- design: factorial
-- note:  made by `analyze --fit consistency`. `irr` is the share of equal choices, `tau` that of choices that are flipped by
--        chance; of people means and effects, too, as they are (`estimate`) and `corrected` for tau. Of models
--        nothing is corrected. NULL: no tau, or no interval, as half of the choices or fewer may be equal.
CREATE OR REPLACE VIEW choice_consistency AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, f.test, c.statistic, c.attribute, c.level, c.estimate,
       c.conf_low, c.conf_high, c.corrected, c.corrected_low, c.corrected_high, c.n, f.fit, f.call_id
FROM consistency_choices c
JOIN fits f ON f.call_id = c.call_id
ORDER BY f.source, f.study, f.study_version, f.variant, f.model, f.test, f.call_id,
         list_position(['irr', 'tau', 'marginal_mean', 'amce'], c.statistic), c.attribute, c.level;
