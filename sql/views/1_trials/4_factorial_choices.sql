-- factorial_choices: one profile a row of a choice between two, with what was chosen when its task was shown again.
-- grain: trial_id, question, position
-- order: source, study, study_version, variant, model, question, trial_id, position
-- design: factorial
-- note:  `again` is 1 if the profile was chosen when its task was shown with the sides swapped (`repeated` of a study's
--        profiles), 0 if the other one was; NULL of tasks that were shown once, and where the second had no answer.
CREATE OR REPLACE VIEW factorial_choices AS
SELECT p.source, p.study, p.study_version, p.variant, p.run_id, p.trial_id, p.model, p.participant, p.respondent,
       p.question AS test, p.question, p.kind, p.template, p.item, p.repetition, p.position, p.outcome, p.chosen,
       a.chosen AS again, map(p.names, p.levels) AS attributes
FROM factorial_profile_rows p
LEFT JOIN factorial_profile_rows a
       ON a.source = p.source AND a.study = p.study AND a.study_version = p.study_version AND a.variant = p.variant
      AND a.respondent = p.respondent AND a.question = p.question AND a.condition = p.condition
      AND a.repetition = p.repetition AND a.item = p.item || ' again' AND a.position = 3 - p.position
WHERE p.kind = 'profile' AND NOT ends_with(p.item, ' again');
