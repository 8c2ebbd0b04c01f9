-- participants: the people whose answers are here, with what is known of each, unordered.
-- grain: study, participant
-- note:  `participant` is a running number within the study, as in `trials`. `attributes` holds what an import was asked
--        to take of people by name (an age group, say); fits name them as columns of any view that has `participant`.
CREATE OR REPLACE VIEW participants AS
SELECT r.source, r.study, r.study_version, r.variant, p.run_id, p.participant, p.attributes
FROM run_participants p
JOIN runs r ON r.run_id = p.run_id
ANTI JOIN aside_runs s ON s.run_id = p.run_id;
