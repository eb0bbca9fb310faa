-- Who is unlike its peers. A figure is unlike if it is farther from the median of the peers than six deviations (the
-- median of the distances, times 1.4826, estimates the standard deviation), 2 % of the median, and 16 MiB. With fewer
-- than four peers nothing is said.
CREATE OR REPLACE TEMPORARY VIEW figures AS
SELECT id, peers, '' AS own, peak_bytes AS bytes FROM ranks
UNION ALL
SELECT pairs.id, pairs.peers, pairs.own, COALESCE(lines.bytes, 0) AS bytes
FROM (SELECT ranks.id, ranks.peers, known.own
      FROM ranks JOIN (SELECT DISTINCT ranks.peers, lines.own FROM lines JOIN ranks ON ranks.id = lines.id) AS known ON known.peers = ranks.peers) AS pairs
LEFT JOIN lines ON lines.id = pairs.id AND lines.own = pairs.own;

CREATE OR REPLACE TEMPORARY VIEW usual AS
SELECT f.peers, f.own, middle.typical, MEDIAN(ABS(f.bytes - middle.typical)) AS spread, COUNT(*) AS processes
FROM figures AS f JOIN (SELECT peers, own, MEDIAN(bytes) AS typical FROM figures GROUP BY peers, own) AS middle
  ON middle.peers = f.peers AND middle.own = f.own
GROUP BY f.peers, f.own, middle.typical;

CREATE OR REPLACE TEMPORARY VIEW unlike AS
SELECT f.id, f.peers, f.own, f.bytes, u.typical, f.bytes - u.typical AS more,
       ROW_NUMBER() OVER (PARTITION BY f.id ORDER BY CASE WHEN f.own = '' THEN 1 ELSE 0 END, ABS(f.bytes - u.typical) DESC, f.own) AS place
FROM figures AS f JOIN usual AS u ON u.peers = f.peers AND u.own = f.own
WHERE u.processes >= 4 AND ABS(f.bytes - u.typical) > GREATEST(6 * 1.4826 * u.spread, 0.02 * u.typical, 16777216);

-- One row for each process that is unlike, with the line that differs the most.
CREATE OR REPLACE TEMPORARY VIEW outliers AS
SELECT ranks.id, ranks.rank, ranks.place AS host, ranks.peers, ranks.peak_bytes, typical_peak.typical AS typical_peak_bytes,
       unlike.own, unlike.bytes AS line_bytes, unlike.typical AS typical_line_bytes, ranks.file,
       -- All processes of the host: then the host is what is unlike.
       COUNT(*) OVER (PARTITION BY ranks.place) AS unlike_on_host, on_host.processes AS processes_on_host
FROM unlike
JOIN ranks ON ranks.id = unlike.id
JOIN usual AS typical_peak ON typical_peak.peers = ranks.peers AND typical_peak.own = ''
JOIN (SELECT place, COUNT(*) AS processes FROM ranks GROUP BY place) AS on_host ON on_host.place = ranks.place
WHERE unlike.place = 1
