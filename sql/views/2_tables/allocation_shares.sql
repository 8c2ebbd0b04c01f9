-- allocation_shares: how often each model chose each group for each class of jobs: its allocation matrices added up.
-- grain: source, study, study_version, variant, model, class, group
-- order: source, study, study_version, variant, model, class, "group"
-- design: allocation
-- note:  Wu et al., figures 6 and 12; over complete games. `share_of_class` is of all who were chosen for this class,
--        `share_of_group` of all the jobs of this group, `n_games` those in which it was chosen for this class at all.
--        Equal shares here may hide games that are each stratified, in another way: allocation_indices says so.
CREATE OR REPLACE VIEW allocation_shares AS
SELECT source, study, study_version, variant, model, class, "group", sum(n)::BIGINT AS n,
       count(*) FILTER (n > 0) AS n_games,
       sum(n) / nullif(sum(sum(n)) OVER (PARTITION BY source, study, study_version, variant, model, class), 0)
           AS share_of_class,
       sum(n) / nullif(sum(sum(n)) OVER (PARTITION BY source, study, study_version, variant, model, "group"), 0)
           AS share_of_group
FROM allocation_matrices
WHERE is_complete
GROUP BY source, study, study_version, variant, model, class, "group";
