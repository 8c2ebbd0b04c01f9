-- iat_mentions: how often the reasoning names the IAT: documents with these three capitals.
-- grain: source, study_version, variant, model, test, condition
-- reads: rmiat_answers
-- study: rmiat
-- paper: Table S11
-- note:  case-sensitive, refusals left out. `n` answers remain; `n_readable` of them have a reasoning text (o3-mini
--        shows none), and where none has, mentions are NULL: not readable is not zero. The paper's rate is
--        n_mentions / n, which is `mention_rate` wherever every text is readable.
CREATE OR REPLACE VIEW iat_mentions AS
WITH counted AS (
    SELECT source, study_version, variant, model, test, condition,
           min(model_no) AS model_no, min(test_no) AS test_no,
           count(*) FILTER (NOT is_refusal) AS n,
           count(reasoning_text) FILTER (NOT is_refusal) AS n_readable,
           count(*) FILTER (NOT is_refusal AND contains(reasoning_text, 'IAT')) AS n_found
    FROM rmiat_answers
    GROUP BY source, study_version, variant, model, test, condition
)
SELECT source, study_version, variant, model, test, condition, n, n_readable,
       CASE WHEN n_readable > 0 THEN n_found END AS n_mentions,
       n_found / nullif(n_readable, 0) AS mention_rate
FROM counted
ORDER BY source, study_version, variant, model_no, model, test_no, test, condition;
