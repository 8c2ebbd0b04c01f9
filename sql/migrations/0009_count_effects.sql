-- Token counts as Bayesian models see them (`analyze --fit brms` of a study of conditions, R's fit_brms() with a
-- `step`): what a fit of the engine `brms` found of counts beside its other tables. `call_id` is that of `fits`, too.

-- The effect of the condition, one fit a row. `family`: what the counts were taken for, of numbers known to a `step` (in
-- tokens). `ratio`: of medians, the posterior's median with its 95 % interval; `p_above`: the posterior probability that
-- it is above 1. Medians in tokens. `zeros_…`: shares of counts of 0 (0 to 1), observed and predicted (the mean).
CREATE TABLE brms_effects (
    call_id TEXT, term TEXT, family TEXT, step DOUBLE, ratio DOUBLE, ratio_low DOUBLE, ratio_high DOUBLE,
    p_above DOUBLE, median_reference DOUBLE, median_other DOUBLE, zeros_reference DOUBLE,
    zeros_reference_predicted DOUBLE, zeros_other DOUBLE, zeros_other_predicted DOUBLE
);

-- Leave-one-out of each count, in the order of the formula's columns, which is the same in all families: `elpd`, the log
-- probability of the count's interval by the model of all others, and Pareto's k of it. Differences of families are made
-- of these, with their standard errors.
CREATE TABLE brms_pointwise (
    call_id TEXT, term_no BIGINT, elpd DOUBLE, pareto_k DOUBLE
);
