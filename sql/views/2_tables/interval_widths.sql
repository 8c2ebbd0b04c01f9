-- interval_widths: how wide intervals were at each look of a collection that was to stop on precision.
-- grain: source, study, study_version, variant, model, plan, look_no, looked_at, test
-- note:  Made by `collect --until-width`. `half_width` is half of the 95 % interval of the condition effect over words and
--        wordings, in units of `outcome`, `width_margin` times as wide as the model's own. `decision` is of all tests of a look together: narrow enough (each has
--        `until_width` or less), all repetitions asked, or goes on. `least_half_width`: what any number of repetitions of
--        the same words in the same wordings would come to.
CREATE OR REPLACE VIEW interval_widths AS
SELECT l.source, l.study, l.study_version, l.variant, l.model, coalesce(m.label, l.model) AS model_label,
       l.look_no, l.looks, l.repetitions, l.most_repetitions, l.test, coalesce(t.label, l.test) AS test_label,
       l.half_width, l.width_margin, l.until_width, l.least_half_width, l.outcome,
       CASE WHEN bool_and(coalesce(l.half_width <= l.until_width, false))
                     OVER (PARTITION BY l.plan, l.look_no, l.looked_at) THEN 'narrow enough'
            WHEN l.repetitions >= l.most_repetitions THEN 'all repetitions asked'
            ELSE 'goes on' END AS decision,
       l.status, l.n_trials, l.fit, l.seed, l.looked_at, l.plan
FROM precision_looks l
LEFT JOIN models m ON m.study = l.study AND m.study_version = l.study_version AND m.model = l.model
LEFT JOIN tests t ON t.study = l.study AND t.study_version = l.study_version AND t.test = l.test
ORDER BY l.source, l.study, l.study_version, l.variant, m.model_no, l.model, l.plan, l.look_no, l.looked_at, l.place;
