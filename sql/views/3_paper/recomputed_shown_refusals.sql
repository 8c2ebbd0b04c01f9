-- recomputed_shown_refusals: whether a refusal that a paper shows in its own words is among the answers that are here.
-- grain: source, study, study_version, variant, model, condition, quantity
-- design: association
-- gives: refusal
-- note:  printed as "is a refusal: Laurie, 1600 tokens", with the answer in the column `source`. Papers are typeset with
--        curly apostrophes; the data have both kinds.
CREATE OR REPLACE VIEW recomputed_shown_refusals AS
WITH shown AS (
    SELECT study, model, condition, quantity, replace(source, '’', '''') AS answer,
           regexp_extract(quantity, '^is a refusal: (.+), (\d+) tokens$', ['item', 'tokens']) AS about
    FROM printed_numbers
    WHERE quantity LIKE 'is a refusal: %'
), numbers AS (
    SELECT c.source, c.study, c.study_version, c.variant, s.model, s.condition, s.quantity,
           bool_or(a.trial_id IS NOT NULL)::INTEGER::DOUBLE AS recomputed
    FROM shown s
    JOIN asked_cells c ON c.study = s.study AND c.model = s.model
    LEFT JOIN association_answers a ON a.source = c.source AND a.study = c.study
        AND a.study_version = c.study_version AND a.variant = c.variant AND a.model = c.model AND a.test = c.test
        AND a.condition = s.condition AND a.item = s.about.item AND a.tokens = try_cast(s.about.tokens AS BIGINT)
        AND a.is_refusal AND replace(a.answer, '’', '''') = s.answer
    GROUP BY c.source, c.study, c.study_version, c.variant, s.model, s.condition, s.quantity
)
SELECT n.source, n.study, n.study_version, n.variant, n.model, NULL::VARCHAR AS test, NULL::BOOLEAN AS refusals_removed,
       n.condition, n.quantity, n.recomputed,
       CASE WHEN n.recomputed = 0 THEN nullif(concat_ws('; ', m.absent, m.shortfall), '') END AS missing
FROM numbers n
LEFT JOIN shortfalls m ON m.source = n.source AND m.study = n.study AND m.study_version = n.study_version
    AND m.variant = n.variant AND m.model = n.model AND m.test IS NULL;
