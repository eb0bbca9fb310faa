#!/usr/bin/env python3
"""hbmscope digest and fleet: what was planted among made-up processes is found, and nothing else.

    fleet_test.py HBMSCOPE MAKE_FLEET PYTHON ANNOTATED_PROGRAM [unittest's arguments]

PYTHON: one with DuckDB. HBMSCOPE_SPARK_PYTHON: one with pyspark and DuckDB, on which the same questions then have the
same answers (`make test-spark`). HBMSCOPE_RAY_PYTHON: one with Ray and DuckDB, which then fills the same store (`make
test-ray`).
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1 << 20
LAYOUT = "tp=4,dp=8,pp=6"
RANKS = 4 * 8 * 6
BEGUN_MS = 1_795_000_000_000  # Of all recordings of make_fleet.
HBMSCOPE = MAKE_FLEET = PYTHON = PROGRAM = None  # Set by main().


class FleetTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.store = self.folder / "store"

    def make(self, run, *planted, events=1500):
        subprocess.run([MAKE_FLEET, self.folder / run, str(RANKS), str(events), "--tp", "4", "--pp", "6", *planted], check=True)
        return self.folder / run

    def digest(self, *words, python=None, folder=None):
        return subprocess.run([HBMSCOPE, "digest", *words, "-o", self.store, "--python", python or PYTHON], capture_output=True, text=True, cwd=folder)

    def ledger(self):
        return json.loads(subprocess.run([HBMSCOPE, "ledger", self.store, "--json", "--python", PYTHON], check=True, capture_output=True, text=True).stdout)

    def copy_rows(self, table, columns, name="more.parquet"):
        """Of the only file of a table, as another one beside it; columns are SQL's."""
        [rows] = (self.store / table).rglob("*.parquet")
        subprocess.run([PYTHON, "-c", f"import duckdb; duckdb.execute(\"COPY (SELECT {columns} FROM read_parquet('{rows}', hive_partitioning = false)) TO '{rows.with_name(name)}'\")"], check=True)
        return rows

    def fleet(self, *words):
        done = subprocess.run([HBMSCOPE, "fleet", self.store, "--json", "--python", PYTHON, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def answers(self, *planted, layout=LAYOUT):
        run = self.make("run", *planted)
        done = self.digest(run, *(["--layout", layout] if layout else []))
        self.assertEqual((done.returncode, done.stderr), (0, f"hbmscope: {RANKS} processes of {RANKS} files added to run run of {self.store}\n"))
        return self.fleet()

    def found(self, answers):
        return ({row["rank"]: row["own"] for row in answers["outliers"]}, {row["host"]: row["own"] for row in answers["hosts"]}, {row["pp"]: row["own"] for row in answers["stages"]})

    def test_where_nothing_is_planted_nothing_is_found(self):
        for seed in range(1, 6):
            for layout in (LAYOUT, None):
                with self.subTest(seed=seed, layout=layout):
                    shutil.rmtree(self.store, ignore_errors=True)
                    self.assertEqual(self.found(self.answers("--seed", str(seed), layout=layout)), ({}, {}, {}))

    def test_all_that_is_planted_is_found(self):
        answers = self.answers("rank:77:2048", "rank:100:700:leak", "host:20:512:load_batch", "stage:3:1024:backward", "swap:141:3000")
        ranks, hosts, stages = self.found(answers)
        self.assertEqual((set(ranks), hosts, stages), ({77, 100, 141}, {"node20": "load_batch  data.py"}, {3: "backward  model.py"}))
        self.assertEqual((ranks[77], ranks[100]), ("forward  model.py", "leak  cache.py"))
        self.assertIn(ranks[141], ("forward  model.py", "backward  model.py"))
        [leak] = (row for row in answers["outliers"] if row["rank"] == 100)
        self.assertEqual((leak["typical_line_bytes"], round(leak["line_bytes"] / MIB)), (0, 700))
        self.assertRegex(leak["typical_file"], r"rank_\d+\.hbm$")

    def test_without_places_the_peers_are_those_that_hold_the_same(self):
        answers = self.answers("rank:77:2048", "rank:100:700:leak", "host:20:512:load_batch", "swap:141:3000", layout=None)
        ranks, hosts, _ = self.found(answers)
        self.assertEqual((set(ranks), hosts), ({77, 100, 141}, {"node20": "load_batch  data.py"}))
        self.assertEqual(answers["processes"][0]["with_places"], 0)

    def test_who_failed_first(self):
        answers = self.answers("fail:130:5", "fail:7:1", "fail:60:9")
        self.assertEqual([(row["rank"], row["host"]) for row in answers["failures"]], [(7, "node0"), (130, "node16"), (60, "node7")])
        self.assertEqual(answers["failures"][0]["requested_bytes"], 30_000 * MIB)
        self.assertEqual(answers["failures"][1]["time_ms"] - answers["failures"][0]["time_ms"], 4)

    def test_who_failed_where_an_earlier_run_did_not(self):
        for run, planted in (("a", []), ("b", ["fail:7:1"])):
            self.digest(self.make(run, *planted), "--layout", LAYOUT, "--run", run)
        self.assertEqual([row["rank"] for row in self.fleet("--run", "b")["failures"]], [7])

    def test_lines_that_moved_are_no_change(self):
        self.assertEqual(self.digest(self.make("before", "--seed", "3")).returncode, 0)
        self.assertEqual(self.digest(self.make("after", "--seed", "3", "--moved", *(f"stage:{stage}:256:backward" for stage in range(6)))).returncode, 0)
        changes = self.fleet("--run", "after", "--baseline", "before")["changes"]
        self.assertEqual(changes[0]["own"], "backward  model.py")
        self.assertAlmostEqual(changes[0]["more_bytes"] / MIB, 256, delta=0.1)
        self.assertTrue(all(abs(row["more_bytes"]) < MIB for row in changes[1:]), changes)

    def test_cut_damaged_copied_and_missing_files(self):
        run = self.make("run")
        subprocess.run([MAKE_FLEET, self.folder / "long", "10", "300000"], check=True)  # Has several blocks.
        whole = (self.folder / "long/rank_9.hbm").read_bytes()
        (run / "rank_9.hbm").write_bytes(whole[: len(whole) // 2])
        (run / "rank_10.hbm").write_bytes(b"this is no recording at all")
        (run / "rank_11.hbm").write_bytes(b"")
        (run / "rank_13.hbm").unlink()
        shutil.copy(run / "rank_12.hbm", run / "rank_12_copy.hbm")
        done = self.digest(*sorted(run.iterdir()), run / "rank_9999.hbm", "--layout", LAYOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 files could not be read", done.stderr)
        answers = self.fleet()
        self.assertEqual((answers["processes"][0]["processes"], answers["processes"][0]["incomplete"]), (RANKS - 3, 1))
        self.assertEqual(answers["missing_ranks"], [10, 11, 13])
        self.assertEqual([pathlib.Path(row["file"]).name for row in answers["unread"]], ["rank_10.hbm", "rank_11.hbm", "rank_9999.hbm"])
        self.assertTrue(all(row["error"] for row in answers["unread"]))
        self.assertEqual({row["rank"] for row in answers["outliers"]} - {9}, set())

    def test_the_same_digest_again_changes_no_answer(self):
        run = self.make("run")
        for _ in range(2):
            self.assertEqual(self.digest(run, "--jobs", "1").returncode, 0)
        self.assertEqual(self.fleet()["processes"][0]["processes"], RANKS)

    def test_a_recording_that_grew_counts_once(self):
        """As if digested only now; as a run, as a baseline, and in the ledger."""
        planted = ("rank:77:2048", "rank:100:700:leak", "fail:7:1")
        before = self.make("run")
        self.assertEqual(self.digest(before, "--layout", LAYOUT).returncode, 0)
        self.make("run", *planted, events=1600)  # The same paths, processes and begin.
        other = self.make("other", "--seed", "2")
        both = []
        for store in (self.store, self.folder / "new"):
            self.store = store
            for run in (before, other):
                self.assertEqual(self.digest(run, "--layout", LAYOUT).returncode, 0)
            answers = [self.fleet("--run", "run", "--baseline", "other"), self.fleet("--run", "other", "--baseline", "run")]
            both.append([{key: value for key, value in answer.items() if key != "store"} for answer in (*answers, self.ledger())])
        self.assertEqual(*both)
        self.assertEqual((both[0][0]["processes"][0]["processes"], self.found(both[0][0])[0]), (RANKS, {77: "forward  model.py", 100: "leak  cache.py"}))

    def test_a_recording_that_grew_counts_once_wherever_it_lies(self):
        run = self.make("run")
        old = shutil.copytree(run, self.folder / "old")
        self.assertEqual(self.digest("rank_7.hbm", "rank_8.hbm", "--run", "run", folder=run).returncode, 0)
        self.make("run", "rank:7:2048", events=1600)
        for words in ((run / "rank_7.hbm", "../run/rank_8.hbm"), (old / "rank_7.hbm",), ("rank_7.hbm",)):  # The last one is old, too.
            self.assertEqual(self.digest(*words, "--run", "run", folder=old).returncode, 0)
            [processes] = self.fleet()["processes"]
            self.assertEqual((processes["processes"], processes["largest_peak_bytes"] >> 30), (2, 58))  # 56 before.
        self.assertEqual([row["processes"] for row in self.ledger()["runs"]], [2])

    def test_all_rows_of_a_process_in_the_content_that_counts(self):
        """A file may have several streams of one process."""
        run = self.make("run")
        self.assertEqual(self.digest(run / "rank_7.hbm", "--run", "run").returncode, 0)
        self.copy_rows("rank", "* REPLACE (replace(id, '-0', '-1') AS id, 5 AS events)")
        self.assertEqual(self.fleet()["processes"][0]["processes"], 2)
        self.make("run", events=1600)
        self.assertEqual(self.digest(run / "rank_7.hbm", "--run", "run").returncode, 0)
        self.assertEqual(self.fleet()["processes"][0]["processes"], 1)

    def test_where_the_host_or_the_process_is_unknown_the_path_counts(self):
        run = self.make("run")
        for unknown in ("host", "process"):
            self.assertEqual(self.digest(run / "rank_7.hbm", "--run", unknown).returncode, 0)
            [rows] = (self.store / f"rank/run={unknown}").glob("*.parquet")
            # Of the same path, and of two others.
            for number, file in enumerate(("file", "'other.hbm'", "'another.hbm'")):
                what = f"SELECT * REPLACE (NULL::VARCHAR AS {unknown}, content + {number} AS content, concat(id, {number}) AS id, {file} AS file) FROM read_parquet('{rows}', hive_partitioning = false)"
                subprocess.run([PYTHON, "-c", f'import duckdb; duckdb.execute("COPY ({what}) TO \'{rows.with_name(f"{number}.parquet")}\'")'], check=True)
            shutil.copy(rows.with_name("0.parquet"), rows)
            self.assertEqual(self.fleet("--run", unknown)["processes"][0]["processes"], 3)

    def test_another_job_with_a_recording_at_the_same_path_counts(self):
        recording = self.make("run") / "rank_7.hbm"
        self.assertEqual(self.digest(recording, "--run", "run").returncode, 0)
        content = recording.read_bytes()
        self.assertEqual(content.count(BEGUN_MS.to_bytes(8, "little")), 1)
        recording.write_bytes(content.replace(BEGUN_MS.to_bytes(8, "little"), (BEGUN_MS + 1).to_bytes(8, "little")))
        self.assertEqual(self.digest(recording, "--run", "run").returncode, 0)
        self.assertEqual(self.fleet()["processes"][0]["processes"], 2)

    def test_a_file_that_is_read_at_last_is_no_longer_unreadable(self):
        run = self.make("run")
        whole = (run / "rank_9.hbm").read_bytes()
        (run / "rank_9.hbm").write_bytes(b"this is no recording at all")
        (run / "rank_10.hbm").write_bytes(b"nor is this")
        for names in (["rank_9.hbm", "rank_10.hbm"], ["rank_9.hbm"]):
            self.digest(run)
            self.digest(run, "--run", "other") if len(names) == 2 else None
            self.assertEqual(sorted(row["file"] for row in self.fleet("--run", "run")["unread"]), sorted(str(run / name) for name in names))
            self.assertEqual([row["unread"] for row in self.ledger()["runs"]], [2, len(names)])
            (run / "rank_10.hbm").write_bytes(whole)

    def test_a_store_of_an_older_hbmscope_is_refused(self):
        self.assertEqual(self.digest(ROOT / "samples/fragments.hbm", "--run", "only").returncode, 0)
        self.copy_rows("failure", "* EXCLUDE (requested_bytes), requested_bytes AS asked_bytes", "older.parquet").unlink()
        files = sorted(self.store.rglob("*"))
        for run in ("only", "another"):
            done = self.digest(ROOT / "samples/fragments.hbm", "--run", run)
            self.assertEqual((done.returncode, done.stderr), (3, f"hbmscope: {self.store} can't be written: an older hbmscope wrote it. Digest the files again, into a new store.\n"))
        self.assertEqual(sorted(self.store.rglob("*")), files)
        for command in ("fleet", "ledger"):
            done = subprocess.run([HBMSCOPE, command, self.store, "--python", PYTHON], capture_output=True, text=True)
            self.assertIn(f"{self.store} can't be read: an older hbmscope wrote it. Digest the files again, into a new store.", done.stderr)
            self.assertNotEqual(done.returncode, 0)

    def test_figures_are_those_of_report(self):
        recording = ROOT / "samples/fragments.hbm"
        self.assertEqual(self.digest(recording, "--run", "a run/with=odd 'characters'").returncode, 0)
        answers = self.fleet()
        self.assertEqual(answers["run"], "a run/with=odd 'characters'")
        report = json.loads(subprocess.run([HBMSCOPE, "report", recording, "--at", "peak", "--json"], check=True, capture_output=True, text=True).stdout)
        [heap] = report["heaps"]
        self.assertEqual(answers["processes"][0]["largest_peak_bytes"], heap["peak_in_use_bytes"])
        [waste] = answers["waste"]
        self.assertEqual((waste["in_use_bytes"], waste["pool_bytes"], waste["free_bytes"]), (heap["in_use_bytes"], heap["pool_bytes"], heap["free_bytes"]))

    def test_what_is_refused(self):
        recording = ROOT / "samples/fragments.hbm"
        for word, said in (("tp=8,zz=2", "at 'zz=2'"), ("tp=0", "at 'tp=0'"), ("tp=8x", "at 'tp=8x'"), ("tp=2,tp=4", "at 'tp=4'")):
            done = self.digest(recording, "--layout", word)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        done = self.digest(recording, python="/nowhere/python")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nowhere/python", done.stderr)
        done = self.digest(ROOT / "README.md")
        self.assertEqual(done.returncode, 3, done.stderr)
        [unread] = self.fleet()["unread"]
        self.assertTrue(unread["file"].endswith("README.md"))
        shutil.rmtree(self.store)
        nothing = subprocess.run([HBMSCOPE, "fleet", self.folder, "--python", PYTHON], capture_output=True, text=True)
        self.assertEqual(nothing.returncode, 2)
        self.assertIn("no store", nothing.stderr)
        self.digest(recording, "--run", "only")
        other = subprocess.run([HBMSCOPE, "fleet", self.store, "--run", "other", "--python", PYTHON], capture_output=True, text=True)
        self.assertIn("has no run other. It has: only", other.stderr)

    def test_text_names_what_json_has(self):
        self.answers("rank:77:2048", "fail:7:1")
        done = subprocess.run([HBMSCOPE, "fleet", self.store, "--python", PYTHON], capture_output=True, text=True)
        for words in ("192 processes on 24 hosts, run run.", "rank 77 on node9", "22.0 GiB instead of 20.0 GiB", "hbmscope open", "rank 7 on node0", "requested 29.3 GiB"):
            self.assertIn(words, done.stdout)

    def test_processes_that_vary_as_real_ones_do_are_no_outliers(self):
        for seed in range(1, 4):
            for vary in ("10", "50"):
                with self.subTest(seed=seed, vary=vary):
                    shutil.rmtree(self.store, ignore_errors=True)
                    self.assertEqual(self.found(self.answers("--seed", str(seed), "--vary", vary)), ({}, {}, {}))
        # They are found among those, if they differ by more.
        self.assertEqual(self.found(self.answers("--seed", "7", "--vary", "20", "rank:77:16384"))[0], {77: "forward  model.py"})

    def test_without_places_a_few_processes_are_not_judged(self):
        subprocess.run([MAKE_FLEET, self.folder / "few", "32", "1500", "--tp", "4", "--pp", "4", "--vary", "50", "rank:9:9000"], check=True)
        self.assertEqual(self.digest(self.folder / "few").returncode, 0)
        answers = self.fleet()
        self.assertEqual((self.found(answers), answers["processes"][0]["without_peers"]), (({}, {}, {}), 32))

    def test_opposite_outliers_of_one_host_are_two_processes(self):
        ranks, hosts, _ = self.found(self.answers(*(f"rank:{rank}:{2048 if rank % 2 else 4096}:{'forward' if rank % 2 else 'leak'}" for rank in range(72, 80))))
        self.assertEqual((set(ranks), hosts), (set(range(72, 80)), {}))

    def test_many_add_themselves_at_once(self):
        run = self.make("run")
        jobs = [subprocess.Popen([HBMSCOPE, "digest", run / f"rank_{rank}.hbm", "-o", self.store, "--run", "tonight", "--python", PYTHON], stderr=subprocess.PIPE, text=True) for rank in range(12)]
        for job in jobs:
            said = job.communicate()[1]
            self.assertEqual(job.returncode, 0, said)
        self.assertEqual(self.fleet()["processes"][0]["processes"], 12)
        self.assertEqual([path for path in self.store.rglob("*") if path.name.startswith(".")], [])

    def test_a_layout_can_be_given_later(self):
        run = self.make("run")
        for layout in ([], ["--layout", LAYOUT]):
            self.assertEqual(self.digest(run, *layout).returncode, 0)
        [processes] = self.fleet()["processes"]
        self.assertEqual((processes["processes"], processes["with_places"]), (RANKS, RANKS))

    def test_odd_values_and_names(self):
        log = self.folder / "odd.log"
        log.write_text("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 18446744073709551615 bytes.\rand a line\n")
        done = self.digest(log, ROOT / "samples/fragments.hbm", "--run", "odd")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(self.fleet()["processes"][0]["processes"], 1)
        for name in ("null", "NULL", "__HIVE_DEFAULT_PARTITION__"):
            refused = self.digest(ROOT / "samples/fragments.hbm", "--run", name)
            self.assertEqual((refused.returncode, "can't be named" in refused.stderr), (2, True), refused)

    def test_a_job_adds_itself_at_its_end(self):
        record = self.folder / "job.hbm"
        words = [HBMSCOPE, "run", "--no-window", "--no-flight", "--record", record, "--digest", self.store, "--digest-run", "tonight", "--", PROGRAM, "--fail"]
        # Its Python is the one in PATH.
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": f"{pathlib.Path(PYTHON).parent}:{os.environ['PATH']}"})
        alone = subprocess.run([PROGRAM, "--fail"], capture_output=True)
        self.assertEqual(done.returncode, alone.returncode, done.stderr)
        answers = self.fleet()
        self.assertEqual((answers["run"], answers["processes"][0]["processes"]), ("tonight", 1))
        without = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": "/usr/bin:/bin"})
        self.assertEqual(without.returncode, alone.returncode)

    def test_spark_gives_the_same_answers(self):
        python = os.environ.get("HBMSCOPE_SPARK_PYTHON")
        if not python:
            self.skipTest("HBMSCOPE_SPARK_PYTHON names no Python with pyspark")
        for planted in ((), ("rank:50:1024",)):  # The recording of rank 50 grows.
            before = self.make("before", *planted, events=1600 if planted else 1500)
            for rank in (10,) if planted else (9, 10):  # 9 is read only then.
                (before / f"rank_{rank}.hbm").write_bytes(b"this is no recording at all")
            self.assertEqual(self.digest(*([".", before / "rank_9.hbm"] if planted else [before]), "--run", "before", folder=before).returncode, 0)

        def answers(*words):
            command = [python, ROOT / "app/fleet/fleet.py", self.store, *words, "--json"]
            on_duckdb, on_spark = (json.loads(subprocess.run([*command, "--engine", engine], check=True, capture_output=True, text=True).stdout) for engine in ("duckdb", "spark"))
            self.assertEqual(on_duckdb, on_spark)
            return on_spark

        found = answers("--run", "before")
        self.assertEqual((found["processes"][0]["processes"], [row["file"] for row in found["unread"]]), (RANKS - 1, ["./rank_10.hbm", str(before / "rank_10.hbm")]))
        for layout in (["--layout", LAYOUT], []):
            self.digest(self.make("after", "rank:77:2048", "swap:141:3000", "host:20:512:load_batch", "stage:3:1024", "fail:7:1"), *layout, "--run", f"after {len(layout)}")
            found = answers("--run", f"after {len(layout)}", "--baseline", "before")
            self.assertTrue(found["outliers"] and found["hosts"] and found["changes"])

    def test_ray_fills_the_same_store(self):
        python = os.environ.get("HBMSCOPE_RAY_PYTHON")
        if not python:
            self.skipTest("HBMSCOPE_RAY_PYTHON names no Python with Ray")
        run = self.make("run", "rank:77:2048", "fail:7:1")
        (run / "rank_9.hbm").write_bytes(b"this is no recording at all")

        def digest_on_ray(program, files, *words):
            command = [python, ROOT / "app/fleet/digest_on_ray.py", program, files, "--run", "run", "-o", self.folder / "on_ray", *words]
            return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": f"{pathlib.Path(HBMSCOPE).parent}:{os.environ['PATH']}"})

        summary = f"files digested into run run of {self.folder / 'on_ray'} by 10 tasks, of which"
        on_ray = digest_on_ray(pathlib.Path(HBMSCOPE).name, run, "--layout", LAYOUT, "--files-each", "20")
        self.assertEqual((on_ray.returncode, on_ray.stderr), (0, f"hbmscope: {RANKS - 1} of {RANKS} {summary} 0 failed\n"))
        self.assertEqual(self.digest(run, "--layout", LAYOUT).returncode, 0)
        here = self.fleet()
        self.store = self.folder / "on_ray"
        there = self.fleet()
        self.assertEqual((here.pop("store"), there.pop("store")), (str(self.folder / "store"), str(self.store)))
        self.assertEqual(here, there)
        self.assertEqual(here["processes"][0]["processes"], RANKS - 1)
        failed = digest_on_ray(HBMSCOPE, run / "rank_9.hbm")
        self.assertEqual((failed.returncode, "1 file could not be read" in failed.stderr, "0 of 1 file digested" in failed.stderr, "1 task, of which 1 failed" in failed.stderr), (1, True, True, True), failed.stderr)
        missing = digest_on_ray("hbmscope-that-is-not-there", run)
        self.assertEqual((missing.returncode, "hbmscope-that-is-not-there is no program" in missing.stderr), (2, True), missing.stderr)
        # A task whose worker is lost each time: the others are digested. A program that no machine can run, and one that is killed.
        for words, why in ((f'case "$*" in *rank_0.hbm*) kill -9 $PPID;; *) exec "{HBMSCOPE}" "$@";; esac', "on may be missing: The worker died"), ("", "on may be missing: [Errno 8]"), ("kill -9 $$", "on ended with exit code -9")):
            program = self.folder / "program"
            program.write_text(f"#!/bin/sh\n{words}\n" if words else "\0")
            program.chmod(0o755)
            lost = digest_on_ray(program, run, "--files-each", "20")
            self.assertEqual(lost.returncode, 1)
            self.assertIn(f"20 files from {run / 'rank_0.hbm'} {why}", lost.stderr)
            digested, failed = (RANKS - 21, 1) if "died" in why else (0, 10)
            self.assertTrue(lost.stderr.endswith(f"hbmscope: {digested} of {RANKS} {summary} {failed} failed\n"), lost.stderr)


def main():
    global HBMSCOPE, MAKE_FLEET, PYTHON, PROGRAM
    HBMSCOPE, MAKE_FLEET, PYTHON, PROGRAM = sys.argv[1:5]
    if subprocess.run([PYTHON, "-c", "import duckdb"], capture_output=True).returncode != 0 if pathlib.Path(PYTHON).exists() else True:
        print(f"skipped: {PYTHON} has no DuckDB (make build/fleet_python)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])


if __name__ == "__main__":
    main()
