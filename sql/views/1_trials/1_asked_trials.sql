-- asked_trials: every trial that has its answer, as it was asked: its cell, the version, the seed, the settings.
-- grain: attempt_id
-- inner: yes
-- note:  what a plan is compared with, so that nothing is paid twice unknowingly; without what `collect --again` asked.
--        `study_version` is that of its run.
CREATE OR REPLACE VIEW asked_trials AS
SELECT a.attempt_id, a.source, a.study, a.study_version, a.content, a.variant, a.model, a.provider, a.requested_model,
       a.trial_id, a.game, a.round, a.repetition, a.test, a.condition, a.item, a.wording, r.seed, m.settings
FROM attempts a
LEFT JOIN runs r ON r.run_id = a.run_id
LEFT JOIN run_models m ON m.run_id = a.run_id AND m.model = a.model
ANTI JOIN aside_runs s ON s.run_id = a.run_id
WHERE a.is_final AND a.occasion IS NULL;
