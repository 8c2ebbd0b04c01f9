-- Choices among two profiles of nine attributes, as collectors would have left them: four models, two templates.
--
-- The variable `profiles` says how many. Everything follows from the number of the row, so each run makes the same rows.
INSERT INTO runs BY NAME
SELECT 'run-1' AS run_id, 'collected' AS source, 'conjoint' AS study, 'v1' AS study_version, 'main' AS variant,
       1 AS seed, TIMESTAMP '2026-01-01' AS started_at, 'factorial' AS design;

INSERT INTO run_models BY NAME
SELECT 'run-1' AS run_id, m + 1 AS place, m + 1 AS model_no, printf('model-%d', m) AS model, model AS label,
       'openai' AS provider, model AS requested_model, 'usage' AS measure, '{}' AS settings
FROM range(4) AS models(m);

CREATE OR REPLACE TEMP VIEW new_rows AS
WITH numbered AS (
    SELECT i, hash(i // 4) AS h, hash(i) AS luck, (i % 4)::INTEGER AS m, i // 4 AS task,
           ['gender', 'education', 'language', 'origin', 'job', 'experience', 'plans', 'reason', 'trips'] AS names,
           [2, 7, 4, 10, 11, 4, 4, 3, 5] AS sizes
    FROM range(getvariable('profiles')::BIGINT // 2) AS rows(i)
), drawn AS (
    SELECT *,
           flatten(list_transform(range(2), lambda p: list_transform(range(9), lambda a:
               printf('%s %d', names[a + 1], hash(task * 18 + p * 9 + a) % sizes[a + 1]::UBIGINT)))) AS levels,
           flatten(list_transform(range(2), lambda p:
               list_transform(sizes, lambda size: round(1.0::DOUBLE / size, 10)::VARCHAR))) AS shares,
           CASE h % 2 WHEN 0 THEN names ELSE list_reverse(names) END AS shown,
           CASE WHEN luck % 100 < 3 THEN 'refused' ELSE 'answered' END AS outcome
    FROM numbered
)
SELECT md5(i::TEXT) AS attempt_id, 'run-1' AS run_id, i AS sequence, md5('task' || i) AS conversation_id,
       md5('trial' || i) AS trial_id, 1 AS turn, 1 AS try_no, true AS is_final, 'collected' AS source,
       'conjoint' AS study, 'v1' AS study_version, 'main' AS variant, printf('model-%d', m) AS model,
       'openai' AS provider, model AS requested_model, 1 AS repetition, i AS position, 'preferred' AS test,
       CASE h % 2 WHEN 0 THEN 'plain' ELSE 'formal' END AS condition, printf('task %d', task + 1) AS item,
       1 AS wording, outcome, CASE WHEN outcome = 'answered' THEN (luck // 100 % 2 + 1)::VARCHAR END AS choice,
       'Answer: ' || choice AS answer,
       '{"values":["' || coalesce(choice, '') || '"],"outcomes":["' || outcome || '"],"names":["'
           || array_to_string(names, '","') || '"],"levels":["' || array_to_string(levels, '","') || '"],"shares":['
           || array_to_string(shares, ',') || '],"order":["' || array_to_string(shown, '","') || '"],"template":"'
           || condition || '","persona":"","n_profiles":2,"questions":["preferred"],"kinds":["profile"],"lows":[0],'
           || '"highs":[0],"directions":["forward"],"abouts":[0]}' AS factors
FROM drawn;
