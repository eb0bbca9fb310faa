#!/usr/bin/env python3
"""Memory over commits: the bisection finds the commit that was planted, and the ledger has what each commit needs.

    ledger_test.py HBMSCOPE PYTHON [unittest's arguments]

PYTHON: one with DuckDB. The training program runs on an emulated GPU; training_commits.py makes its repository.
"""

import itertools
import json
import math
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import training_commits as training
from training_commits import MIB, git

FLEET = pathlib.Path(__file__).resolve().parents[2] / "app/fleet"
sys.path.insert(0, str(FLEET))
sys.dont_write_bytecode = True
import bisection

HBMSCOPE = PYTHON = None  # Set by main().
MADE = {}  # Repositories by what is planted: made once, then copied.
JOB = [os.path.realpath(sys.executable), "train.py"]
BASE = training.WEIGHTS + training.ACTIVATIONS


class FindTest(unittest.TestCase):
    def search(self, count, first_bad, skipped):
        judged = []

        def judge(number):
            judged.append(number)
            return None if number in skipped else number >= first_bad

        found = bisection.find(count, judge)
        self.assertEqual(len(judged), len(set(judged)), "a commit ran twice")
        return found, len(judged)

    def test_each_place_is_found_in_as_few_runs_as_possible(self):
        for count in range(1, 70):
            for first_bad in range(count):
                found, runs = self.search(count, first_bad, ())
                self.assertEqual(found, (first_bad - 1, first_bad))
                self.assertLessEqual(runs, math.ceil(math.log2(count)))

    def test_with_skipped_ones_the_answer_is_as_narrow_as_it_can_be(self):
        choose = random.Random(5)
        for count, _ in itertools.product(range(2, 40), range(20)):
            first_bad = choose.randrange(count)
            skipped = set(choose.sample(range(count - 1), choose.randrange(count)))
            found, _ = self.search(count, first_bad, skipped)
            good = max((number for number in range(first_bad) if number not in skipped), default=-1)
            bad = min(number for number in range(first_bad, count) if number not in skipped)
            self.assertEqual(found, (good, bad))


class LineTest(unittest.TestCase):
    def test_the_line_that_changed_need_not_be_the_largest_of_its_function(self):
        self.assertEqual(bisection.line_that_changed([(256, 10)], [(256, 13), (100, 17)]), 17)
        self.assertEqual(bisection.line_that_changed([(256, 10), (100, 11)], [(300, 12), (100, 13)]), 12)
        self.assertEqual(bisection.line_that_changed([], [(5, 3)]), 3)
        self.assertEqual(bisection.line_that_changed([(5, 3), (4, 7)], []), 3)
        self.assertEqual(bisection.line_that_changed([(5, 3), (5, 4)], [(5, 8)]), 8)


class CommitsTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.repository = self.folder / "training"
        self.store = self.folder / "store"

    def make(self, planted_mib=512):
        """With a working tree in which somebody is at work."""
        if planted_mib not in MADE:
            temporary = tempfile.TemporaryDirectory()
            unittest.addModuleCleanup(temporary.cleanup)
            MADE[planted_mib] = (pathlib.Path(temporary.name) / "training", training.make(pathlib.Path(temporary.name) / "training", planted_mib))
        made, commits = MADE[planted_mib]
        shutil.copytree(made, self.repository)
        program = self.repository / "train.py"
        (self.repository / "staged.py").write_text("staged")
        git(self.repository, "add", "staged.py")
        program.write_text(program.read_text() + "# Not committed.\n")
        (self.repository / "notes.txt").write_text("notes")
        return commits

    def state(self):
        """All of the repository that a user would miss."""
        files = {path.relative_to(self.repository): path.read_bytes() for path in self.repository.rglob("*") if path.is_file() and ".git" not in path.relative_to(self.repository).parts}
        return [files, (self.repository / ".git/HEAD").read_text(), (self.repository / ".git/worktrees").exists()] + [git(self.repository, *words) for words in (("worktree", "list", "--porcelain"), ("status", "--porcelain"), ("for-each-ref",), ("diff", "--cached"), ("stash", "list"))]

    def words(self, good, bad, *more, job=None, python=sys.executable):
        return [python, FLEET / "bisection.py", HBMSCOPE, "--good", good, "--bad", bad, "--repository", self.repository, "--emulate", "h100", *more, "--", *(job or JOB)]

    def bisect(self, *words, **options):
        """Also checks that the repository is afterwards what it was before."""
        before = self.state()
        done = subprocess.run(self.words(*words, **options), capture_output=True, text=True, env={**os.environ, "TMPDIR": str(self.folder)})
        self.assertEqual(self.state(), before)
        self.assertEqual(list(self.folder.glob("hbmscope-bisection-*/tree")), [])
        return done

    def answer(self, *words, **options):
        done = self.bisect(*words, "--json", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done

    def test_the_planted_commit_is_found(self):
        commits = self.make()
        answer, done = self.answer(commits[0], commits[-1])
        self.assertEqual(answer["outcome"], "found")
        self.assertEqual([about["subject"] for about in answer["commits"]], ["Keep what is needed later"])
        self.assertEqual(answer["commits"][0]["commit"], commits[training.PLANTED])
        self.assertEqual(answer["more_bytes"], 512 * MIB)
        self.assertEqual((answer["before"]["peak_bytes"], answer["after"]["peak_bytes"]), (BASE - training.SAVED, BASE - training.SAVED + 512 * MIB))
        [line] = answer["lines"]
        source = git(self.repository, "show", f"{commits[training.PLANTED]}:train.py").splitlines()
        self.assertEqual((line["name"], line["file"], line["before_bytes"], line["after_bytes"]), ("keep_for_later", "train.py", 0, 512 * MIB))
        self.assertIn("512 * MIB", source[line["line"] - 1])
        verdicts = {commits.index(run["commit"]): run["verdict"] for run in answer["runs"]}
        self.assertEqual(len(verdicts), len(answer["runs"]))
        self.assertLessEqual(len(verdicts), math.ceil(math.log2(training.COMMITS)) + 3)
        self.assertEqual(verdicts[training.BROKEN], "skipped")
        self.assertEqual(len([line for line in done.stderr.splitlines() if line.startswith("hbmscope: run ")]), len(verdicts))
        compared = subprocess.run([HBMSCOPE, *answer["compare"].split()[1:], "--json"], capture_output=True, text=True)
        self.assertEqual(json.loads(compared.stdout)["blocks"]["delta_bytes"], 512 * MIB)

    def test_text_leads_with_the_answer(self):
        commits = self.make()
        done = self.bisect(commits[16], commits[21])
        first, second, third, last = done.stdout.splitlines()
        self.assertRegex(first, r"^The peak grew by 512 MiB at [0-9a-f]{7,} \(\d{4}-\d\d-\d\d, Keep what is needed later\): 378 MiB before, 890 MiB after\.$")
        self.assertRegex(second, r"^The line that grew the most: keep_for_later, train.py:\d+, 0 B before, 512 MiB after\.$")
        self.assertRegex(last, r"^  hbmscope diff \S+\.hbm \S+\.hbm --at peak$")

    def test_where_nothing_is_planted_it_says_so(self):
        commits = self.make(planted_mib=0)
        done = self.bisect(commits[0], commits[-1])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("The peak did not grow by 16.0 MiB or more: 384 MiB at", done.stdout)
        self.assertEqual(done.stderr.count(": run "), 2)
        self.assertEqual(self.bisect(commits[0], commits[-1], "--more", "3MiB").returncode, 1)  # It even fell.

    def test_growth_less_than_more_is_none(self):
        commits = self.make(planted_mib=40)
        self.assertEqual(self.bisect(commits[18], commits[20], "--more", "41MiB").returncode, 1)
        self.assertEqual(self.answer(commits[18], commits[20], "--more", "40MiB")[0]["more_bytes"], 40 * MIB)

    def test_growth_in_two_steps(self):
        commits = self.make()
        git(self.repository, "stash", "--include-untracked")
        program = self.repository / "train.py"
        program.write_text(program.read_text().replace("128 * MIB", "228 * MIB"))
        git(self.repository, "commit", "--quiet", "--all", "-m", "Larger activations")
        done = self.bisect(commits[16], "main")
        self.assertIn("The peak grew by 512 MiB at ", done.stdout)
        self.assertIn("From good to bad it grew by 606 MiB: other commits have a part in it.", done.stdout)

    def test_an_out_of_memory_is_bad(self):
        commits = self.make(planted_mib=100 << 10)  # 100 GiB of 80. It is refused first, so the peak is even less than before.
        answer, _ = self.answer(commits[0], commits[-1])
        self.assertEqual([about["commit"] for about in answer["commits"]], [commits[training.PLANTED]])
        self.assertTrue(answer["after"]["is_out_of_memory"])
        self.assertIn("The command began to run out of memory at", self.bisect(commits[18], commits[20]).stdout)

    def fails_after_a_refusal(self, then):
        """A commit at the end whose program says nothing of memory."""
        commits = self.make()
        git(self.repository, "stash", "--include-untracked")
        program = self.repository / "train.py"
        refused = program.read_text().replace("512 * MIB", "100 * 1024 * MIB").replace('raise MemoryError("out of memory for what is kept")', then)
        self.assertIn(then, refused)
        program.write_text(refused)
        git(self.repository, "commit", "--quiet", "--all", "-m", "Keep far more")
        return commits

    def test_the_driver_refused_the_last_request(self):
        commits = self.fails_after_a_refusal('raise RuntimeError("CUDA error 2")')
        answer, _ = self.answer(commits[26], "main")
        self.assertEqual([about["subject"] for about in answer["commits"]], ["Keep far more"])
        self.assertEqual((answer["after"]["is_out_of_memory"], answer["after"]["refused"]["requested_bytes"]), (True, 100 << 30))
        self.assertTrue(answer["after"]["refused"]["line"].startswith("keep_for_later train.py:"), answer["after"])

    def test_a_program_that_goes_on_after_a_refusal_failed_for_another_reason(self):
        commits = self.fails_after_a_refusal('cuda.cuMemAlloc_v2(ctypes.byref(kept), ctypes.c_size_t(MIB)), print("out of memory, so less")\n        raise KeyError("weights")')
        done = self.bisect(commits[28], "main")
        self.assertEqual((done.returncode, "(bad) can't be run" in done.stderr, "KeyError: 'weights'" in done.stderr), (4, True, True), done.stderr)

    def test_a_range_where_commits_cannot_be_run(self):
        commits = self.make()
        numbers = {commit: number for number, commit in enumerate(commits)}
        only = ["sh", "-c", f"""n=$(grep -c explanation train.py); test $n -ge 6 && test $n -le 7 && exit 1; exec {JOB[0]} train.py"""]
        answer, _ = self.answer(commits[0], commits[-1], job=only)
        self.assertEqual(answer["outcome"], "range")
        suspects = [numbers[about["commit"]] for about in answer["commits"]]
        self.assertIn(training.PLANTED, suspects)
        self.assertEqual(suspects, list(range(suspects[0], suspects[-1] + 1)))
        verdicts = {numbers[run["commit"]]: run["verdict"] for run in answer["runs"]}
        self.assertTrue(all(verdicts[number] == "skipped" for number in suspects[:-1]))

    def test_a_folder_of_the_repository_and_other_files(self):
        self.make(planted_mib=0)
        (self.repository / "job").mkdir()
        git(self.repository, "mv", "-f", "train.py", "job/train.py")
        for mib, name in ((250, "good"), (350, "bad")):
            program = self.repository / "job/train.py"
            program.write_text(program.read_text().replace("250 * MIB", f"{mib} * MIB"))
            git(self.repository, "add", "job")
            git(self.repository, "commit", "--quiet", "--allow-empty", "-m", name)
            git(self.repository, "tag", name)
        words = self.words("good", "bad", "--json")
        words[words.index(self.repository)] = self.repository / "job"
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(self.folder), "GIT_DIR": "/nowhere"})
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["lines"][0]["file"], answer["more_bytes"], len(answer["runs"])), ("job/train.py", 100 * MIB, 2))
        self.assertNotIn("in your folder", done.stderr)
        done = self.bisect("good", "bad", job=[JOB[0], self.repository / "job/train.py"])
        self.assertEqual((done.returncode, "job/train.py was used, which is in your folder" in done.stderr), (1, True), done.stderr)

    def test_branches(self):
        commits = self.make()
        git(self.repository, "stash", "--include-untracked")
        git(self.repository, "checkout", "--quiet", "-b", "side", commits[10])
        (self.repository / "side.txt").write_text("side")
        git(self.repository, "add", "side.txt")
        git(self.repository, "commit", "--quiet", "-m", "On the side")
        git(self.repository, "checkout", "--quiet", "main")
        answer, done = self.answer("side", "main")
        self.assertIn("good is no ancestor of bad", done.stderr)
        self.assertEqual(answer["commits"][0]["commit"], commits[training.PLANTED])
        git(self.repository, "checkout", "--quiet", "-b", "other", commits[22])
        (self.repository / "train.py").write_text(training.PROGRAM)
        git(self.repository, "commit", "--quiet", "--all", "-m", "Without what grew")
        git(self.repository, "checkout", "--quiet", "main")
        answer, _ = self.answer("other", "main")
        self.assertEqual((answer["outcome"], answer["commits"][0]["commit"]), ("earlier", commits[22]))

    def test_what_is_refused(self):
        commits = self.make(planted_mib=0)
        for words, job, code, said in (
            ((commits[0], "nothing-like-it"), None, 2, "has no commit nothing-like-it"),
            ((commits[5], commits[0]), None, 2, "bad is older than good"),
            ((commits[0], commits[0]), None, 2, "no commit to search"),
            ((commits[training.BROKEN], commits[-1]), None, 4, "SyntaxError"),
            ((commits[0], commits[-1]), ["./no-such-program"], 4, "(good) can't be run"),
            ((commits[0], commits[-1]), ["true"], 4, "nothing was recorded"),
        ):
            done = self.bisect(*words, job=job)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)
        without = subprocess.run(self.words(commits[0], commits[1])[: -len(JOB)], capture_output=True, text=True)
        self.assertEqual((without.returncode, "there is no command" in without.stderr), (2, True), without.stderr)
        elsewhere = self.words(commits[0], commits[1])
        elsewhere[elsewhere.index(self.repository)] = self.folder
        done = subprocess.run(elsewhere, capture_output=True, text=True)
        self.assertEqual((done.returncode, "is not in a git repository" in done.stderr), (2, True), done.stderr)

    def test_ctrl_c_leaves_nothing_behind(self):
        commits = self.make()
        before, started = self.state(), self.folder / "started"
        for number in (signal.SIGINT, signal.SIGTERM):
            started.unlink(missing_ok=True)
            job = ["sh", "-c", f"echo $$ > {started}.new && mv {started}.new {started} && exec sleep 600"]
            process = subprocess.Popen(self.words(commits[0], commits[-1], job=job), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(self.folder)})
            for _ in range(600):
                if started.exists() or process.poll() is not None:
                    break
                time.sleep(0.05)
            self.assertTrue((self.repository / ".git/worktrees").exists())
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, said)
            self.assertIn("interrupted", said)
            self.assertEqual(self.state(), before)
            self.assertEqual(list(self.folder.glob("hbmscope-bisection-*/tree")), [])
            with self.assertRaises(ProcessLookupError):
                os.kill(int(started.read_text()), 0)

    def test_ledger_of_six_commits(self):
        commits = self.make()
        checkout = self.folder / "checkout"
        git(self.folder, "clone", "--quiet", self.repository, checkout)
        chosen = [commits[number] for number in (0, 5, 16, training.LOWERED, training.PLANTED, 29)]
        for commit in chosen:
            git(checkout, "checkout", "--quiet", commit)
            recording = self.folder / f"{commit[:8]}.hbm"
            subprocess.run([HBMSCOPE, "run", "--emulate", "h100", "--no-window", "--no-flight", "--record", recording, "--", *JOB], cwd=checkout, check=True, capture_output=True)
            for _ in range(2):  # Again: changes nothing.
                subprocess.run([HBMSCOPE, "digest", recording, "-o", self.store, "--run", commit[:8], "--python", PYTHON], check=True, capture_output=True)
        rows = json.loads(self.ledger("--json").stdout)["runs"]
        small = BASE - training.SAVED
        self.assertEqual([row["run"] for row in rows], [commit[:8] for commit in chosen])
        self.assertEqual([row["peak_bytes"] for row in rows], [BASE, BASE, BASE, small, small + 512 * MIB, small + 512 * MIB])
        self.assertEqual([row["change_bytes"] for row in rows], [None, 0, 0, -training.SAVED, 512 * MIB, 0])
        self.assertEqual([(row["own"].split()[0], row["own_bytes"]) for row in rows[2:5]], [("load_weights", training.WEIGHTS), ("load_weights", training.WEIGHTS - training.SAVED), ("keep_for_later", 512 * MIB)])
        self.assertEqual({(row["processes"], row["failures"], row["incomplete"], row["unread"]) for row in rows}, {(1, 0, 0, 0)})
        text = self.ledger("--top", "2").stdout
        for words in ("6 runs, the oldest first. Peaks: 384 MiB in the first, 890 MiB in the last", "4 earlier (--top 0)", "+512 MiB"):
            self.assertIn(words, text)
        self.assertNotIn(chosen[0][:8], text)

    def test_the_bisection_fills_a_store(self):
        commits = self.make()
        answer, done = self.answer(commits[16], commits[21], "--store", self.store, python=PYTHON)
        self.assertEqual({row["run"]: row["peak_bytes"] for row in json.loads(self.ledger("--json").stdout)["runs"]}, {run["short"]: run["peak_bytes"] for run in answer["runs"]}, done.stderr)

    def test_ledger_without_a_store(self):
        done = subprocess.run([PYTHON, FLEET / "ledger.py", self.folder], capture_output=True, text=True)
        self.assertEqual((done.returncode, "is no store with runs" in done.stderr), (4, True))

    def ledger(self, *words):
        return subprocess.run([PYTHON, FLEET / "ledger.py", self.store, *words], check=True, capture_output=True, text=True)


def main():
    global HBMSCOPE, PYTHON
    HBMSCOPE, PYTHON = sys.argv[1:3]
    if not (pathlib.Path(HBMSCOPE).resolve().parents[1] / "emulated/lib/libcuda.so.1").exists():
        print("skipped: emulated GPUs are not built")
        sys.exit(77)
    if not pathlib.Path(PYTHON).exists() or subprocess.run([PYTHON, "-c", "import duckdb"], capture_output=True).returncode != 0:
        print(f"skipped: {PYTHON} has no DuckDB (make build/fleet_python)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


if __name__ == "__main__":
    main()
