-- served_names: each name of a model that answered to another name, and whether it is another model.
-- grain: sorted by requested_model, served_model
-- inner: yes
-- note:  another model is one of another family, version or size (o3-mini for o3), or another snapshot than was asked for
--        by its date. The same are: an alias and its snapshot, another spelling, a router's prefix, a region, an empty
--        name, the name of a file, and the aliases below. A word that one name alone has and that is no size
--        (`unknown_words`) may mean anything: these answers stay in, and the run says so once.
CREATE OR REPLACE VIEW served_names AS
WITH aliases (requested, served, source) AS (
    VALUES ('gpt-4-turbo-preview', 'gpt-4-0125-preview', 'developers.openai.com/api/docs/models/gpt-4-turbo-preview (default snapshot), read 2026-11-28'),
           ('gpt-5-6', 'gpt-5-6-sol',
               'vercel.com/ai-gateway/models/openai/gpt-5.6-sol (OpenAI routes the alias to it), read 2026-11-28')
), pairs AS (
    SELECT DISTINCT requested_model, served_model FROM attempts WHERE served_model NOT IN (requested_model, '')
), spelt AS (  -- lower case, without a router's prefix and suffix, v2 as 2, 2.0 as 2, llama3 as llama-3, hyphens alone
    SELECT requested_model, served_model,
           regexp_matches(served_model, '(?i)^([/~.…\\]|[a-z]:\\)|[.](gguf|safetensors|bin|mlx|onnx)$') AS is_file,
           [regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
               lower(trim(name)),
               '^(.*/)?((us|eu|apac|global|jp|au|ca|sa|us-gov)[.])?((anthropic|meta|amazon|mistral|cohere|deepseek|openai|qwen'
               '|google|ai21|writer|nvidia|minimax|moonshot|moonshotai|zai)[.]|(databricks|bedrock|azure|vertex)-)?', ''),
               '(:(free|nitro|floor|online|exacto|extended|beta|thinking|latest|cheapest|fastest|preferred|cerebras|fireworks-ai'
               '|together|groq|nebius|novita|sambanova|hyperbolic|featherless-ai|nscale|scaleway|hf-inference)'
               '|-v[0-9]+:[0-9]+)$', ''),
               '\bv?([0-9]+)p([0-9])', '\1.\2', 'g'), '\bv([0-9])', '\1', 'g'), '([0-9])[-.]0($|-[a-z]|-20[0-9]{2})', '\1\2'),
               '\b([a-z]{3,})([0-9])', '\1-\2', 'g'),
               '[._@: ]', '-', 'g') FOR name IN [requested_model, served_model]] AS names
    FROM pairs
), undated AS (  -- dates as providers write them: -2025-01-31, -20250219, -03-2025, -2025-07, -250615, -0613, -2411, -001, -05-06
    SELECT *,
           [regexp_extract_all(name, '-(20[0-9]{2}-?[01][0-9]-?[0-3][0-9]|[01][0-9]-20[0-9]{2}|20[0-9]{2}-[01][0-9]|[0-9]{6}|[0-9]{4}|0[0-9]{2}'
               '|[01][0-9]-[0-3][0-9])\b', 1) FOR name IN names] AS dates,
           [regexp_replace(regexp_replace(regexp_replace(
               name, '-(20[0-9]{2}-?[01][0-9]-?[0-3][0-9]|[01][0-9]-20[0-9]{2}|20[0-9]{2}-[01][0-9]|[0-9]{6}|[0-9]{4}|0[0-9]{2}'
                   '|[01][0-9]-[0-3][0-9])\b', '', 'g'), '^(grok.*[^n])-reasoning$', '\1'), '^gpt-35\b', 'gpt-3-5') FOR name IN names] AS families
    FROM spelt
), split AS (  -- words in any order, numbers in theirs; sizes (8b, 8x7b) and contexts (28k) apart
    SELECT *,
           [list_distinct([word FOR word IN regexp_extract_all(name, '(?:^|-)([a-z][^-]*)', 1)
               IF NOT regexp_matches(word, '^(latest|beta|exp|experimental|instruct|chat|it|hf|meta|open|free'
                   '|fp8|fp16|bf16|int[48]|awq|gptq|gguf|mlx|us|eu)$')]) FOR name IN families] AS words,
           [[number FOR number IN regexp_extract_all(name, '(?:^|-)([0-9][^-]*)', 1)
               IF NOT regexp_matches(number, '^[0-9]+(x[0-9]+)?[bmk]$')] FOR name IN families] AS numbers,
           [regexp_extract_all(name, '(?:^|-)([0-9]+(?:x[0-9]+)?[bm])\b', 1) FOR name IN families] AS sizes
    FROM undated
), compared AS (
    SELECT *,
           [word FOR word IN words[1] IF NOT list_contains(words[2], word) AND word <> 'preview'] AS only_requested,
           [word FOR word IN words[2] IF NOT list_contains(words[1], word)] AS only_served,
           CASE WHEN len(numbers[1]) = 0 AND len(numbers[2]) > 0 AND NOT ends_with(names[1], '-latest')
                THEN [array_to_string(numbers[2], '.')] ELSE [] END AS more_numbers,  -- no version was asked for
           len(dates[1]) > 0 AND len(dates[2]) > 0 AND dates[1] <> dates[2]
               AND len(dates[1][1]) = len(dates[2][1]) AS is_other_snapshot,
           EXISTS (FROM aliases WHERE requested = names[1] AND served = names[2]) AS is_alias
    FROM split
), judged AS (
    SELECT *,
           NOT is_file AND NOT is_alias AND (
               is_other_snapshot
               OR (numbers[1] <> numbers[2] AND len(numbers[1]) > 0 AND len(numbers[2]) > 0)
               OR (len(sizes[2]) > 0 AND sizes[1] <> sizes[2])
               OR (list_contains(only_served, 'preview') AND NOT ends_with(names[1], '-latest'))
               OR (len(only_requested) > 0 AND len(only_served) > 0)
               OR len([word FOR word IN list_concat(only_requested, only_served) IF regexp_matches(word,
                      '^(mini|nano|lite|pro|flash|plus|max|ultra|small|medium|large|tiny|micro|premier|haiku|sonnet|opus|turbo'
                      '|coder|codex|code|vision|vl|audio|realtime|search|image|tts|transcribe|embedding|embed|moderation'
                      '|distill|thinking|reasoner|reasoning|non|fast|heavy|air|airx|deep|research|oss|guard|math|scout|maverick'
                      '|gpt|claude|gemini|gemma|llama|mistral|mixtral|ministral|pixtral|codestral|magistral|devstral|qwen|qwq'
                      '|deepseek|glm|kimi|minimax|grok|command|phi|nova|sonar|[or][0-9])$')
                      AND NOT (word = 'turbo' AND NOT list_contains(words[1], 'gpt'))]) > 0
           ) AS is_another
    FROM compared
)
SELECT requested_model, served_model, is_another,
       CASE WHEN NOT (is_file OR is_alias OR is_another)
            THEN nullif(array_to_string(list_sort(list_concat(list_concat(only_requested, only_served), more_numbers)),
                                        ' '), '') END AS unknown_words
FROM judged;
