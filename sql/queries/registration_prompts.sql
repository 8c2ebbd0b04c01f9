-- First requests of conversations that were sent otherwise than any that was registered for their model
-- (registered_prompts). Models without a list (later ones) are not looked at: study, seed and name fix their prompts.
WITH first_requests AS (
    SELECT source, study_version, variant, model, conversation_id,
           arg_min(prompt_hash, (coalesce(sent_at, queued_at), turn, attempt_id)) AS prompt_hash
    FROM shown_attempts
    WHERE study = $study AND prompt_hash IS NOT NULL
    GROUP BY source, study_version, variant, model, conversation_id
)
SELECT source, study_version, variant, model, NULL AS test, 'prompts' AS deviation, NULL AS subject,
       NULL AS registered, min(prompt_hash) AS found, count(*) AS n
FROM first_requests f
WHERE EXISTS (FROM registered_prompts p WHERE p.variant = f.variant AND p.source = f.source AND p.model = f.model)
  AND NOT EXISTS (FROM registered_prompts p
                  WHERE p.variant = f.variant AND p.source = f.source AND p.model = f.model
                    AND p.prompt_hash = f.prompt_hash)
GROUP BY source, study_version, variant, model
ORDER BY ALL
