"""What tests of jobs on an emulated driver or runtime share: hbmscope run records the job, and what the job did must be
what the recording holds.
"""

import csv
import io
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

from own_folder import OwnFolderTest

HBMSCOPE = sys.argv[1]
EVERY_CALL = str(Path(__file__).with_name("every_call.py"))


def names(entries, *kinds):
    """The entry points of these kinds in a table such as collector/inject/driver_entries.inc."""
    return re.findall(rf"^(?:{'|'.join(kinds)})\((\w+)", Path(entries).read_text(), re.MULTILINE)


def recorded(entries):
    """The entry points that record something when they succeed."""
    runs = re.findall(r"^RUNS\((\w+)((?:.|\n)*?)\)$(?=\n(?:[A-Z/]|\n))", Path(entries).read_text(), re.MULTILINE)
    return set(names(entries, "ALLOCATES", "FREES")) | {name for name, row in runs if "report_" in row}


class RecordedJobTest(OwnFolderTest):
    OPTIONS = ()  # Of hbmscope run, for each job.
    STARTED_IN_PYTHON = "import ctypes as C\n"  # What each script begins with.

    def libraries(self, fake):
        """The value of LD_LIBRARY_PATH. `fake` is bound or loose: whether the library's calls of itself can be intercepted."""
        raise NotImplementedError

    def variables(self, fake="bound", **more):
        return dict(self.environment, LD_LIBRARY_PATH=self.libraries(fake), **more)

    def command(self, *command, options=()):
        return [HBMSCOPE, "run", "--no-window", *self.OPTIONS, *options, "--record", self.recording, "--", *command]

    def run_it(self, *command, options=(), code=0, **variables):
        done = subprocess.run(self.command(*command, options=options), capture_output=True, text=True, timeout=300, env=self.variables(**variables))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def python(self, script, *words):
        return (sys.executable, "-c", self.STARTED_IN_PYTHON + textwrap.dedent(script), *words)

    def run_python(self, script, words=(), **more):
        return self.run_it(*self.python(script, *words), **more)

    def report(self):
        done = subprocess.run([HBMSCOPE, "report", self.recording, "--at", "end", "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def heaps(self):
        return {heap["name"]: heap for heap in self.report()["heaps"]}

    def rows(self):
        done = subprocess.run([HBMSCOPE, "export", self.recording, "--to", "csv", "--what", "events"], capture_output=True, text=True, check=True)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def assert_nothing_was_odd(self):
        """No free of an unknown block, no block over another one, no loss: order and heaps are right."""
        done = subprocess.run([HBMSCOPE, "check", self.recording, "--json"], capture_output=True, text=True, check=True)
        [file] = json.loads(done.stdout)["files"]
        self.assertEqual(([row["name"] for row in file["import"]], file["complete"]), (["blocks", "events"], True), done.stdout)

    def assert_is(self, truth):
        """`truth` is what a job of many operations on two devices says of itself."""
        found = self.report()
        self.assertEqual({key: found["events"][key] for key in ("alloc", "free", "driver_refusals", "oom", "lost")},
                         {**{key: truth[key] for key in ("alloc", "free", "driver_refusals")}, "oom": 0, "lost": 0})
        by_name = {heap["name"]: heap for heap in found["heaps"]}
        for device in range(2):
            heap = by_name[f"GPU {device} memory"]
            self.assertEqual((heap["layer"], heap["device"]), ("physical", device))
            self.assertEqual((heap["in_use_bytes"], heap["live_blocks"]), (truth["in_use_bytes"][device], truth["live_blocks"][device]))
        self.assert_nothing_was_odd()

    def assert_every_call_is_recorded(self, truth, entries):
        """`truth` is what every_call.py printed."""
        self.assertEqual(set(truth["called"]), recorded(entries))
        found = [row for row in self.rows() if row["kind"] != "counter"]  # memory_pools_test.py
        for wanted, row in zip(truth["rows"], found):
            for key, value in wanted.items():
                self.assertEqual(row[key], hex(value) if key in ("address", "handle") else str(value), f"{key} of {wanted}: {row}")
        self.assertEqual(len(found), len(truth["rows"]))
        self.assert_nothing_was_odd()

    def assert_refusals(self, called, entries):
        """`called` is what every_refusal printed: each entry point of the table, which returned error 2."""
        self.assertEqual(called, names(entries, "ALLOCATES", "FREES", "REFUSES", "RUNS"))
        self.assertEqual([(row["kind"], row["text"], row["value"]) for row in self.rows()], [("driver_refusal", name, "2") for name in called])
