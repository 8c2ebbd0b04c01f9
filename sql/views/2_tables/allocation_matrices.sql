-- allocation_matrices: the allocation matrix of each game: how often each group was chosen for each class of jobs.
-- grain: source, study, study_version, variant, model, game, class, group
-- order: source, study, study_version, variant, model, repetition, game, class, "group"
-- design: allocation
-- note:  zeros are rows too: every group of the game with every class that any game of its variant drew.
CREATE OR REPLACE VIEW allocation_matrices AS
WITH counts AS MATERIALIZED (
    FROM allocation_counts
), classes AS (
    SELECT DISTINCT source, study, study_version, variant, class
    FROM counts
), cells AS (
    SELECT source, study, study_version, variant, model, game, repetition, is_complete,
           unnest(string_split(trim(groups, '[]"'), '","')) AS "group"
    FROM allocation_games
)
SELECT g.source, g.study, g.study_version, g.variant, g.model, g.game, g.repetition, g.is_complete,
       l.class, g."group", coalesce(c.n, 0) AS n
FROM cells g
JOIN classes l USING (source, study, study_version, variant)
LEFT JOIN counts c USING (source, study, study_version, variant, model, game, class, "group");
