#!/usr/bin/env python3
"""The source lines of native frames are those that the job itself prints (__LINE__), wherever the debugging information
is; and functions that were compiled at run time have the names of perf's map.

    lines_test.py HBMSCOPE EMULATED_DRIVER JOB JOB_WITHOUT_DEBUGGING_INFORMATION JOB_WITH_DWO_FILES
"""

import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import own_children  # noqa: F401 - what a test leaves running is killed

HBMSCOPE, FAKES, JOB, PLAIN_JOB, SPLIT_JOB = sys.argv[1:6]
PROGRAM = Path(HBMSCOPE).with_name("hbmscope_source_lines")
TAKE, LOAD = "lines::take_some(unsigned long)", "lines::load_weights(unsigned long)"


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def build_id(file):
    return re.search(r"Build ID: ([0-9a-f]+)", tool("readelf", "-n", str(file))).group(1)


class Job(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.recording = str(self.folder / "run.hbm")
        self.debug_folder = self.folder / "debug"

    def run_it(self, *command, **variables):
        """The frames of the only block, innermost first, up to main; and what the job printed."""
        environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.folder), LD_LIBRARY_PATH=f"{FAKES}/bound",
                           HBMSCOPE_DEBUG_FOLDER=str(self.debug_folder), **variables)
        command = [HBMSCOPE, "run", "--no-window", "--no-flight", "--record", self.recording, "--", *map(str, command)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        block, = self.report("--blocks", "0")["blocks"]["rows"]
        self.block = block
        frames = [(frame["name"], frame["file"] and Path(frame["file"]).name, frame["line"]) for frame in block["stack"]]
        names = [name for name, *_ in frames]
        return frames[:names.index("main") + 1] if "main" in names else frames, done.stdout

    def report(self, *words):
        done = subprocess.run([HBMSCOPE, "report", self.recording, *words, "--json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


@unittest.skipUnless(PROGRAM.exists(), "hbmscope was built without libdw")
class Lines(Job):
    def assert_lines(self, job, how="plain"):
        frames, said = self.run_it(job, how)
        wanted = []
        for line in said.splitlines():
            _, rest = line.split(" ", 1)
            function, number = rest.rsplit(" ", 1)
            wanted.append((function, "line_job.cpp", int(number)))
        self.assertEqual(frames, wanted)
        return frames

    def assert_no_lines(self, job):
        frames, _ = self.run_it(job, "plain")
        name = Path(job).name
        self.assertEqual(frames, [(TAKE, name, None), (LOAD, name, None), ("main", name, None)])

    def copy_of_job(self):
        job = self.folder / "job"
        shutil.copy(JOB, job)
        return job

    def split_off(self, job, debug_file):
        debug_file.parent.mkdir(parents=True, exist_ok=True)
        tool("objcopy", "--only-keep-debug", str(job), str(debug_file))

    def debug_file_of(self, job):
        known = build_id(job)
        return self.debug_folder / ".build-id" / known[:2] / f"{known[2:]}.debug"

    def test_of_the_calls(self):
        frames = self.assert_lines(JOB)
        self.assertEqual([name for name, *_ in frames], [TAKE, LOAD, "main"])
        own = self.block["own_line"]
        self.assertEqual((own["name"], Path(own["file"]).name, own["line"]), frames[0])
        text = subprocess.run([HBMSCOPE, "report", self.recording, "--blocks", "0"], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"line_job.cpp:{frames[0][2]}", text)
        profile = self.folder / "run.pprof.gz"
        subprocess.run([HBMSCOPE, "export", self.recording, "--to", "pprof", "-o", str(profile)], check=True, capture_output=True)
        top = json.loads(tool(HBMSCOPE, "report", str(profile), "--by", "line", "--json"))
        self.assertIn(f'"line": {frames[0][2]}', json.dumps(top))

    def test_an_inlined_function_has_the_line_of_the_call_in_the_function_that_has_its_code(self):
        frames = self.assert_lines(JOB, "inlined")
        self.assertEqual([name for name, *_ in frames], [TAKE, "lines::with_inlined(unsigned long)", "main"])

    def test_from_dwo_files(self):
        self.assert_lines(SPLIT_JOB)
        self.assert_lines(SPLIT_JOB, "inlined")

    def test_none_without_debugging_information(self):
        self.assert_no_lines(PLAIN_JOB)

    def test_from_a_separate_file_by_build_id(self):
        job = self.copy_of_job()
        self.split_off(job, self.debug_file_of(job))
        tool("strip", str(job))
        self.assert_lines(job)
        shutil.rmtree(self.debug_folder)
        frames, _ = self.run_it(job, "plain")
        self.assertNotIn(TAKE, [name for name, *_ in frames])
        self.assertEqual({line for *_, line in frames}, {None})

    def test_from_the_file_that_is_named_in_the_program(self):
        for place in ("job.debug", ".debug/job.debug"):
            with self.subTest(place):
                job = self.copy_of_job()
                self.split_off(job, self.folder / place)
                tool("objcopy", "--strip-all", f"--add-gnu-debuglink={self.folder / place}", str(job))
                self.assert_lines(job)
                (self.folder / place).unlink()

    def test_a_file_of_another_build_is_not_used(self):
        job = self.copy_of_job()
        self.split_off(SPLIT_JOB, self.debug_file_of(job))
        tool("strip", "--strip-debug", str(job))
        self.assertNotEqual(build_id(job), build_id(SPLIT_JOB))
        self.assert_no_lines(job)

    def test_compressed(self):
        job = self.copy_of_job()
        tool("objcopy", "--compress-debug-sections", str(job))
        self.assert_lines(job)

    def test_damaged_files_cost_lines_only(self):
        """Names stay; a line that is still found may be wrong, since damage can look like another line."""
        job = self.copy_of_job()
        self.split_off(job, self.debug_file_of(job))
        tool("strip", "--strip-debug", str(job))
        whole = self.debug_file_of(job).read_bytes()
        for section in (".debug_info", ".debug_abbrev", ".debug_line"):
            with self.subTest(section):
                row = re.search(rf"\{section}\s+PROGBITS\s+\w+\s+(\w+)\s+(\w+)", tool("readelf", "-SW", str(self.debug_file_of(job))))
                at, size = int(row.group(1), 16), int(row.group(2), 16)
                damaged = bytearray(whole)
                damaged[at:at + size] = random.Random(1).randbytes(size)
                self.assert_named_with(job, bytes(damaged))
        for share in (0.2, 0.5, 0.9):
            with self.subTest(share=share):
                self.assert_named_with(job, whole[:int(len(whole) * share)])
        for seed in range(5):
            with self.subTest(seed=seed):
                numbers, damaged = random.Random(seed), bytearray(whole)
                for _ in range(200):
                    damaged[numbers.randrange(0x400, len(damaged))] = numbers.randrange(256)
                self.assert_named_with(job, bytes(damaged))

    def assert_named_with(self, job, debugging_information):
        self.debug_file_of(job).write_bytes(debugging_information)
        frames, _ = self.run_it(job, "plain")
        self.assertEqual([name for name, *_ in frames], [TAKE, LOAD, "main"])

    def test_the_program_that_crashes_takes_nobody_with_it(self):
        """A stand-in for hbmscope, so that the program next to it is another one."""
        folder = self.folder / "bin"
        folder.mkdir()
        for name in ("hbmscope", "libhbmscope_collector.so", "hbmscope_device_totals"):
            source = next(place for place in (Path(HBMSCOPE).with_name(name), *Path(HBMSCOPE).parents[1].rglob(name)) if place.exists())
            shutil.copy(source, folder / name)
        program = folder / "hbmscope_source_lines"
        for script in ("kill -SEGV $$", "exit 0", "exec sleep 60"):
            with self.subTest(script):
                program.write_text(f"#!/bin/sh\n{script}\n")
                program.chmod(0o755)
                frames, _ = self.run_with(folder / "hbmscope", JOB)
                self.assertEqual(frames, [(TAKE, Path(JOB).name, None), (LOAD, Path(JOB).name, None), ("main", Path(JOB).name, None)])

    def run_with(self, hbmscope, job):
        global HBMSCOPE
        before, HBMSCOPE = HBMSCOPE, str(hbmscope)
        try:
            return self.run_it(job, "plain")
        finally:
            HBMSCOPE = before


@unittest.skipUnless(platform.machine() == "x86_64", "the job has code for x86-64 only")
class CompiledAtRunTime(Job):
    def names(self, name, **variables):
        frames, said = self.run_it(JOB, "compiled", name, **variables)
        Path(f"/tmp/perf-{said.split()[0]}.map").unlink()
        self.assertEqual(frames[0][0], TAKE)
        return [(function, file) for function, file, _ in frames[1:]]

    def test_has_the_name_of_the_map(self):
        self.assertEqual(self.names("py::train:/home/me/train.py")[0], ("py::train:/home/me/train.py", "[jit]"))
        self.assertEqual(self.names("_ZN3jit6kernelEi")[0], ("jit::kernel(int)", "[jit]"))
        # The name is in the recording: the map is gone by now.
        self.assertIn("jit::kernel(int)", json.dumps(self.report("--blocks", "0")))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file to another user")
    def test_a_map_of_another_user_is_not_read(self):
        (function, file), *_ = self.names("kernel", MAP_OWNER="12345")
        self.assertRegex(function, r"^0x[0-9a-f]+$")
        self.assertIsNone(file)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
