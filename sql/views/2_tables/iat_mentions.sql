-- iat_mentions: how often the reasoning names the IAT: documents with these three capitals.
-- grain: sorted by source, study, study_version, variant, model, test, condition
-- design: association
-- paper: Table S11
-- note:  case-sensitive, refusals left out. `n` answers remain; `n_readable` of them have a reasoning text (o3-mini
--        shows none), and if none has, mentions are NULL: not readable is not zero. A summary is not the reasoning
--        (`reasoning_kind`): it is not read. The paper's rate is
--        n_mentions / n, which is `mention_rate` wherever every text is readable.
CREATE OR REPLACE VIEW iat_mentions AS
SELECT source, study, study_version, variant, model, test, condition,
       count(*) FILTER (is_valid) AS n,
       count(reasoning_text) FILTER (is_valid AND reasoning_kind IS DISTINCT FROM 'summary') AS n_readable,
       CASE WHEN n_readable > 0
            THEN count(*) FILTER (is_valid AND reasoning_kind IS DISTINCT FROM 'summary'
                                  AND contains(reasoning_text, 'IAT')) END AS n_mentions,
       n_mentions / n_readable AS mention_rate
FROM association_answer_rows
GROUP BY source, study, study_version, variant, model, test, condition;
