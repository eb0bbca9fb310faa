-- name: all_processes
-- Of all runs, each process once. Copies of a file have the same id; what was digested last counts, as with another
-- --layout. A recording that grew since an earlier digest has another id, but the same path, process and begin: the
-- newest digest counts. Where the begin is unknown, it could as well be another job's file.
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY run, id ORDER BY digested_ms DESC NULLS LAST, file) AS copy
  FROM (SELECT *, FIRST_VALUE(content) OVER (PARTITION BY run, file, host, process, begun_ms ORDER BY digested_ms DESC NULLS LAST, events DESC, content) AS newest_content FROM rank) AS with_newest
  WHERE begun_ms IS NULL OR content = newest_content) AS with_copies
WHERE copy = 1;
