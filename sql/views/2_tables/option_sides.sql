-- option_sides: whether a model prefers the option that is called A, and whether that bends its consistency.
-- grain: sorted by source, study, study_version, variant, model, test, condition, structured_output
-- design: forced_choice
-- note:  of valid answers. The sides are balanced, so that without a preference `chosen_a_rate` is near one half, which
--        its interval (Wilson's, 95 %) should hold, and the consistent option is found as often as A as it is as B
--        (`side_difference`: consistent where it is A, minus where it is B).
CREATE OR REPLACE VIEW option_sides AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition, structured_output,
           count(chosen_letter) AS n_valid,
           count(*) FILTER (chosen_letter = 'A') AS n_chosen_a,
           count(*) FILTER (consistent_letter = 'A') AS n_consistent_is_a,
           avg(is_consistent::INTEGER) FILTER (consistent_letter = 'A') AS consistent_rate_as_a,
           avg(is_consistent::INTEGER) FILTER (consistent_letter = 'B') AS consistent_rate_as_b
    FROM forced_choice_answer_rows
    WHERE is_valid
    GROUP BY source, study, study_version, variant, model, test, condition, structured_output
), with_width AS (
    SELECT *, n_valid + 3.841458820694124 AS whole,
           1.959963984540054
               * sqrt(n_chosen_a * (n_valid - n_chosen_a) / nullif(n_valid, 0) + 0.960364705173531) AS half
    FROM counted
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.test, c.condition, c.structured_output,
       c.n_valid, c.n_chosen_a, c.n_chosen_a / nullif(c.n_valid, 0) AS chosen_a_rate,
       CASE WHEN c.n_valid > 0 THEN greatest(0, (c.n_chosen_a + 1.920729410347062 - c.half) / c.whole) END AS conf_low,
       CASE WHEN c.n_valid > 0 THEN least(1, (c.n_chosen_a + 1.920729410347062 + c.half) / c.whole) END AS conf_high,
       c.n_consistent_is_a, c.consistent_rate_as_a, c.consistent_rate_as_b,
       c.consistent_rate_as_a - c.consistent_rate_as_b AS side_difference
FROM with_width c;
