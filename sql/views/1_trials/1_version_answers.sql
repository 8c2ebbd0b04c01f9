-- version_answers: how many answers each version of a study was given, by what decided their prompts.
-- grain: sorted by study, study_version, content
-- inner: yes
-- note:  `study_version` is the one that was at hand when they were asked; which other versions they belong to is in
--        the table study_contents.
CREATE OR REPLACE VIEW version_answers AS
SELECT study, study_version, content, count(*) AS n_answers
FROM attempts
WHERE is_final AND occasion IS NULL
GROUP BY study, study_version, content;
