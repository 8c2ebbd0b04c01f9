-- all_trials: one observation a row, of every occasion: each attempt that ended its trial, with what can be read from it.
-- grain: trial_id
-- inner: yes
-- note:  `occasion` is 1 if a trial was asked first; from 2 on (`collect --again`) it was asked again, as a trial of its
--        own, and `first_trial_id` is the one that it repeats. The tables of a study count over `trials`, which has the
--        first occasion only.
--        `tokens` is the measure that the study names. To see all tables with another one, in the duckdb shell:
--        SET VARIABLE measure = 'output';     (or 'reasoning', 'recounted'; back: RESET VARIABLE measure;)
--        A trial that lacks that count has NULL, never 0. Two finals of one trial are listed in duplicate_finals.
--        An answer of another model than was asked for (served_names) is left out of the tables of the study, and counted in
--        served_models. To have these answers in them, each as one of a model of its own, in the duckdb shell:
--        SET VARIABLE other_models = 'shown';     (back: RESET VARIABLE other_models;)
--        Not ordered: rows include full requests; sorting is more expensive than reading.
CREATE OR REPLACE VIEW all_trials AS
SELECT * EXCLUDE (is_final, is_repeated, is_unpriced, content, is_another, unknown_words) REPLACE (
           coalesce(occasion, 1) AS occasion,
           CASE WHEN getvariable('other_models') IS NOT NULL AND is_another AND provider <> 'azure'
                THEN model || ' as ' || served_model ELSE model END AS model,
           CASE getvariable('measure')::TEXT
               WHEN 'reasoning' THEN reasoning_tokens
               WHEN 'output' THEN output_tokens
               WHEN 'recounted' THEN reasoning_tokens_recounted
               ELSE CASE
                   WHEN getvariable('measure') IS NULL THEN tokens
                   ELSE error('The variable measure must be reasoning, output or recounted, not '
                              || getvariable('measure')::TEXT)
               END
           END AS tokens,
           CASE getvariable('measure')::TEXT
               -- a count up to a closing marker stays what it is; a provider's own reasoning count is 'usage'
               WHEN 'reasoning' THEN
                   CASE WHEN reasoning_tokens IS NOT NULL THEN coalesce(nullif(token_source, 'output'), 'usage') END
               WHEN 'output' THEN CASE WHEN output_tokens IS NOT NULL THEN 'output' END
               WHEN 'recounted' THEN CASE WHEN reasoning_tokens_recounted IS NOT NULL THEN 'retokenized' END
               ELSE token_source
           END AS token_source
       ),
       batch_id IS NOT NULL AS is_batch,
       map_extract(factor_lists, 'begun_choice')[1][1] AS begun_choice,
       -- NULL if the reason is not known; a study may call something else a refusal (refusal_rule): association_trials
       CASE WHEN outcome <> 'rejected' THEN outcome = 'refused' END AS is_refusal, outcome = 'answered' AS is_valid,
       -- how long a batch job took says nothing about one answer in it
       CASE WHEN batch_id IS NULL THEN coalesce(response_time_ms / 1000, epoch(done_at - sent_at)) END AS latency_s,
       CASE WHEN batch_id IS NULL THEN epoch(sent_at - queued_at) END AS queue_wait_s,
       -- Most answers name the model as it was asked for, and have no pair. A deployment's name says nothing (azure).
       CASE WHEN served_model IS NOT NULL THEN coalesce(is_another AND provider <> 'azure', false) END
           AS served_model_differs,
       -- the first case is for speed: most names hold no year, and a regular expression costs as much as a sum
       CASE WHEN NOT contains(requested_model, '20') THEN false
            ELSE regexp_matches(requested_model, '20[0-9]{2}-?[01][0-9]-?[0-3][0-9]') END AS snapshot_was_asked,
       -- another model answered, or another snapshot than was asked for by its date (…-20250219)
       coalesce(served_model_differs, false) AND getvariable('other_models') IS NULL AS is_left_out
FROM shown_attempts
LEFT JOIN served_names USING (requested_model, served_model)
WHERE is_final;
