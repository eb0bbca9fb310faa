#!/usr/bin/env python3
"""Who called the driver: the stacks of jobs whose functions are known, in C++, in C and in Python, are what the
recording holds.

    stacks_test.py HBMSCOPE EMULATED_DRIVER FAKE_CUPTI JOB JOB_IN_C LIBRARY BARE_DRIVER
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import own_children  # noqa: F401 - what a test leaves running is killed

HBMSCOPE, FAKES, FAKE_CUPTI, JOB, JOB_IN_C, LIBRARY, BARE_DRIVER = sys.argv[1:8]
CUT = "[callers cut off]"
TAKE = "job::take_some(unsigned long)"
# The frames of the C library at the start of a program and of a thread depend on its distribution.
OUTER = {"main", "_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone3", "__clone3", "clone", "__GI___clone3"}
CUDA = "import ctypes as C; cuda = C.CDLL('libcuda.so.1'); at = C.c_uint64()\n"
KNOWN_VERSIONS = {(3, 11), (3, 12), (3, 13), (3, 14)}


class Stacks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.recording = str(self.folder / "run.hbm")

    def run_it(self, *command, options=(), code=0, driver=f"{FAKES}/bound", **variables):
        environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.folder), LD_LIBRARY_PATH=driver, STACK_LIBRARY=LIBRARY, **variables)
        command = [HBMSCOPE, "run", "--no-window", "--no-flight", *options, "--record", self.recording, "--", *command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def python(self, script, python=sys.executable, **more):
        file = self.folder / "job.py"
        file.write_text(CUDA + textwrap.dedent(script))
        return self.run_it(python, str(file), **more)

    def report(self, *words):
        done = subprocess.run([HBMSCOPE, "report", self.recording, *words, "--json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def blocks(self):
        """All that live, as (bytes, frames), innermost first; without what is outside of the job's own functions."""
        found = []
        for block in self.report("--blocks", "0")["blocks"]["rows"]:
            names = [frame["name"] for frame in block["stack"]]
            while names and (names[-1] in OUTER or names[-1].startswith("libc.so.6+")):
                names.pop()
            found.append((block["size_bytes"], names))
        return sorted(found)

    def test_functions_in_their_order(self):
        said = self.run_it(JOB, "plain")
        self.assertIn("with Python and native stacks of at most 64 frames", said)
        self.assertEqual(self.blocks(), [(10, [TAKE])])
        done = subprocess.run([HBMSCOPE, "export", self.recording, "--to", "folded"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"(?m)^(.*;)?main;job::take_some\(unsigned long\) 10$")
        top = self.report("--by", "function")
        self.assertIn("job::take_some(unsigned long)", json.dumps(top))
        self.run_it(JOB, "killed", code=128 + signal.SIGKILL)
        self.assertEqual(self.blocks(), [(1000, [TAKE, "job::Model::load_weights(int)"])])

    def test_the_programs_own_function_is_its_own_code(self):
        self.run_it(JOB, "plain")
        block, = self.report("--blocks", "0")["blocks"]["rows"]
        self.assertEqual(block["own_line"], {"name": TAKE, "file": str(Path(JOB).resolve()), "line": None})

    def test_cupti_reports_of_the_same_callers(self):
        said = self.run_it(JOB, "killed", code=128 + signal.SIGKILL, options=("--backend", "cupti"), driver=f"{FAKES}/bound:{FAKE_CUPTI}/12",
                           HBMSCOPE_DEVICE_CUDA="12090")
        self.assertIn("recorded with CUPTI (", said)
        self.assertEqual(self.blocks(), [(1000, [TAKE, "job::Model::load_weights(int)"])])

    def test_recursion_and_where_it_is_cut(self):
        self.run_it(JOB, "recursion", "30")
        self.assertEqual(self.blocks(), [(7, [TAKE] + ["job::descend(int)"] * 30)])
        for depth in (1, 5, 128):
            self.run_it(JOB, "recursion", "200", options=("--stack-depth", str(depth)))
            self.assertEqual(self.blocks(), [(7, [TAKE] + ["job::descend(int)"] * (depth - 1) + [CUT])])

    def test_none_where_none_are_wanted(self):
        self.assertIn("without stacks", self.run_it(JOB, "plain", options=("--stacks", "none")))
        self.assertEqual(self.blocks(), [(10, [])])

    def test_threads_on_the_smallest_stacks(self):
        self.run_it(JOB, "threads", "40")
        wanted = [(100 + number, [TAKE, f"void* job::run_thread<{number}>(void*)"]) for number in range(4) for _ in range(10)]
        self.assertEqual(self.blocks(), wanted)

    def test_ten_thousand_different_stacks(self):
        self.assertNotIn("have no stack", self.run_it(JOB, "many", "10000"))
        found = self.blocks()
        self.assertEqual(len(found), 10000)
        self.assertEqual(len({tuple(names) for _, names in found}), 10000)
        # The outermost is chosen by nothing, the next by the lowest bit, and so on.
        wanted = set()
        for number in range(10000):
            turns = ["left"] + ["right" if number >> bit & 1 else "left" for bit in range(17)]
            wanted.add((TAKE, *[f"job::{turn}(unsigned int, int)" for turn in reversed(turns)]))
        self.assertTrue({tuple(names) for _, names in found} == wanted, found[:2])

    def test_tables_that_are_full_give_no_stack_and_never_a_wrong_one(self):
        # The driver needs a page of addresses for each block.
        said = self.run_it("sh", "-c", f"ulimit -v {400000 + 131072 * 4}; exec {JOB} many 131072")
        found = self.blocks()
        self.assertEqual(len(found), 131072)
        without = sum(1 for _, names in found if not names)
        self.assertGreater(without, 0)
        self.assertIn(f"{without:,} events of process", said)
        with_stack = [tuple(names) for _, names in found if names]
        self.assertEqual(len(set(with_stack)), len(with_stack))
        self.assertEqual({len(names) for names in with_stack}, {19})

    def test_parent_and_child(self):
        self.run_it(JOB, "fork")
        self.assertEqual(self.blocks(), [(1, [TAKE]), (2000, [TAKE, "job::Model::load_weights(int)"])])

    def test_in_a_constructor_while_a_library_is_loaded_and_unloaded(self):
        self.run_it(JOB, "library")
        self.assertEqual(self.blocks(), [(5, [TAKE])])
        self.assertEqual(self.report()["events"]["alloc"], 2)
        rows = subprocess.run([HBMSCOPE, "export", self.recording, "--to", "csv", "--what", "events"], capture_output=True, text=True, check=True)
        self.assertEqual(rows.stdout.count("cuMemAlloc_v2"), 2)

    def test_while_libraries_come_and_go(self):
        self.run_it(JOB, "churn", "2000")
        events = self.report()["events"]
        self.assertEqual((events["alloc"] - events["free"], events["lost"]), (0, 0))

    def test_by_frame_pointers_where_no_unwinder_is_loaded(self):
        self.run_it(JOB_IN_C, driver=BARE_DRIVER)
        self.assertEqual(self.blocks(), [(21, ["inner_in_c", "outer_in_c"])])

    def test_a_file_that_is_gone_leaves_its_addresses(self):
        job = self.folder / "job_that_goes"
        shutil.copy(JOB, job)
        self.run_it(str(job), "gone")
        (_, names), = self.blocks()
        self.assertRegex(names[0], r"^job_that_goes \(deleted\)\+0x[0-9a-f]+$")

    def assert_python(self, python, found, wanted):
        """Python's frames exactly; the native ones below are of ctypes, or none where no unwinder is loaded."""
        block, = found
        at = next(i for i, frame in enumerate(block["stack"]) if (frame["file"] or "").endswith(".py"))
        self.assertEqual([(frame["name"], Path(frame["file"]).name, frame["line"]) for frame in block["stack"][at:]], wanted, python)
        for frame in block["stack"][:at]:
            self.assertTrue(".so" in frame["file"] or frame["line"], frame)  # Python may have debugging information.
        self.assertEqual(block["own_line"], {"name": wanted[0][0], "file": block["stack"][at]["file"], "line": wanted[0][2]})

    PYTHON_JOB = """
        class Model:
            def load(self, size):
                return [self.take(size)
                        for _ in range(1)]

            def take(self, size):
                return cuda.cuMemAlloc_v2(
                    C.byref(at),
                    C.c_size_t(size))

        def größe(model):
            yield model.load(5)

        def main():
            run = lambda: list(größe(Model()))
            run()

        main()
    """

    def wanted_of(self, version):
        inlined = version >= (3, 12)  # List comprehensions, since PEP 709.
        return [("Model.take", "job.py", 9), *([] if inlined else [("Model.load.<locals>.<listcomp>", "job.py", 5)]), ("Model.load", "job.py", 5),
                ("größe", "job.py", 14), ("main.<locals>.<lambda>", "job.py", 17), ("main", "job.py", 18), ("<module>", "job.py", 20)]

    def pythons(self):
        found = {}
        candidates = [sys.executable, "/usr/bin/python3", *sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3"))]
        for python in candidates:
            version = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
            if version.returncode == 0:
                found[str(python)] = tuple(int(part) for part in version.stdout.split())
        return found

    def test_python(self):
        for python, version in self.pythons().items():
            for driver in (f"{FAKES}/bound", BARE_DRIVER):  # With an unwinder, and without.
                with self.subTest(python=python, driver=driver):
                    said = self.python(self.PYTHON_JOB, python=python, driver=driver)
                    if version not in KNOWN_VERSIONS:
                        self.assertEqual(said.count("frames can't be read"), 1, said)
                        continue
                    self.assertNotIn("can't be read", said)
                    found = self.report("--blocks", "0")["blocks"]["rows"]
                    self.assert_python(python, found, self.wanted_of(version))
                    if driver != BARE_DRIVER:
                        self.assertIn("ffi_call", " ".join(frame["name"] for frame in found[0]["stack"]))
                    self.assertNotIn("_PyEval_EvalFrameDefault", [frame["name"] for frame in found[0]["stack"]])

    def test_native_frames_of_python_if_requested(self):
        self.python("cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(5))", options=("--stacks", "native"))
        block, = self.report("--blocks", "0")["blocks"]["rows"]
        self.assertTrue(block["stack"])
        self.assertFalse([frame for frame in block["stack"] if frame["file"].endswith(".py")])

    def known_pythons(self):
        return [python for python, version in self.pythons().items() if version in KNOWN_VERSIONS]

    def test_python_threads_without_the_gil_and_generated_code(self):
        for python in self.known_pythons():
            with self.subTest(python=python):
                self.python("""
                    import threading
                    def work(size):
                        take(size)
                    def take(size):
                        for i in range(200):
                            spaces = {'cuda': cuda, 'C': C}
                            # The same place in memory is another function's again and again.
                            exec(compile(f"def f{size}_{i}():\\n" + "\\n" * (i % 7) + f" cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t({size * 1000 + i}))\\nf{size}_{i}()", f"made{i}.py", "exec"), spaces)
                    threads = [threading.Thread(target=work, args=(size,), daemon=size == 4) for size in range(1, 5)]
                    for thread in threads: thread.start()
                    for thread in threads: thread.join()
                """, python=python)
                found = self.report("--blocks", "0")["blocks"]["rows"]
                self.assertEqual(len(found), 800)
                for block in found:
                    size, i = divmod(block["size_bytes"], 1000)
                    frames = [(frame["name"], Path(frame["file"]).name, frame["line"]) for frame in block["stack"] if frame["file"].endswith(".py")]
                    self.assertEqual(frames[:2], [(f"f{size}_{i}", f"made{i}.py", 2 + i % 7), ("<module>", f"made{i}.py", 3 + i % 7)])
                    self.assertEqual([name for name, *_ in frames[2:4]], ["take", "work"])

    def test_python_depth(self):
        for python in self.known_pythons():
            with self.subTest(python=python):
                self.python("""
                    def down(levels):
                        if levels:
                            down(levels - 1)
                        else:
                            cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(5))
                    down(500)
                """, options=("--stack-depth", "40"), python=python)
                block, = self.report("--blocks", "0")["blocks"]["rows"]
                names = [frame["name"] for frame in block["stack"]]
                self.assertEqual((len(names), names[-1]), (41, CUT))
                self.assertEqual(set(names[20:-1]), {"down"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[8:]])
