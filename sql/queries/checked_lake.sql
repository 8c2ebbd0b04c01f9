-- The list of a lake's files, compared with the files before any is read: a damaged one is an error, and `lake_files`
-- stays empty, so that no view is made. Elsewhere than on this machine files are not compared: that would fetch them all.
SET VARIABLE lake = rtrim(coalesce(getvariable('lake'), '.'), '/');
SET VARIABLE lake_files = NULL;
SET VARIABLE listed_files = (
    SELECT list(getvariable('lake') || '/' || line[35:] ORDER BY line[35:])
    FROM (SELECT unnest(string_split(content, chr(10))) AS line FROM read_text(getvariable('lake') || '/checksums.md5'))
    WHERE line[35:] LIKE '%.parquet'
);
SET VARIABLE damaged_files = (
    SELECT list(filename)
    FROM read_blob(CASE WHEN getvariable('lake') LIKE '%://%' THEN [getvariable('lake') || '/checksums.md5']
                        ELSE getvariable('listed_files') END)
    WHERE filename LIKE '%.parquet'
      AND NOT contains((SELECT content FROM read_text(getvariable('lake') || '/checksums.md5')),
                       md5(content) || '  ' || filename[length(getvariable('lake')) + 2:])
);
SET VARIABLE lake_files = CASE
    WHEN getvariable('damaged_files') IS NULL THEN getvariable('listed_files')
    ELSE error('These files of the lake are damaged: ' || array_to_string(getvariable('damaged_files'), ', '))
END;
SET VARIABLE lake_attempts = (
    SELECT list(file) FROM (SELECT unnest(getvariable('lake_files')) AS file) WHERE contains(file, '/attempts/')
);
