-- served_names: each name of a model that answered to another name, and whether it is another model.
-- grain: requested_model, served_model
-- order: requested_model, served_model
-- reads: attempts
-- study: any
-- note:  another family or version is another model (gemini-3.8-flash for gemini-2.5-pro), and so is another snapshot than
--        was asked for by its date. These are not: an alias that leads to its own dated snapshot (o3-mini-2025-01-31), a
--        router's prefix or suffix (openai/…, …:free), capitals, points for hyphens, the order of words (claude-4-sonnet),
--        `-latest` without a version, and the name of a file (llama.cpp). Pairs are compared, not answers: ten million
--        answers have a handful of them, and these expressions take two microseconds each.
CREATE OR REPLACE VIEW served_names AS
WITH pairs AS (
    SELECT DISTINCT requested_model, served_model FROM attempts WHERE served_model <> requested_model
), spelt AS (  -- lower case, without a router's prefix and suffix, hyphens alone
    SELECT requested_model, served_model,
           regexp_matches(served_model, '(?i)^([/~.…\\]|[a-z]:\\)|[.](gguf|safetensors|bin|mlx|onnx)$') AS is_file,
           regexp_matches(requested_model, '20[0-9]{2}-?[01][0-9]-?[0-3][0-9]') AS snapshot_was_asked,
           [regexp_replace(regexp_replace(regexp_replace(
               lower(name),
               '^.*/|^((us|eu|apac|global|jp|au|ca|sa|us-gov)[.])?(anthropic|meta|amazon|mistral|cohere|deepseek|openai|qwen'
               '|google|ai21|writer|nvidia|minimax|moonshot|moonshotai|zai)[.]', ''),
               '(:(free|nitro|floor|online|exacto|extended|beta|thinking|latest|cheapest|fastest|preferred|cerebras|fireworks-ai'
               '|together|groq|nebius|novita|sambanova|hyperbolic|featherless-ai|nscale|scaleway|hf-inference)'
               '|-v[0-9]+:[0-9]+)$', ''),
               '[._@:]', '-', 'g') FOR name IN [requested_model, served_model]] AS names
    FROM pairs
), undated AS (  -- dates as providers write them: -2025-01-31, -20250219, -0613, -2411, -001, -05-06
    SELECT *,
           [regexp_replace(regexp_replace(
               name, '-(20[0-9]{2}-?[01][0-9]-?[0-3][0-9]|[0-9]{4}|0[0-9]{2}|[01][0-9]-[0-3][0-9])\b', '', 'g'),
               '-latest$|(^|[^n])-reasoning$', '\1') FOR name IN names] AS families
    FROM spelt
), split AS (  -- words in any order, numbers in theirs
    SELECT *,
           [list_sort(regexp_extract_all(name, '(?:^|-)([a-z][^-]*)', 1)) FOR name IN families] AS words,
           [regexp_extract_all(name, '(?:^|-)([0-9][^-]*)', 1) FOR name IN families] AS numbers
    FROM undated
)
SELECT requested_model, served_model,
       NOT is_file AND CASE
           WHEN snapshot_was_asked THEN names[1] <> names[2]
           WHEN ends_with(names[1], '-latest') AND len(numbers[1]) = 0 THEN words[1] <> words[2]
           ELSE words[1] <> words[2] OR numbers[1] <> numbers[2]
       END AS is_another
FROM split;
