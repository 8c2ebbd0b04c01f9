-- permutation_main_fits: what a study's own fit found in the very rows that a permutation test permuted.
-- grain: permutation_id, model, test, kind, scale
-- order: permutation_id, model, test, kind, scale
-- note:  the rows are the same where their hash is; of several such fits (other settings) the latest. Of lme4 there
--        is no item_averaged: that is over the items that were asked, the fit's new_items over any.
CREATE OR REPLACE VIEW permutation_main_fits AS
WITH contrasts AS (
    SELECT call_id, model, test, kind, scale, estimate FROM brms_contrasts
    UNION ALL
    SELECT call_id, model, test, kind, scale, estimate FROM lme4_contrasts
)
SELECT p.permutation_id, c.model, c.test, c.kind, c.scale, c.estimate, f.call_id
FROM permutations p
JOIN fits f ON f.study = p.study AND f.fit = p.fit AND f.engine = p.engine AND f.source = p.source
    AND f.study_version = p.study_version AND f.variant = p.variant AND f.data_hash = p.rows_hash
JOIN contrasts c ON c.call_id = f.call_id
QUALIFY row_number() OVER (
    PARTITION BY p.permutation_id, c.model, c.test, c.kind, c.scale ORDER BY f.fitted_at DESC, f.call_id
) = 1;
