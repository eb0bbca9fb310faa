#!/usr/bin/env python3
"""Ranges and marks of NVTX in a job under hbmscope run: under both back ends they are markers of the recording.

    nvtx_test.py HBMSCOPE EMULATED_DRIVER FAKE_CUPTI OTHER_LIBRARY
"""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import own_children  # noqa: F401 - what a test leaves running is killed

HBMSCOPE, FAKES, FAKE_CUPTI, OTHER_LIBRARY = sys.argv[1:5]
JOB = str(Path(__file__).parent / "nvtx_job.py")
MARK, BEGINS, ENDS = "0", "1", "2"
TOLD = [(MARK, "a mark"), (MARK, "weit \u00e4\u20ac\U0001f600"), (MARK, "a mark with attributes"), (BEGINS, "step"), (BEGINS, "forward"), (BEGINS, "layer"),
        (BEGINS, "NCCL: AllReduce"), (ENDS, "layer"), (ENDS, "forward"), (BEGINS, "copy"), (BEGINS, "NCCL: send"), (BEGINS, "in a thread"), (ENDS, "in a thread"),
        (ENDS, "copy"), (ENDS, "NCCL: send"), (ENDS, "NCCL: AllReduce"), (ENDS, "step")]


class Nvtx(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.recording = str(self.folder / "run.hbm")

    def run_it(self, *arguments, options=(), **variables):
        environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.folder), LD_LIBRARY_PATH=f"{FAKES}/bound:{FAKE_CUPTI}/12", HBMSCOPE_DEVICE_CUDA="12090")
        environment.pop("NVTX_INJECTION64_PATH", None)
        environment.update(variables)
        done = subprocess.run([HBMSCOPE, "run", "--no-window", *options, "--record", self.recording, "--", sys.executable, JOB, *arguments],
                              capture_output=True, text=True, timeout=120, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done.stderr

    def markers(self):
        done = subprocess.run([HBMSCOPE, "export", self.recording, "--to", "csv", "--what", "events"], capture_output=True, text=True, check=True)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual({row["device"] for row in rows if row["kind"] == "marker"} - {""}, set())  # They are of no device.
        return [(row["value"], row["text"], row["stream"]) for row in rows if row["kind"] == "marker"]

    def test_ranges_and_marks_are_recorded_under_both_back_ends(self):
        for back_end in ("interpose", "cupti"):
            with self.subTest(back_end=back_end):
                given, _ = self.run_it(options=("--backend", back_end))
                self.assertEqual(given, {"is_listened_to": 1, "levels": [0, 1, 2], "tsl": None, "again": True, "in domain": 0, "popped": [2, 1],
                                         "thread": [0, 0, -2], "popped in domain": 0})
                self.assertEqual([marker[:2] for marker in self.markers()], TOLD)

    def test_calls_that_cupti_reports_are_recorded_once(self):
        for version, major in (("12", "12"), ("13.3", "13")):
            given, err = self.run_it(options=("--backend", "cupti"), NVTX_INJECTION64_PATH=f"{FAKE_CUPTI}/{version}/libcupti.so.{major}")
            self.assertIn(f"recorded with CUPTI ({FAKE_CUPTI}/{version}/", err)
            self.assertNotEqual(given["tsl"], None)  # CUPTI gives it out.
            self.assertEqual([marker[:2] for marker in self.markers()], TOLD)
            given, _ = self.run_it(NVTX_INJECTION64_PATH=f"{FAKE_CUPTI}/{version}/libcupti.so.{major}")
            self.assertEqual(self.markers(), [])

    def test_somebody_elses_library_is_left_where_it_is(self):
        given, _ = self.run_it(NVTX_INJECTION64_PATH=OTHER_LIBRARY)
        self.assertEqual(given["is_listened_to"], 7)
        self.assertEqual(self.markers(), [])

    def test_without_an_observer_nvtx_does_nothing(self):
        collector = Path(HBMSCOPE).parent / "libhbmscope_collector.so"
        environment = dict(os.environ, LD_LIBRARY_PATH=f"{FAKES}/bound", NVTX_INJECTION64_PATH=str(collector))
        environment.pop("HBMSCOPE_OBSERVER", None)
        done = subprocess.run([sys.executable, JOB], capture_output=True, text=True, env=environment, check=True)
        self.assertEqual(json.loads(done.stdout)["is_listened_to"], 0)

    def test_a_child_reports_its_own(self):
        self.run_it("fork")
        markers = self.markers()
        by_stream = Counter(stream for _, _, stream in markers)
        self.assertEqual(sorted(by_stream.values()), [1, len(TOLD)])
        child = min(by_stream, key=by_stream.get)
        self.assertEqual([marker[:2] for marker in markers if marker[2] == child], [(MARK, "NCCL: AllReduce")])

    def test_many_names_and_deep_ranges_are_bounded(self):
        self.run_it("many")
        markers = Counter(marker[:2] for marker in self.markers())
        self.assertEqual(sum(count for (phase, name), count in markers.items() if phase == MARK), 20000 + 3)
        self.assertGreater(markers[(MARK, "another NVTX range")], 10000)
        self.assertEqual(markers[(MARK, "name 5000")], 1)
        self.assertEqual(markers[(BEGINS, "deep")], markers[(ENDS, "deep")])
        self.assertGreater(markers[(BEGINS, "deep")], 50)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
