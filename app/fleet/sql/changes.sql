-- name: changes
SELECT own, SUM(after_bytes) AS bytes, SUM(before_bytes) AS baseline_bytes, SUM(after_bytes) - SUM(before_bytes) AS more_bytes
FROM (SELECT site.own, SUM(u.bytes) * 1.0 / (SELECT COUNT(*) FROM ranks) AS after_bytes, 0 AS before_bytes
      FROM (SELECT DISTINCT id, heap, site, bytes FROM site_at WHERE run = (SELECT now FROM chosen) AND site_at.at = 'peak') AS u
      JOIN ranks ON ranks.id = u.id
      JOIN (SELECT site, MIN(own) AS own FROM site GROUP BY site) AS site ON site.site = u.site GROUP BY site.own
      UNION ALL
      SELECT site.own, 0 AS after_bytes, SUM(u.bytes) * 1.0 / (SELECT COUNT(*) FROM all_processes WHERE run = (SELECT baseline FROM chosen)) AS before_bytes
      FROM (SELECT DISTINCT id, heap, site, bytes FROM site_at WHERE run = (SELECT baseline FROM chosen) AND site_at.at = 'peak') AS u
      JOIN all_processes ON all_processes.run = (SELECT baseline FROM chosen) AND all_processes.id = u.id
      JOIN (SELECT site, MIN(own) AS own FROM site GROUP BY site) AS site ON site.site = u.site GROUP BY site.own) AS both_runs
GROUP BY own ORDER BY ABS(SUM(after_bytes) - SUM(before_bytes)) DESC, own;
