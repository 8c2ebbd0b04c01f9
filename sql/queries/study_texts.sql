-- The files of the study $study, of each version the text that was kept last.
SELECT study_version, file, text
FROM study_files
WHERE study = $study
QUALIFY kept_at = max(kept_at) OVER (PARTITION BY study_version)
ORDER BY study_version, file_no
