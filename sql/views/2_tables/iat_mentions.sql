-- iat_mentions: how often the reasoning names the IAT: documents with these three capitals.
-- grain: source, study, study_version, variant, model, test, condition
-- reads: association_answer_rows, models, tests, conditions
-- design: association
-- paper: Table S11
-- note:  case-sensitive, refusals left out. `n` answers remain; `n_readable` of them have a reasoning text (o3-mini
--        shows none), and where none has, mentions are NULL: not readable is not zero. The paper's rate is
--        n_mentions / n, which is `mention_rate` wherever every text is readable.
CREATE OR REPLACE VIEW iat_mentions AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, test, condition,
           count(*) FILTER (NOT is_refusal) AS n,
           count(reasoning_text) FILTER (NOT is_refusal) AS n_readable,
           count(*) FILTER (NOT is_refusal AND contains(reasoning_text, 'IAT')) AS n_found
    FROM association_answer_rows
    GROUP BY source, study, study_version, variant, model, test, condition
)
SELECT c.source, c.study, c.study_version, c.variant, c.model, c.test, c.condition, c.n, c.n_readable,
       CASE WHEN c.n_readable > 0 THEN c.n_found END AS n_mentions,
       c.n_found / nullif(c.n_readable, 0) AS mention_rate
FROM counted c
LEFT JOIN models m ON m.study = c.study AND m.study_version = c.study_version AND m.model = c.model
LEFT JOIN tests t ON t.study = c.study AND t.study_version = c.study_version AND t.test = c.test
LEFT JOIN conditions k ON k.study = c.study AND k.study_version = c.study_version AND k.condition = c.condition
ORDER BY c.source, c.study, c.study_version, c.variant, m.model_no, c.model, t.test_no, c.test, k.condition_no,
         c.condition;
