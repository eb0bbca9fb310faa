-- Stages of the pipeline that are unlike the other inner ones, by the rule of outliers.sql; the first and the last do
-- other work (embedding, loss).

-- name: stage_figures
SELECT ranks.pp, '' AS own, MEDIAN(CAST(ranks.peak_bytes AS DOUBLE)) AS bytes FROM ranks
WHERE ranks.pp > 0 AND ranks.pp < (SELECT MAX(pp) FROM ranks) GROUP BY ranks.pp
UNION ALL
SELECT pairs.pp, pairs.own, MEDIAN(CAST(COALESCE(lines.bytes, 0) AS DOUBLE)) AS bytes
FROM (SELECT ranks.id, ranks.pp, known.own FROM ranks CROSS JOIN (SELECT DISTINCT own FROM lines) AS known
      WHERE ranks.pp > 0 AND ranks.pp < (SELECT MAX(pp) FROM ranks)) AS pairs
LEFT JOIN lines ON lines.id = pairs.id AND lines.own = pairs.own
GROUP BY pairs.pp, pairs.own;

-- name: usual_stages
SELECT s.own, middle.typical, MEDIAN(ABS(s.bytes - middle.typical)) AS spread, COUNT(*) AS stages
FROM stage_figures AS s JOIN (SELECT own, MEDIAN(bytes) AS typical FROM stage_figures GROUP BY own) AS middle ON middle.own = s.own
GROUP BY s.own, middle.typical;

-- name: unlike_stages
SELECT s.pp, s.own, s.bytes, u.typical,
       ROW_NUMBER() OVER (PARTITION BY s.pp ORDER BY CASE WHEN s.own = '' THEN 1 ELSE 0 END, ABS(s.bytes - u.typical) DESC, s.own) AS nth
FROM stage_figures AS s JOIN usual_stages AS u ON u.own = s.own
WHERE u.stages >= 4 AND ABS(s.bytes - u.typical) > GREATEST(CASE WHEN u.stages >= 16 THEN 6 ELSE 12 END * 1.4826 * u.spread, 0.05 * u.typical, 16777216);
