-- The processes of the run, each once: copies of a file have the same id. Peers do the same work: those at the same
-- place of the model, or, where no places are known, those that called the same code at their peaks.
CREATE OR REPLACE TEMPORARY VIEW ranks AS
SELECT *,
       COALESCE(host, '') AS place,
       CASE WHEN pp IS NULL AND tp IS NULL AND ep IS NULL THEN CONCAT('code ', CAST(shape AS VARCHAR(20)))
            ELSE CONCAT('pp ', COALESCE(CAST(pp AS VARCHAR(10)), '-'), ', tp ', COALESCE(CAST(tp AS VARCHAR(10)), '-'), ', ep ', COALESCE(CAST(ep AS VARCHAR(10)), '-'))
       END AS peers
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY file) AS copy FROM rank WHERE run = (SELECT now FROM chosen)) AS of_run
WHERE copy = 1;

-- What each of them held at its peak, by the innermost line of your code.
CREATE OR REPLACE TEMPORARY VIEW lines AS
SELECT id, own, SUM(bytes) AS bytes
FROM (SELECT DISTINCT site_at.id, site_at.heap, site_at.site, site_at.bytes, site.own
      FROM site_at
      JOIN (SELECT DISTINCT site, own FROM site WHERE run = (SELECT now FROM chosen)) AS site ON site.site = site_at.site
      WHERE site_at.run = (SELECT now FROM chosen) AND site_at.at = 'peak') AS once
GROUP BY id, own
