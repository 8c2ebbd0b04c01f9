-- uncounted_answers: models none of whose answers came with a count of tokens.
-- grain: source, study, study_version, variant, model, provider, requested_model
-- order: source, study, study_version, variant, model, provider, requested_model
-- note:  `n_readable` of them have reasoning that `collect recount` can count. In a study about something else than
--        tokens such a model is no problem.
CREATE OR REPLACE VIEW uncounted_answers AS
SELECT source, study, study_version, variant, model, provider, requested_model,
       count(*) AS n_answers,
       count(*) FILTER (reasoning_text <> '' AND reasoning_kind IS DISTINCT FROM 'summary'
                        AND reasoning_tokens_recounted IS NULL) AS n_readable
FROM trials
WHERE source IN ('collected', 'imported')
GROUP BY source, study, study_version, variant, model, provider, requested_model
HAVING count(tokens) = 0;
