-- allocation_learning_curves: success and sameness by round: how a model's choices settle while it plays.
-- grain: source, study, study_version, variant, model, round
-- order: source, study, study_version, variant, model, round
-- design: allocation
-- note:  over all games that came to this round. `repeat_rate` is the share that chose the group chosen last for this
--        class, of the `n_with_past` rounds whose class was not new; `new_group_rate` the share that chose a group for
--        the first time in this class. Single rounds that are pooled have no past.
CREATE OR REPLACE VIEW allocation_learning_curves AS
WITH seen AS (
    SELECT source, study, study_version, variant, model, round, is_success, choice,
           lag(choice) OVER (PARTITION BY history, class, source, study_version, variant ORDER BY round) AS last_choice,
           row_number() OVER (PARTITION BY history, class, choice, source, study_version, variant ORDER BY round) AS nth
    FROM allocation_round_rows
    WHERE choice IS NOT NULL
)
SELECT source, study, study_version, variant, model, round, count(*) AS n_games,
       avg(is_success::INTEGER) AS success_rate,
       count(last_choice) AS n_with_past,
       avg((choice = last_choice)::INTEGER) AS repeat_rate,
       avg((nth = 1)::INTEGER) AS new_group_rate
FROM seen
GROUP BY source, study, study_version, variant, model, round;
