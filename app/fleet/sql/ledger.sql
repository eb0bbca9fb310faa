-- What each run of a store held at its peak, in the order in which the runs began.

-- name: largest
-- The process with the highest peak, of each run.
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY run ORDER BY peak_bytes DESC, id) AS nth FROM all_processes) AS by_peak WHERE nth = 1;

-- name: holders
-- The line of your code that held the most of that peak.
SELECT run, own, bytes
FROM (SELECT run, own, bytes, ROW_NUMBER() OVER (PARTITION BY run ORDER BY bytes DESC, own) AS nth
      FROM (SELECT u.run, site.own, SUM(u.bytes) AS bytes
            FROM (SELECT DISTINCT run, id, heap, site, bytes FROM site_at WHERE site_at.at = 'peak') AS u
            JOIN largest ON largest.run = u.run AND largest.id = u.id AND largest.main_heap = u.heap
            JOIN (SELECT DISTINCT run, site, own FROM site) AS site ON site.run = u.run AND site.site = u.site
            GROUP BY u.run, site.own) AS of_lines) AS by_bytes
WHERE nth = 1;

-- name: pools
SELECT heap.run, MAX(heap.pool_bytes) AS pool_bytes
FROM heap JOIN largest ON largest.run = heap.run AND largest.id = heap.id AND largest.main_heap = heap.heap
WHERE heap.at = 'peak' GROUP BY heap.run;

-- name: peaks
SELECT run, begun_ms, processes, failures, incomplete, peak_bytes, peak_bytes - LAG(peak_bytes) OVER (ORDER BY begun_ms NULLS LAST, run) AS change_bytes
FROM (SELECT run, MIN(begun_ms) AS begun_ms, COUNT(*) AS processes, SUM(failures) AS failures, SUM(CASE WHEN is_complete THEN 0 ELSE 1 END) AS incomplete, MAX(peak_bytes) AS peak_bytes
      FROM all_processes GROUP BY run) AS of_runs;

-- name: ledger
-- A run of which no file could be read has a row, too, without figures.
SELECT runs.run, peaks.begun_ms, COALESCE(peaks.processes, 0) AS processes, peaks.peak_bytes, peaks.change_bytes, pools.pool_bytes,
       holders.own, holders.bytes AS own_bytes, COALESCE(peaks.failures, 0) AS failures, COALESCE(peaks.incomplete, 0) AS incomplete,
       COALESCE(unreadable.files, 0) AS unread, largest.file
FROM (SELECT run FROM rank UNION SELECT run FROM unread) AS runs
LEFT JOIN peaks ON peaks.run = runs.run
LEFT JOIN largest ON largest.run = runs.run
LEFT JOIN pools ON pools.run = runs.run
LEFT JOIN holders ON holders.run = runs.run
LEFT JOIN (SELECT run, COUNT(DISTINCT file) AS files FROM still_unread GROUP BY run) AS unreadable ON unreadable.run = runs.run
ORDER BY peaks.begun_ms NULLS LAST, runs.run;
