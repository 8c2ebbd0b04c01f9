-- coding_agreement: whether models code answers as they were coded before, and what they say of those left undecided.
-- grain: source, study, study_version, variant, model, coding_source, coding_study, coding_version, coder
-- order: source, study, study_version, variant, model, coding_source, coding_study, coding_version, coder
-- design: coding
-- paper: Cohen (1960); Fleiss, Cohen and Everitt (1969), equation 9, for the standard error
-- note:  of the answers of one model; of `n_both` with both codings `n_agree` are alike; `kappa` and its standard error are of these, NULL if
--        one side says the same of all. `n_neither` more were coded before, and the model gives them to neither. Of
--        `n_undecided` answers without a first coding it settles `n_settled`. `n_not_coded`: refused, cut off or unread.
CREATE OR REPLACE VIEW coding_agreement AS
WITH counted AS (
    SELECT source, study, study_version, variant, model, coding_source, coding_study, coding_version, coder,
           count(*) AS n_codings,
           count(*) FILTER (first_coding = 'a' AND second_coding = 'a')::DOUBLE AS aa,
           count(*) FILTER (first_coding = 'a' AND second_coding = 'b')::DOUBLE AS ab,
           count(*) FILTER (first_coding = 'b' AND second_coding = 'a')::DOUBLE AS ba,
           count(*) FILTER (first_coding = 'b' AND second_coding = 'b')::DOUBLE AS bb,
           count(*) FILTER (first_coding IS NOT NULL AND second_coding = 'neither') AS n_neither,
           count(*) FILTER (first_coding IS NULL) AS n_undecided,
           count(*) FILTER (first_coding IS NULL AND (second_coding = 'a' OR second_coding = 'b')) AS n_settled,
           count(*) FILTER (second_coding IS NULL) AS n_not_coded
    FROM second_codings
    GROUP BY source, study, study_version, variant, model, coding_source, coding_study, coding_version, coder
), shares AS (
    SELECT *, aa + ab + ba + bb AS n, (aa + bb) / nullif(aa + ab + ba + bb, 0) AS observed,
           (aa + ab) / nullif(aa + ab + ba + bb, 0) AS first_a, (aa + ba) / nullif(aa + ab + ba + bb, 0) AS second_a
    FROM counted
), chance AS (
    SELECT *, first_a * second_a + (1 - first_a) * (1 - second_a) AS expected FROM shares
)
SELECT source, study, study_version, variant, model, coding_source, coding_study, coding_version, coder, n_codings,
       n::BIGINT AS n_both, (aa + bb)::BIGINT AS n_agree, observed AS share_agree,
       (observed - expected) / nullif(1 - expected, 0) AS kappa,
       sqrt(greatest(0.0::DOUBLE,
           aa / n * ((1 - expected) - (first_a + second_a) * (1 - observed)) ** 2
           + bb / n * ((1 - expected) - (2 - first_a - second_a) * (1 - observed)) ** 2
           + (1 - observed) ** 2 * (ab / n * (second_a + 1 - first_a) ** 2 + ba / n * (first_a + 1 - second_a) ** 2)
           - (observed * expected - 2 * expected + observed) ** 2
       ) / nullif(n, 0)) / nullif(1 - expected, 0) ** 2 AS kappa_se,
       n_neither, n_undecided, n_settled, n_not_coded
FROM chance;
