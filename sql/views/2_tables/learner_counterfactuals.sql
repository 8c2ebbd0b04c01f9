-- learner_counterfactuals: what the indices of games would be with more or less exploration, under a fitted learner.
-- grain: call_id, exploration, statistic
-- note:  Made by `analyze --fit learning`: games replayed with the model's own parameters but for what `exploration` names;
--        mean and middle 95 % of replays. An answer under the model, and none where its replays do not pass.
CREATE OR REPLACE VIEW learner_counterfactuals AS
SELECT f.source, f.study, f.study_version, f.variant, f.model, c.exploration, c.statistic, c.predicted, c.conf_low,
       c.conf_high, l.is_converged, l.passes, f.fit, f.status, f.fitted_at, f.call_id
FROM learning_counterfactuals c
JOIN learning_learner l ON l.call_id = c.call_id
JOIN fits f ON f.call_id = c.call_id
ORDER BY f.source, f.study, f.study_version, f.variant, f.model, f.fit, f.call_id, c.term_no;
