-- Rounds of the hiring game as collectors would have left them: cells of 30 games of 40 rounds, 10,000 games in all. A
-- game leans towards one group for each class, so that matrices are neither even nor empty.
--
-- The variable `games` says how many. Everything follows from the number of the row, so each run makes the same rows.
CREATE OR REPLACE TEMP VIEW new_rows AS
WITH numbered AS (
    SELECT i, hash(i) AS h, i // 40 AS game_no, i % 40 + 1 AS round_no
    FROM range(getvariable('games')::BIGINT * 40) AS rows(i)
), drawn AS (
    SELECT *, (h % 4)::INTEGER AS c, (h // 4 % 10)::INTEGER AS luck, (h // 40 % 10)::INTEGER AS leans,
           CASE WHEN leans < 6 THEN hash(game_no * 4 + c) % 4 ELSE h // 400 % 4 END::INTEGER AS g
    FROM numbered
)
SELECT md5(i::TEXT) AS attempt_id, printf('run-%04d', game_no // 30) AS run_id, i AS sequence,
       md5(game_no::TEXT) AS conversation_id, md5(i::TEXT) AS trial_id, 1 AS turn, 1 AS try_no, true AS is_final,
       'collected' AS source, 'hiring' AS study, 'v1' AS study_version, 'main' AS variant,
       printf('model-%04d', game_no // 30) AS model, 'openai' AS provider, model AS requested_model,
       md5(game_no::TEXT) AS game, round_no AS round, game_no % 30 + 1 AS repetition, i AS position, 'rounds' AS test,
       printf('class_%d', c) AS condition, printf('job_%d_%d', c, h // 4000 % 5) AS item, 'all' AS "group",
       1 AS wording, 'answered' AS outcome, ['Tufa', 'Aima', 'Reku', 'Weki'][g + 1] AS choice,
       'Answer: ' || choice AS answer,
       '{"is_success":' || (luck > 0) || ',"p_success":0.9,"points":1.0,"answer_format":"direct","n_rounds":40,'
           || '"groups":["Tufa","Aima","Reku","Weki"],"class_sizes":[5,5,5,5],'
           || '"groups_shown":["Tufa","Aima","Reku","Weki"],"would_succeed":["Aima","Reku"],'
           || '"p_by_group":[0.9,0.9,0.9,0.9],"reminders":0,"tries_before":[2,0,1,0],"successes_before":[2,0,1,0],'
           || '"last_in_class":"Tufa","last_succeeded":true,"points_before":' || round_no || '.0}' AS factors
FROM drawn;
