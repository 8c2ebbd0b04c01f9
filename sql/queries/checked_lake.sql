-- The list of a lake's files, compared with the files before any is read: a damaged list or file is an error, and
-- `lake_files` stays empty, so that no view is made. Elsewhere than on this machine files are not compared: that would
-- fetch them all.
SET VARIABLE lake = rtrim(coalesce(getvariable('lake'), '.'), '/');
SET VARIABLE lake_files = NULL;
SET VARIABLE list_of_files = (SELECT content FROM read_text(getvariable('lake') || '/checksums.md5'));
SET VARIABLE is_whole_list = (
    SELECT bool_and(regexp_full_match(line, '[0-9a-f]{32}  ((attempts|tables)/[!-~]+\.parquet|lake\.lock)'))
           AND ends_with(getvariable('list_of_files'), '  lake.lock' || chr(10))
    FROM (SELECT unnest(string_split(getvariable('list_of_files'), chr(10))[:-2]) AS line)
);
SET VARIABLE listed_files = CASE
    WHEN getvariable('is_whole_list') THEN (
        SELECT list(getvariable('lake') || '/' || line[35:] ORDER BY line[35:])
        FROM (SELECT unnest(string_split(getvariable('list_of_files'), chr(10))) AS line)
        WHERE line[35:] LIKE '%.parquet'
    )
    ELSE error('The list of the lake''s files (checksums.md5) is damaged.')
END;
SET VARIABLE damaged_files = (
    SELECT list(file)
    FROM (SELECT unnest(getvariable('listed_files')) AS file)
    LEFT JOIN read_blob(CASE WHEN getvariable('lake') LIKE '%://%' THEN [getvariable('lake') || '/checksums.md5']
                             ELSE getvariable('listed_files') END) ON filename = file
    WHERE getvariable('lake') NOT LIKE '%://%'
      AND NOT coalesce(contains(getvariable('list_of_files'),
                                md5(content) || '  ' || file[length(getvariable('lake')) + 2:]), false)
);
SET VARIABLE lake_files = CASE
    WHEN getvariable('damaged_files') IS NULL THEN getvariable('listed_files')
    ELSE error('These files of the lake are damaged: ' || array_to_string(getvariable('damaged_files'), ', '))
END;
SET VARIABLE lake_attempts = (
    SELECT list(file) FROM (SELECT unnest(getvariable('lake_files')) AS file) WHERE contains(file, '/attempts/')
);
