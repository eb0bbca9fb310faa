-- Who is unlike its peers. A figure is unlike if it is farther from the median of the peers than six deviations (the
-- median of the distances, times 1.4826, estimates the standard deviation), 2 % of the median, and 16 MiB. With fewer
-- than three peers nothing is said.

-- name: figures
-- The whole peak (own = ''), and each line that a peer has.
SELECT id, peers, '' AS own, CAST(peak_bytes AS DOUBLE) AS bytes FROM ranks
UNION ALL
SELECT pairs.id, pairs.peers, pairs.own, CAST(COALESCE(lines.bytes, 0) AS DOUBLE) AS bytes
FROM (SELECT ranks.id, ranks.peers, known.own
      FROM ranks JOIN (SELECT DISTINCT ranks.peers, lines.own FROM lines JOIN ranks ON ranks.id = lines.id) AS known ON known.peers = ranks.peers) AS pairs
LEFT JOIN lines ON lines.id = pairs.id AND lines.own = pairs.own;

-- name: usual
SELECT f.peers, f.own, middle.typical, MEDIAN(ABS(f.bytes - middle.typical)) AS spread, COUNT(*) AS processes
FROM figures AS f JOIN (SELECT peers, own, MEDIAN(bytes) AS typical FROM figures GROUP BY peers, own) AS middle
  ON middle.peers = f.peers AND middle.own = f.own
GROUP BY f.peers, f.own, middle.typical;

-- name: unlike
SELECT f.id, f.peers, f.own, f.bytes, u.typical, f.bytes - u.typical AS more,
       ROW_NUMBER() OVER (PARTITION BY f.id ORDER BY CASE WHEN f.own = '' THEN 1 ELSE 0 END, ABS(f.bytes - u.typical) DESC, f.own) AS nth
FROM figures AS f JOIN usual AS u ON u.peers = f.peers AND u.own = f.own
WHERE u.processes >= 4 AND ABS(f.bytes - u.typical) > GREATEST(6 * 1.4826 * u.spread, 0.02 * u.typical, 16777216);

-- name: typical
-- The process whose peak is nearest to the median of its peers, of those that are not unlike.
SELECT peers, file FROM (
  SELECT ranks.peers, ranks.file, ROW_NUMBER() OVER (PARTITION BY ranks.peers ORDER BY ABS(ranks.peak_bytes - usual.typical), ranks.id) AS nth
  FROM ranks JOIN usual ON usual.peers = ranks.peers AND usual.own = ''
  LEFT JOIN (SELECT DISTINCT id FROM unlike) AS others ON others.id = ranks.id
  WHERE others.id IS NULL) AS by_distance
WHERE nth = 1;

-- name: outliers
-- One row for each process that is unlike, with the line that differs the most. Where all processes of a host are, the
-- host is.
SELECT ranks.id, ranks.rank, ranks.place AS host, ranks.peers, ranks.peak_bytes, typical_peak.typical AS typical_peak_bytes,
       unlike.own, unlike.bytes AS line_bytes, unlike.typical AS typical_line_bytes, ranks.file, typical.file AS typical_file,
       COUNT(*) OVER (PARTITION BY ranks.place) AS unlike_on_host, on_host.processes AS processes_on_host
FROM unlike
JOIN ranks ON ranks.id = unlike.id
JOIN usual AS typical_peak ON typical_peak.peers = ranks.peers AND typical_peak.own = ''
LEFT JOIN typical ON typical.peers = ranks.peers
JOIN (SELECT place, COUNT(*) AS processes FROM ranks GROUP BY place) AS on_host ON on_host.place = ranks.place
WHERE unlike.nth = 1;
