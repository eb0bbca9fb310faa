#!/usr/bin/env python3
"""hbmscope run on jobs whose libraries are loaded in unusual ways: with other libraries in front of the driver, in other
namespaces, by other C libraries.

    loader_test.py HBMSCOPE FAKE_FOLDER LINKED_JOB JOB ASKS_EVERYWHERE MUSL_JOB

MUSL_JOB is empty if there is no musl-gcc.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

from recorded_job import RecordedJobTest

HBMSCOPE, FAKES, LINKED_JOB, JOB, ASKS_EVERYWHERE, MUSL_JOB = sys.argv[1:7]
COLLECTOR = str(Path(HBMSCOPE).parent / "libhbmscope_collector.so")
IN_C = "import ctypes as C\n"


class LoaderTest(RecordedJobTest):
    def libraries(self, fake):
        return f"{FAKES}/{fake}"


class InFrontOfTheDriver(LoaderTest):
    """A library that forwards to the driver is called for each allocation, and the call is recorded once."""

    def assert_forwards(self, how, libraries, preload="", **more):
        calls = self.folder / "calls"
        calls.unlink(missing_ok=True)
        job = [LINKED_JOB if how == "linked" else JOB, how, "2", "4000", "7"]
        if preload:  # For the job alone.
            job = ["sh", "-c", f"LD_PRELOAD=$LD_PRELOAD:{preload} exec {' '.join(job)}"]
        done = self.run_it(*job, FORWARDED_CALLS=str(calls), HBMSCOPE_DEVICE_BYTES="100000", **more)
        self.assert_is(json.loads(done.stdout))
        numbers = {int(line) for line in calls.read_text().splitlines()}
        self.assertEqual(len(calls.read_text().splitlines()), libraries)
        self.assertEqual(len(numbers), 1, "each library sees every call")
        self.assertGreater(numbers.pop(), 100)

    def test_one_library(self):
        for when in ("at_start", "late"):
            for driver in ("bound", "loose"):
                for how in ("linked", "dlsym", "proc"):
                    with self.subTest(when=when, driver=driver, how=how):
                        self.assert_forwards(how, 1, fake="forwarding_1", FORWARDING_LOOKS_UP=when, FORWARDS_TO_1=f"{FAKES}/{driver}/libcuda.so.1")

    def test_two_libraries(self):
        for when in ("at_start", "late"):
            for how in ("linked", "dlsym", "proc"):
                with self.subTest(when=when, how=how):
                    self.assert_forwards(how, 2, fake="forwarding_1", FORWARDING_LOOKS_UP=when, FORWARDS_TO_1=f"{FAKES}/forwarding_2/libcuda.so.1",
                                         FORWARDS_TO_2=f"{FAKES}/bound/libcuda.so.1")

    def test_a_preloaded_library(self):
        for when in ("at_start", "late"):
            with self.subTest(when=when):
                self.assert_forwards("linked", 1, preload=f"{FAKES}/forwarding_1/libcuda.so.1", FORWARDING_LOOKS_UP=when,
                                     FORWARDS_TO_1=f"{FAKES}/bound/libcuda.so.1")


class LookUps(LoaderTest):
    """A caller finds what it finds without hbmscope."""

    SCRIPT = """
        plugin = C.CDLL(PLUGIN, mode=0)
        for function in (plugin.find_everywhere, plugin.find_version_everywhere): function.restype = C.c_void_p
        assert plugin.find_everywhere(b"cuMemAlloc_v2") and plugin.find_everywhere(b"cuDriverGetVersion"), "with dlsym"
        assert plugin.find_version_everywhere(b"cuDriverGetVersion", b"EMULATED_1.0"), "with dlvsym"
        assert not plugin.find_everywhere(b"cuNoSuchName")
        assert not hasattr(C.CDLL(None), "cuDriverGetVersion"), "it is local"
        print("found")
    """.replace("PLUGIN", repr(ASKS_EVERYWHERE))

    def test_names_of_the_driver_in_a_local_library(self):
        self.assertEqual(self.run_python(self.SCRIPT).stdout, "found\n")

    def test_the_same_without_an_observer(self):
        for more in ({}, {"LD_PRELOAD": COLLECTOR}):  # Without hbmscope, and with its library alone.
            done = subprocess.run([sys.executable, "-c", IN_C + textwrap.dedent(self.SCRIPT)], capture_output=True, text=True, env=self.variables(**more))
            self.assertEqual((done.returncode, done.stdout), (0, "found\n"), done.stderr)


class WhatWasWatched(LoaderTest):
    """The end of a run says what was watched of each process, and what was not and why."""

    # Allocates, and waits until the look from outside has come by.
    COMMAND = [sys.executable, "-c", IN_C + "cuda = C.CDLL('libcuda.so.1'); cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(5)); import time; time.sleep(1)"]

    def test_a_process_that_is_recorded(self):
        self.assertRegex(self.run_it(*self.COMMAND).stderr, r"hbmscope: watched: \S+ \(\d+\): driver calls\n")

    def test_a_process_that_lacks_the_environment(self):
        done = self.run_it("env", "-i", f"LD_LIBRARY_PATH={FAKES}/bound", *self.COMMAND)
        self.assertRegex(done.stderr, r"not watched, though the driver was loaded: \S+ \(\d+\) \(started without hbmscope's LD_PRELOAD, as env -i, ")
        self.assertIn("nothing was recorded", done.stderr)

    def test_a_process_whose_launcher_preloads_something_else(self):
        done = self.run_it("env", "LD_PRELOAD=libm.so.6", *self.COMMAND)
        self.assertRegex(done.stderr, r"not watched, though the driver was loaded: \S+ \(\d+\) \(started without hbmscope's LD_PRELOAD")

    def test_a_driver_of_which_no_call_arrives(self):
        done = self.run_it(sys.executable, "-c", IN_C + "cuda = C.CDLL('libcuda.so.1'); import time; time.sleep(1)")
        self.assertRegex(done.stderr, r"not watched, though the driver was loaded: \S+ \(\d+\) \(no call that allocates memory reached hbmscope")

    def test_a_job_without_a_driver(self):
        done = self.run_it(sys.executable, "-c", "import time; time.sleep(0.5)")
        self.assertRegex(done.stderr, r"\S+ \(\d+\).* (was|were) not seen to load a GPU driver \(libcuda\.so\.1, libamdhip64\.so\)\. Is it running on the CPU\?")


@unittest.skipUnless(MUSL_JOB, "there is no musl-gcc here")
class OtherCLibrary(LoaderTest):
    """A program that uses musl runs as without hbmscope, also between programs that are recorded."""

    def test_a_job_of_musl(self):
        done = self.run_it(MUSL_JOB, code=7)
        self.assertEqual(done.stdout, "found strlen, not cuInit; thread and child have ended\n")
        self.assertIn("nothing was recorded", done.stderr)

    def test_a_child_of_musl(self):
        done = self.run_it("sh", "-c", f"{MUSL_JOB} >&2; test $? = 7 && exec {LINKED_JOB} linked 1 500 7")
        self.assert_is(json.loads(done.stdout))

    def test_an_annotated_program_of_musl_says_once_why_it_is_not_observed(self):
        done = self.run_it(MUSL_JOB, "announce", code=7)
        self.assertEqual(done.stderr.count("this process is not observed: its C library is not glibc"), 1, done.stderr)


class RunsAnyway(LoaderTest):
    """What keeps hbmscope from observing does not keep the job from running; one line says what it is."""

    def test_a_job_that_closes_all_its_files_and_opens_others(self):
        done = self.run_python("""
            import os, sys, threading
            cuda = C.CDLL("libcuda.so.1")
            def take(count):
                for _ in range(count): assert cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(1000)) == 0
            take(1)
            os.closerange(3, 5000)
            files = [open(os.path.join(sys.argv[1], f"own_{number}"), "w+b") for number in range(40)]
            threads = [threading.Thread(target=take, args=(500,)) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            child = os.fork()
            if child == 0:
                take(1)
                os._exit(0)
            os.waitpid(child, 0)
            print({file.seek(0, 2) for file in files})
        """, words=(str(self.folder),))
        self.assertEqual(done.stdout, "{0}\n", "nothing of hbmscope's is in the job's files")
        self.assertEqual((self.report()["events"]["alloc"], self.report()["events"]["lost"]), (2002, 0))

    def test_a_job_that_has_no_file_descriptors_left(self):
        done = self.run_python("""
            import os, resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))
            cuda, files = C.CDLL("libcuda.so.1"), []
            try:
                while True: files.append(os.open("/dev/null", os.O_RDONLY))
            except OSError as error: print(error.strerror)
            print(cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(1000)))
            os.close(files.pop())
            print(cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(1000)), os.open("/dev/null", os.O_RDONLY) > 0)
        """)
        self.assertEqual(done.stdout, "Too many open files\n0\n0 True\n")
        self.assertEqual(done.stderr.count("this process is not observed"), 1, done.stderr)

    def assert_runs_unobserved(self, hbmscope, reason, *options):
        done = subprocess.run([hbmscope, "run", "--no-window", "--no-flight", *options, "--", "sh", "-c", "echo \"$LD_PRELOAD\"; exit 5"], capture_output=True,
                              text=True, timeout=60, env=self.environment)
        self.assertEqual((done.returncode, done.stdout), (5, "\n"), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("hbmscope: the job runs without being observed: "), done.stderr)
        self.assertIn(reason, done.stderr)

    def test_without_the_library(self):
        alone = shutil.copy(HBMSCOPE, self.folder / "hbmscope")
        self.assert_runs_unobserved(alone, "libhbmscope_collector.so is missing", "--record", self.recording)

    def test_in_a_folder_that_the_loader_can_not_preload_from(self):
        folder = self.folder / "a folder"
        folder.mkdir()
        shutil.copy(COLLECTOR, folder)
        self.assert_runs_unobserved(shutil.copy(HBMSCOPE, folder), "contains a space or a colon", "--record", self.recording)

    def test_without_a_place_for_the_recording(self):
        self.assert_runs_unobserved(HBMSCOPE, "nowhere", "--record", str(self.folder / "nowhere" / "run.hbm"))

    def test_whatever_the_recording_is_called_the_job_runs(self):
        pipe, loop, socket_file = self.folder / "pipe", self.folder / "loop", self.folder / "socket"
        os.mkfifo(pipe)
        loop.symlink_to(loop)
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(str(socket_file))
        for name, reason in ((self.folder, "Is a directory"), (pipe, "it is a pipe or a socket"), (socket_file, "it is a pipe or a socket"),
                             (loop, "Too many levels of symbolic links"), (self.folder / ("n" * 290), "File name too long"),
                             (self.folder / "loop" / "run.hbm", "Too many levels of symbolic links"), (Path(HBMSCOPE) / "run.hbm", "Not a directory"),
                             (Path("/proc/self/run.hbm"), "No such file or directory")):
            with self.subTest(str(name)):
                self.assert_runs_unobserved(HBMSCOPE, reason, "--record", str(name))
                self.assert_runs_unobserved(HBMSCOPE, "Choose another file with --record.", "--record", str(name))
        # A pipe with a reader is none either: what was recorded is also read.
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.assert_runs_unobserved(HBMSCOPE, "it is a pipe or a socket", "--record", str(pipe))

    def test_in_a_working_folder_that_was_removed_the_job_runs(self):
        for options in ([], ["--record", "run.hbm"], ["--flight", "flights"], ["--emulate", "a100-40"]):
            with self.subTest(options):
                gone = self.folder / "gone"
                gone.mkdir()
                words = [HBMSCOPE, "run", "--no-window", *options, "--", "/bin/sh", "-c", "exit 5"]
                done = subprocess.run(["/bin/sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *words], capture_output=True, text=True, timeout=60, env=self.environment, cwd=gone)
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn("the job runs without being observed: ", done.stderr)

    def test_a_command_that_does_not_exist_is_still_an_error(self):
        done = subprocess.run([HBMSCOPE, "run", "--no-window", "--record", "/nowhere/run.hbm", "--", "/nowhere/job"], capture_output=True, text=True, env=self.environment)
        self.assertEqual(done.returncode, 127)
        self.assertIn("cannot start /nowhere/job", done.stderr)


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    unittest.main(argv=[sys.argv[0], *sys.argv[7:]])
