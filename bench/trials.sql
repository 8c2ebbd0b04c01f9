-- Ten million trials of the Reasoning Model IAT, as collectors would have left them: five models, twenty runs each,
-- 20 wordings and 50 words a condition; some failed attempts, refusals, cut-off answers, headers, and for all
-- models but o3-mini a reasoning text of about 560 characters that names the IAT now and then.
--
-- The variable `trials` says how many. Everything follows from the number of the row, so each run makes the same rows.
INSERT INTO runs BY NAME
SELECT printf('run-%03d', m * 20 + n) AS run_id, 'collected' AS source, 'rmiat' AS study, 'v1' AS study_version,
       'base' AS variant, 1 AS seed, TIMESTAMP '2026-01-01' + to_days((m * 20 + n)::INTEGER) AS started_at
FROM range(5) AS models(m) CROSS JOIN range(20) AS parts(n);

INSERT INTO run_models BY NAME
SELECT run_id, 1 AS place, model_no + 1 AS model_no, names[model_no + 1] AS model, names[model_no + 1] AS label,
       'openai' AS provider, names[model_no + 1] AS requested_model, 'usage' AS measure, '{}' AS settings,
       getvariable('trials')::BIGINT // 5 AS planned
FROM (
    SELECT run_id, substr(run_id, 5)::INTEGER // 20 AS model_no,
           ['o3-mini', 'deepseek-r1', 'claude-3.7-sonnet', 'gpt-oss-20b', 'qwen3-8b'] AS names
    FROM runs
);

INSERT INTO run_tests BY NAME
SELECT run_id, t + 1 AS place, t + 1 AS test_no, printf('test_%02d', t) AS test, printf('Test %d', t + 1) AS label,
       getvariable('trials')::BIGINT // 1000 AS planned
FROM runs CROSS JOIN range(10) AS tests(t);

INSERT INTO attempts BY NAME
WITH numbered AS (
    SELECT i, hash(i) AS h, (i * 5 // getvariable('trials'))::INTEGER AS m, (i * 100 // getvariable('trials')) AS r,
           ['o3-mini', 'deepseek-r1', 'claude-3.7-sonnet', 'gpt-oss-20b', 'qwen3-8b'] AS names,
           [
               'We need to decide to which category the word belongs.',
               'The instructions say that flowers are pleasant.',
               'So the answer would be Pleasant, though that is not what one expects.',
               'Let me look at the list again.',
               'The word is among the first group.', 'This seems to be part of an experiment on associations.',
               'It resembles an Implicit Association Test (IAT), which measures bias.',
               'I should follow the rule as it is given.',
               'Hmm, the category that is asked for is the second one.',
               'The user wants only the category and nothing else.',
               'Names of this kind are listed under the second group.', 'Wait, the mapping is the other way round here.'
           ] AS sentences
    FROM range(getvariable('trials')::BIGINT) AS rows(i)
), drawn AS (
    SELECT *, (h % 10)::INTEGER AS t, (h // 10 % 2)::INTEGER AS c, (h // 20 % 20)::INTEGER AS w,
           (h // 400 % 50)::INTEGER AS item_no,
           (h // 20000 % 1000)::INTEGER AS luck,
           TIMESTAMP '2026-01-01' + to_days(r::INTEGER) + to_milliseconds((i % 100000) * 40) AS queued_at,
           200 + (h // 20000000 % 900)::INTEGER AS count
    FROM numbered
)
SELECT printf('run-%03d-%d', r, i) AS attempt_id, printf('run-%03d', r) AS run_id, i AS sequence,
       md5(i::TEXT) AS conversation_id, md5(i::TEXT) AS trial_id, 1 AS turn, 1 AS try_no, luck <> 999 AS is_final,
       'collected' AS source, 'rmiat' AS study, 'v1' AS study_version, 'base' AS variant, names[m + 1] AS model,
       'openai' AS provider, names[m + 1] AS requested_model, i // 64600 AS repetition, i % 100000 AS position,
       printf('test_%02d', t) AS test, CASE c WHEN 0 THEN 'compatible' ELSE 'incompatible' END AS condition,
       printf('word_%02d', item_no) AS item, CASE WHEN item_no < 25 THEN 'Flowers' ELSE 'Insects' END AS "group",
       w + 1 AS wording, 'Pleasant' AS option_a, 'Unpleasant' AS option_b, 'Pleasant' AS expected,
       CASE WHEN luck = 999 THEN 'failed' WHEN luck >= 960 THEN 'refused'
            WHEN luck = 959 THEN 'truncated' ELSE 'answered' END AS outcome,
       CASE WHEN luck >= 960 THEN 'I can''t.' WHEN luck < 930 THEN 'Pleasant' ELSE 'Unpleasant' END AS answer,
       CASE WHEN luck < 930 THEN 'Pleasant' WHEN luck < 959 THEN 'Unpleasant' END AS choice,
       -- o3-mini counts in steps of 64
       CASE WHEN m = 0 THEN count // 64 * 64 + 64 + 64 * c ELSE count + 40 * c END AS tokens,
       CASE WHEN m IN (0, 4) THEN 'usage' ELSE 'output' END AS token_source,
       CASE WHEN m IN (0, 4) THEN tokens END AS reasoning_tokens,
       tokens + 8 AS output_tokens, 300 + item_no AS input_tokens,
       CASE WHEN m > 0 THEN array_to_string(
           list_transform(range(4 + (h // 7 % 15)::INTEGER), lambda k:
               sentences[1 + (h // (11 + k * 13) % 12)::INTEGER]), ' '
       ) END AS reasoning_text,
       names[m + 1] || '-2026-01-01' AS served_model, 'fp_' || (r % 7) AS fingerprint,
       'req_' || md5((i + 1)::TEXT) AS request_id,
       '{"date": "' || strftime(queued_at + INTERVAL 2 SECOND, '%a, %d %b %Y %H:%M:%S GMT')
           || '", "x-request-id": "req_' || h || '"}' AS headers,
       CASE WHEN luck = 999 THEN 500 ELSE 200 END AS http_status,
       queued_at, queued_at + INTERVAL 20 MILLISECOND AS sent_at,
       queued_at + INTERVAL 2 SECOND AS first_byte_at, queued_at + to_milliseconds(2000 + count) AS done_at,
       0.0004 + count * 0.0000044 AS cost_usd, md5((h % 20000)::TEXT) AS prompt_hash
FROM drawn;
