-- learner_parameters: how a model learns in games, under a hierarchical learner.
-- grain: call_id, term
-- note:  Made by `analyze --fit learning`. `estimate` is the posterior median at the centre of the games, with its 95 %
--        interval; rates and shares from 0 to 1, `sd_…` between games on the scale of the prior. Not `is_identified`: the
--        posterior is hardly narrower than the prior. Unless it `is_converged` and `passes` its replays, these are no
--        findings: `verdict` says why.
CREATE OR REPLACE VIEW learner_parameters AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, e.term, e.estimate, e.std_error, e.conf_low, e.conf_high,
       p.prior, p.prior_sd, p.posterior_sd, p.is_identified, l.learner, l.n_games, l.n_choices, l.nats, l.chance_nats,
       l.is_converged, l.passes, l.verdict, f.fit, f.status, f.fitted_at, f.call_id
FROM learning_learner l
JOIN fits f ON f.call_id = l.call_id
JOIN estimates e ON e.call_id = l.call_id
LEFT JOIN learning_priors p ON p.call_id = l.call_id AND p.term = e.term
ORDER BY f.source, f.study, f.study_version, f.variant, f.model, f.fit, f.call_id, e.term_no;
