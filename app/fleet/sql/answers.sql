-- name: processes
SELECT COUNT(*) AS processes, COUNT(DISTINCT place) AS hosts, COUNT(DISTINCT ranks.peers) AS peer_groups,
       SUM(CASE WHEN ranks.peers LIKE 'pp %' THEN 1 ELSE 0 END) AS with_places, SUM(CASE WHEN is_complete THEN 0 ELSE 1 END) AS incomplete,
       SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END) AS failed, MEDIAN(peak_bytes) AS typical_peak_bytes, MAX(peak_bytes) AS largest_peak_bytes,
       SUM(CASE WHEN sizes.processes >= 4 THEN 0 ELSE 1 END) AS without_peers
FROM ranks LEFT JOIN (SELECT peers, COUNT(*) AS processes FROM ranks GROUP BY peers) AS sizes ON sizes.peers = ranks.peers;

-- name: hosts
SELECT host, MIN(own) AS own, COUNT(*) AS processes, MEDIAN(line_bytes - typical_line_bytes) AS more_bytes
FROM outliers WHERE processes_on_host >= 2 AND unlike_on_host = processes_on_host GROUP BY host ORDER BY ABS(MEDIAN(line_bytes - typical_line_bytes)) DESC, host;

-- name: outliers
SELECT rank, host, peers, peak_bytes, typical_peak_bytes, own, line_bytes, typical_line_bytes, file, typical_file, id
FROM outliers WHERE NOT (processes_on_host >= 2 AND unlike_on_host = processes_on_host) ORDER BY ABS(line_bytes - typical_line_bytes) DESC, rank NULLS LAST, id;

-- name: stages
SELECT pp, own, bytes, typical AS typical_bytes FROM unlike_stages WHERE nth = 1 ORDER BY ABS(bytes - typical) DESC, pp;

-- name: failures
SELECT ranks.rank, ranks.place AS host, first_of_each.time_ms, first_of_each.since_start_ns, first_of_each.requested_bytes, first_of_each.free_bytes,
       first_of_each.largest_free_bytes, first_of_each.own_line, ranks.failures, ranks.file
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY number) AS nth FROM failure WHERE run = (SELECT now FROM chosen)) AS first_of_each
JOIN ranks ON ranks.id = first_of_each.id
WHERE first_of_each.nth = 1 ORDER BY first_of_each.time_ms NULLS LAST, first_of_each.since_start_ns NULLS LAST, ranks.rank NULLS LAST, ranks.id;

-- name: waste
SELECT SUM(in_use_bytes) AS in_use_bytes, SUM(in_use_bytes - requested_bytes) AS rounding_bytes, SUM(free_bytes) AS free_bytes, SUM(pool_bytes) AS pool_bytes, COUNT(*) AS heaps
FROM (SELECT DISTINCT heap.id, heap.heap, heap.in_use_bytes, heap.requested_bytes, heap.free_bytes, heap.pool_bytes FROM heap JOIN ranks ON ranks.id = heap.id
      WHERE heap.run = (SELECT now FROM chosen) AND heap.at = 'peak' AND heap.pool_bytes IS NOT NULL) AS at_peak;

-- name: unread
SELECT DISTINCT file, error FROM still_unread WHERE run = (SELECT now FROM chosen) ORDER BY file;
