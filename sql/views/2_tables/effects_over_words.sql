-- effects_over_words: whether the condition effect holds for other words and wordings, the study's own model next to it.
-- grain: call_id
-- order: source, study, study_version, variant, fit, models.model_no, model, tests.test_no, test, refusals_removed
--        DESC, measure, call_id
-- note:  Made by `analyze --fit crossed` and by `analyze check`, with R's fit_crossed(): random effects of word and
--        wording on the condition. `std_error_ratio`: over the study's own model (`reference_model`). `verdict`: the effect
--        stays significant, is lost, is gained, or is not_significant in either model; already_in_model if the study's own
--        model lets the effect vary over words and wordings, too. `mde`: what such a study would find with a power of
--        80 %, in units of the outcome, `mde_d` in standard deviations. The shares add up to 1: what words, wordings and
--        trials have of the squared standard error, and combinations of word, wording and condition where there are
--        repetitions. Where `is_singular`, `left_out` names the variances that were estimated as 0, `fitted` is the
--        formula without them. `df_method`: Kenward-Roger, or capped (the fewest words or wordings less 1);
--        `generalises_to`: what the effect is claimed over (nothing of which there are fewer than three).
CREATE OR REPLACE VIEW effects_over_words AS
WITH shares AS (
    SELECT call_id, coalesce(sum(share) FILTER ("group" = 'item' OR ends_with("group", ':item')), 0) AS share_words,
           coalesce(sum(share) FILTER ("group" = 'wording'), 0) AS share_wordings,
           coalesce(sum(share) FILTER ("group" = 'combination'), 0) AS share_combinations,
           coalesce(sum(share) FILTER ("group" = 'residual'), 0) AS share_trials
    FROM crossed_shares
    GROUP BY call_id
)
SELECT f.source, f.study, f.study_version, f.variant, f.model, coalesce(m.label, f.model) AS model_label, f.test,
       coalesce(t.label, f.test) AS test_label, f.refusals_removed, f.measure, e.term, e.reference_estimate,
       e.reference_std_error, e.reference_p, e.estimate, e.std_error, e.std_error_ratio, e.df, e.p_value, e.conf_low,
       e.conf_high, e.verdict, e.mde, e.mde_d, e.sd, s.share_words, s.share_wordings, s.share_combinations,
       s.share_trials, e.is_singular, e.left_out, e.fitted, e.df_method, e.generalises_to, e.reference_model,
       f.formula, f.n, f.fit, f.status, f.call_id
FROM crossed_effects e
JOIN fits f ON f.call_id = e.call_id
JOIN shares s ON s.call_id = e.call_id
LEFT JOIN models m ON m.study = f.study AND m.study_version = f.study_version AND m.model = f.model
LEFT JOIN tests t ON t.study = f.study AND t.study_version = f.study_version AND t.test = f.test;
