-- coding_counts: how often each coder gives each code, and how many of its codings can't be read.
-- grain: source, study, study_version, variant, model, code
-- order: source, study, study_version, variant, model, code
-- design: coding
-- note:  `share` is of the texts with a code that can be read, of a scale the mean point. `model` is the coder, a person where
--        `is_person`.
CREATE OR REPLACE VIEW coding_counts AS
SELECT source, study, study_version, variant, coder AS model, is_person, code, count(given) AS n_texts,
       count(*) FILTER (given IS NULL) AS n_unread, avg(given) AS share
FROM codings
GROUP BY source, study, study_version, variant, coder, is_person, code;
