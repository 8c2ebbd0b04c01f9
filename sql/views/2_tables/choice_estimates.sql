-- choice_estimates: what choices in games go by, in log odds.
-- grain: call_id, term
-- note:  Made by `analyze --fit choice`: a conditional logit of the rounds, standard errors over games. `vif`: variance
--        inflation. `is_penalised`: choices were separated, and all estimates have Firth's penalty. `nats` a choice next to
--        `chance_nats`. A description, not a cause: what was seen is the outcome of earlier choices.
CREATE OR REPLACE VIEW choice_estimates AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, e.term, e.estimate, e.std_error, e.conf_low, e.conf_high,
       e.p_value, t.vif, t.is_penalised, s.n_games, s.n_choices, s.nats, s.chance_nats, f.fit, f.status, f.fitted_at, f.call_id
FROM choice_sets s
JOIN fits f ON f.call_id = s.call_id
JOIN estimates e ON e.call_id = s.call_id
JOIN choice_terms t ON t.call_id = s.call_id AND t.term = e.term
ORDER BY f.source, f.study, f.study_version, f.variant, f.model, f.fit, f.call_id, e.term_no;
