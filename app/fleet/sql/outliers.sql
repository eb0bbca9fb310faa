-- Who is unlike its peers. A figure is unlike if it is farther from the median of the peers than some deviations, a share
-- of the median, and 16 MiB. 1.4826 times the median distance from the median estimates the standard deviation; it is
-- the larger one of the group's and of what is usual for that line in all groups, because four peers say little about
-- it. Six deviations and 2 % where many can be compared, up to twelve and 5 % where few can. With fewer than three peers
-- nothing is said.

-- name: figures
-- The whole peak (own = ''), and each line that a peer has.
SELECT id, peers, '' AS own, CAST(peak_bytes AS DOUBLE) AS bytes FROM ranks WHERE peers IS NOT NULL
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

-- name: usual_distance
-- By line, over all groups: the median distance as a share of the group's median.
SELECT f.own, MEDIAN(ABS(f.bytes - u.typical) / u.typical) AS share, COUNT(*) AS processes
FROM figures AS f JOIN usual AS u ON u.peers = f.peers AND u.own = f.own
WHERE u.processes >= 4 AND u.typical > 0 GROUP BY f.own;

-- name: unlike
SELECT f.id, f.peers, f.own, f.bytes, u.typical, f.bytes - u.typical AS more,
       ROW_NUMBER() OVER (PARTITION BY f.id ORDER BY CASE WHEN f.own = '' THEN 1 ELSE 0 END, ABS(f.bytes - u.typical) DESC, f.own) AS nth
FROM figures AS f JOIN usual AS u ON u.peers = f.peers AND u.own = f.own LEFT JOIN usual_distance AS d ON d.own = f.own
WHERE u.processes >= 4
  AND ABS(f.bytes - u.typical) > GREATEST(16777216, CASE WHEN d.processes >= 64 THEN 0.02 ELSE 0.05 END * u.typical,
    CASE WHEN d.processes >= 64 AND u.processes >= 8 THEN 6 WHEN d.processes >= 64 THEN 8 ELSE 12 END * 1.4826 * GREATEST(u.spread, COALESCE(d.share, 0) * u.typical));

-- name: typical
-- The process whose peak is nearest to the median of its peers, of those that are not unlike.
SELECT peers, file FROM (
  SELECT ranks.peers, ranks.file, ROW_NUMBER() OVER (PARTITION BY ranks.peers ORDER BY ABS(ranks.peak_bytes - usual.typical), ranks.id) AS nth
  FROM ranks JOIN usual ON usual.peers = ranks.peers AND usual.own = ''
  LEFT JOIN (SELECT DISTINCT id FROM unlike) AS others ON others.id = ranks.id
  WHERE others.id IS NULL) AS by_distance
WHERE nth = 1;

-- name: outliers
-- One row for each process that is unlike, with the line that differs the most. Where all processes of a host are, at
-- the same line and in the same direction, the host is.
SELECT ranks.id, ranks.rank, ranks.place AS host, ranks.peers, ranks.peak_bytes, typical_peak.typical AS typical_peak_bytes,
       unlike.own, unlike.bytes AS line_bytes, unlike.typical AS typical_line_bytes, ranks.file, typical.file AS typical_file,
       COUNT(*) OVER (PARTITION BY ranks.place, unlike.own, SIGN(unlike.more)) AS unlike_on_host, on_host.processes AS processes_on_host
FROM unlike
JOIN ranks ON ranks.id = unlike.id
JOIN usual AS typical_peak ON typical_peak.peers = ranks.peers AND typical_peak.own = ''
LEFT JOIN typical ON typical.peers = ranks.peers
JOIN (SELECT place, COUNT(*) AS processes FROM ranks GROUP BY place) AS on_host ON on_host.place = ranks.place
WHERE unlike.nth = 1;
