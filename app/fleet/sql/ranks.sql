-- name: processes
-- Of the run.
SELECT *, COALESCE(host, '') AS place FROM all_processes WHERE run = (SELECT now FROM chosen);

-- name: lines
-- What each of them held at its peak, by the innermost line of your code.
SELECT id, own, SUM(bytes) AS bytes
FROM (SELECT DISTINCT site_at.id, site_at.heap, site_at.site, site_at.bytes, site.own
      FROM site_at JOIN processes ON processes.id = site_at.id
      JOIN (SELECT site, MIN(own) AS own FROM site WHERE run = (SELECT now FROM chosen) GROUP BY site) AS site ON site.site = site_at.site
      WHERE site_at.run = (SELECT now FROM chosen) AND site_at.at = 'peak') AS once
GROUP BY id, own;

-- name: kinds
-- Where no places in the model are known: processes with the same lines, each with about the same bytes (in steps of
-- 22 %, above some 16 MiB). Kinds of 16 processes (two hosts) and a hundredth of all stand for a part of the work; the
-- others are compared with the one of these that is most like them. Without such a kind nobody is compared.
SELECT kind, COUNT(*) AS processes, MIN(id) AS example
FROM (SELECT lines.id, SUM(HASH(lines.own, CAST(ROUND(LN(lines.bytes / 16777216.0 + 1) / 0.2) AS INTEGER))) AS kind
      FROM lines JOIN processes ON processes.id = lines.id
      WHERE processes.pp IS NULL AND processes.tp IS NULL AND processes.ep IS NULL GROUP BY lines.id) AS each
GROUP BY kind;

-- name: large_kinds
SELECT example FROM kinds WHERE processes >= 16 AND processes * 100 >= (SELECT SUM(processes) FROM kinds);

-- name: likes
-- By process without a place: the example of the kind that is nearest, by the bytes in which they differ.
SELECT id, example FROM (
  SELECT id, example, ROW_NUMBER() OVER (PARTITION BY id ORDER BY SUM(ABS(more)), example) AS nearness
  FROM (SELECT pairs.id, pairs.example, pairs.own, SUM(pairs.bytes) AS more
        FROM (SELECT lines.id, large_kinds.example, lines.own, lines.bytes FROM lines CROSS JOIN large_kinds
              UNION ALL
              SELECT processes.id, large_kinds.example, lines.own, -lines.bytes AS bytes
              FROM large_kinds JOIN lines ON lines.id = large_kinds.example CROSS JOIN processes) AS pairs
        GROUP BY pairs.id, pairs.example, pairs.own) AS differences
  GROUP BY id, example) AS by_nearness
WHERE nearness = 1;

-- name: ranks
-- Peers do the same work.
SELECT processes.*,
       CASE WHEN pp IS NOT NULL OR tp IS NOT NULL OR ep IS NOT NULL
            THEN CONCAT('pp ', COALESCE(CAST(pp AS VARCHAR(10)), '-'), ', tp ', COALESCE(CAST(tp AS VARCHAR(10)), '-'), ', ep ', COALESCE(CAST(ep AS VARCHAR(10)), '-'))
            WHEN likes.example IS NOT NULL THEN CONCAT('like ', likes.example)
            ELSE NULL END AS peers
FROM processes LEFT JOIN likes ON likes.id = processes.id;
