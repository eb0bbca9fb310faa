-- name: all_processes
-- Of all runs, each process once. Copies of a file have the same id; what was digested last counts, as with another
-- --layout. A recording that grew since an earlier digest has another id, but the same host, process and begin, however
-- its path is spelled and wherever a copy of it lies: the content with the most events counts, with all of its rows, for
-- a file may have several of one process. Where the host or the process is unknown, the path is a part of the key; where
-- the begin is, it could as well be another job's file.
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY run, id ORDER BY digested_ms DESC NULLS LAST, file) AS copy
  FROM (SELECT *, FIRST_VALUE(content) OVER (
          PARTITION BY run, host, process, begun_ms, CASE WHEN host IS NULL OR process IS NULL THEN file END
          ORDER BY events DESC NULLS LAST, digested_ms DESC NULLS LAST, content) AS newest_content FROM rank) AS with_newest
  WHERE begun_ms IS NULL OR content = newest_content) AS with_copies
WHERE copy = 1;

-- name: still_unread
-- Without the files that another digest has read.
SELECT unread.run, unread.file, unread.error
FROM unread LEFT JOIN (SELECT DISTINCT run, file FROM rank) AS digested ON digested.run = unread.run AND digested.file = unread.file
WHERE digested.file IS NULL;
