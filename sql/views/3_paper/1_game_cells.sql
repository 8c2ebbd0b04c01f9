-- game_cells: what each variant and model of games is in a paper's words, and what is short of the games planned.
-- grain: source, study, study_version, variant, model
-- design: allocation
-- note:  of "main.cot", `test` is "main" and `condition` "cot"; where no format was asked for, it is the one that this
--        model usually answers in. `is_usual`: it is that of the unchanged study. Only variants of the study have a
--        `shortfall`.
CREATE OR REPLACE VIEW game_cells AS
WITH here AS (
    SELECT source, study, study_version, variant, model, n_games - n_open AS n_ended FROM allocation_game_ends
    UNION ALL BY NAME
    SELECT DISTINCT source, study, study_version, variant, model, 0 AS n_ended FROM allocation_question_ranks
), cells AS (
    SELECT source, study, study_version, variant, model, max(n_ended) AS n_ended,
           split_part(variant, '.', 1) AS test, nullif(regexp_extract(variant, '\.(.*)$', 1), '') AS own_format
    FROM here
    GROUP BY source, study, study_version, variant, model
), named AS (
    SELECT c.*, coalesce(c.own_format, m.condition, o.condition) AS condition, o.n_planned,
           coalesce(u.condition, n.condition) AS usual_format, n.usual_variant
    FROM cells c
    LEFT JOIN planned_cells m ON m.study = c.study AND m.test = c.test AND m.model = c.model
    LEFT JOIN planned_cells o ON o.study = c.study AND o.test = c.test AND o.model IS NULL
    LEFT JOIN planned_cells u ON u.study = c.study AND u.test = u.usual_variant AND u.model = c.model
    LEFT JOIN planned_cells n ON n.study = c.study AND n.test = n.usual_variant AND n.model IS NULL
)
SELECT source, study, study_version, variant, model, usual_variant, test, condition,
       coalesce(condition = usual_format, false) AS is_usual,
       CASE WHEN n_ended < n_planned
            THEN format('{} in {}, {}: {} of {} games', model, test, condition, n_planned - n_ended, n_planned)
       END AS shortfall
FROM named;
