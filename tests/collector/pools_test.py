#!/usr/bin/env python3
"""Pools of frameworks from the inside, with libraries that have XLA's and PyTorch's classes and functions: what is
recorded is what the allocator says, at launch and after an attach; detaching leaves every patched word as it was.

    pools_test.py HBMSCOPE POOL_JOB PLUGINS EMULATED      PLUGINS: a folder with older, newer, stripped, and libc10_cuda.so
"""

import csv
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from attaching import MAY_ATTACH, WHY_NOT
from own_children import children
from own_folder import OwnFolderTest

HBMSCOPE, JOB, PLUGINS, EMULATED = (os.path.abspath(word) for word in sys.argv[1:5])
del sys.argv[1:5]
MIB = 1 << 20


class Pools(OwnFolderTest):
    def start(self, *words, command=(), environment=None):
        given = {**os.environ, "LD_LIBRARY_PATH": EMULATED + "/lib", "HBMSCOPE_DEVICE_CONTEXT_BYTES": str(100 * MIB), **(environment or {})}
        job = subprocess.Popen(
            [*command, JOB, *words], env=given, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(lambda: job.poll() is None and (job.kill(), job.wait()))
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        return job

    def ask(self, job, line="go"):
        """One round: {heap: (bytes in use, allocations)}."""
        job.stdin.write(line + "\n")
        job.stdin.flush()
        words = job.stdout.readline().split()
        self.assertTrue(words, "the job has ended")
        return {words[i]: (int(words[i + 1]), int(words[i + 2])) for i in range(0, len(words) // 3 * 3, 3)}

    def end(self, job):
        job.stdin.close()
        errors = job.stderr.read()
        self.assertEqual(job.wait(timeout=60), 0, errors)
        return errors

    def report(self, recording, *words):
        done = subprocess.run([HBMSCOPE, "report", "--json", "--at", "end", *words, recording], cwd=self.folder, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def heaps(self, recording, *words):
        return {heap["name"]: heap for heap in self.report(recording, *words)["heaps"]}

    def recorded(self, *words):
        return [HBMSCOPE, "run", "--no-window", "--no-flight", "--record", "job.hbm", *words, "--"]

    def test_an_xla_pool_is_recorded_exactly(self):
        for order in ("older", "newer"):
            with self.subTest(order):
                job = self.start("xla", f"{PLUGINS}/{order}/xla_cuda_plugin.so", "2000", "4", command=self.recorded())
                for _ in range(5):
                    said = self.ask(job)
                self.end(job)
                heaps = self.heaps("job.hbm")
                for name, (in_use, _) in said.items():
                    self.assertEqual(heaps[name]["in_use_bytes"], in_use)
                    self.assertEqual(heaps[name]["pool_bytes"], 64 * MIB)
                    self.assertEqual(heaps[name]["free_bytes"], 64 * MIB - in_use)
                    self.assertEqual(heaps[name]["layer"], "pool")
                    self.assertLess(heaps[name]["requested_bytes"], in_use)
                self.assertEqual((heaps["GPU_0_bfc"]["device"], heaps["GPU_0_bfc"]["kind"]), (0, "device"))
                self.assertEqual((heaps["gpu_host_bfc"]["device"], heaps["gpu_host_bfc"]["kind"]), (None, "host_pinned"))
                self.assertEqual(heaps["GPU 0 memory"]["outside_pools_bytes"], heaps["GPU 0 memory"]["in_use_bytes"] - 64 * MIB)
                events = self.report("job.hbm")["events"]
                self.assertEqual(events["alloc"], sum(allocations for _, allocations in said.values()) + 2)

    def test_the_pool_counts_not_the_drivers_block(self):
        job = self.start("xla", f"{PLUGINS}/older/xla_cuda_plugin.so", "100", "1", command=self.recorded())
        said = self.ask(job)
        self.end(job)
        self.assertEqual(self.report("job.hbm")["by_device"][0]["bytes"], said["GPU_0_bfc"][0])

    def test_a_refused_request_is_out_of_memory_though_no_driver_call_failed(self):
        command = [HBMSCOPE, "run", "--no-window", "--flight", "flights", "--record", "job.hbm", "--"]
        job = self.start("xla", f"{PLUGINS}/older/xla_cuda_plugin.so", "100", "1", command=command)
        self.ask(job, "fail")
        self.end(job)
        (failure,) = self.report("job.hbm")["failures"]
        self.assertEqual((failure["asked_bytes"], failure["reason"]), (1 << 50, "RESOURCE_EXHAUSTED"))
        self.assertEqual((failure["limit_bytes"], failure["pool_bytes"], failure["rounded_bytes"]), (64 * MIB, 64 * MIB, 1 << 50))
        (flight,) = pathlib.Path(self.folder, "flights").iterdir()
        self.assertIn("it requested 1.00 PiB of GPU_0_bfc (RESOURCE_EXHAUSTED)", (flight / "what_happened.txt").read_text())

    def facts(self, recording):
        report = self.report(recording)
        facts = {fact["key"]: fact["values"] for fact in report["job"] if "variable." in fact["key"]}
        return facts, [warning["text"] for warning in report["job_warnings"]]

    def test_variables_that_the_program_sets_itself_are_those_that_count(self):
        plugin = f"{PLUGINS}/older/xla_cuda_plugin.so"
        job = self.start("xla", plugin, "10", "1", command=self.recorded(), environment={"POOL_JOB_SET": "XLA_PYTHON_CLIENT_MEM_FRACTION=.97", "SECRET": "XLA_FLAGS=x"})
        self.ask(job)
        self.end(job)
        facts, warnings = self.facts("job.hbm")
        self.assertEqual(facts, {"variable.XLA_PYTHON_CLIENT_MEM_FRACTION": [".97"]})
        (warning,) = warnings
        self.assertIn("XLA_PYTHON_CLIENT_MEM_FRACTION=.97 leaves 3 % of the device", warning)
        self.assertIn(f"Warning: {warning}", subprocess.run([HBMSCOPE, "report", "job.hbm"], cwd=self.folder, capture_output=True, text=True).stdout)

    def test_a_variable_that_is_set_between_jaxs_first_use_of_a_device_and_its_first_array_is_too_late(self):
        job = self.start("xla", f"{PLUGINS}/older/xla_cuda_plugin.so", "10", "1", command=self.recorded(), environment={"POOL_JOB_SET_LATE": "XLA_CLIENT_MEM_FRACTION=.5"})
        self.ask(job)
        self.end(job)
        self.assertEqual(self.facts("job.hbm")[0], {"late_variable.XLA_CLIENT_MEM_FRACTION": [".5"]})

    @unittest.skipUnless(MAY_ATTACH, WHY_NOT)
    def test_variables_after_an_attach(self):
        job = self.start("xla", f"{PLUGINS}/older/xla_cuda_plugin.so", "10", "1", environment={"POOL_JOB_SET": "XLA_CLIENT_MEM_FRACTION=.5"})
        self.ask(job)
        for value in (".6", ".7"):
            observer = self.attach(job, "job.hbm")
            self.ask(job, f"set XLA_CLIENT_MEM_FRACTION={value}")
            time.sleep(1.5)  # The library looks twice a second.
            self.detach(observer)
            self.assertEqual(self.facts("job.hbm")[0], {"variable.XLA_CLIENT_MEM_FRACTION": [".5"], "late_variable.XLA_CLIENT_MEM_FRACTION": [value]})
        self.end(job)

    def test_variables_that_are_set_after_the_pool_was_made_are_said_to_be_too_late(self):
        for words, variable, reason in (
            (("xla", f"{PLUGINS}/older/xla_cuda_plugin.so", "10", "2"), "XLA_PYTHON_CLIENT_PREALLOCATE", "after JAX had read it"),
            (("torch", f"{PLUGINS}/libc10_cuda.so", "10", "2"), "PYTORCH_ALLOC_CONF", "after PyTorch had made its pool"),
        ):
            for how in ("fail", "end"):
                with self.subTest(f"{variable} {how}"):
                    job = self.start(*words, command=self.recorded(), environment={variable: "as before"})
                    self.ask(job)
                    self.ask(job, f"set {variable}=changed")
                    if how == "fail":
                        self.ask(job, "fail")
                        for child in children(job.pid):
                            os.kill(child, signal.SIGKILL)  # So it reports nothing at its end.
                        job.stdin.close()
                        job.wait(timeout=60)
                    else:
                        self.end(job)
                    facts, warnings = self.facts("job.hbm")
                    self.assertEqual(facts, {f"variable.{variable}": ["as before"], f"late_variable.{variable}": ["changed"]})
                    (warning,) = warnings
                    self.assertTrue(warning.startswith(f"{variable}=changed was set {reason} and has no effect in this process: as before counts. "), warning)

    def test_ps_says_what_can_be_seen(self):
        for environment, visible in (
            ({}, "pool of JAX (XLA's BFC), arrays by PJRT; driver calls by CUPTI if it is free"),
            ({"XLA_PYTHON_CLIENT_ALLOCATOR": "vmm"}, "JAX without its own pool (XLA_PYTHON_CLIENT_ALLOCATOR=vmm): only driver calls, by CUPTI if it is free"),
        ):
            with self.subTest(visible):
                job = self.start("xla", f"{PLUGINS}/older/xla_cuda_plugin.so", "10", "1", environment=environment)
                self.ask(job)
                listed, text = (subprocess.run([HBMSCOPE, "ps", *words], capture_output=True, text=True, check=True).stdout for words in (["--json"], []))
                self.end(job)
                (mine,) = [one for one in json.loads(listed)["jobs"] if one["pid"] == job.pid]
                self.assertEqual(mine["visible"], visible)
                self.assertEqual([pool["framework"] for pool in mine["pools"]], ["JAX"])
                self.assertIn(f"visible: {visible}", text)

    def test_a_library_without_symbols_is_left_alone(self):
        job = self.start("xla", f"{PLUGINS}/stripped/xla_cuda_plugin.so", "100", "1", command=self.recorded())
        self.ask(job)
        self.end(job)
        self.assertEqual(set(self.heaps("job.hbm")), {"GPU 0 memory", "pinned host memory"})

    def test_torchs_pool_is_recorded_and_its_profiler_misses_nothing(self):
        job = self.start("torch", f"{PLUGINS}/libc10_cuda.so", "2000", "4", command=self.recorded("--stacks", "none"))
        for _ in range(3):
            said = self.ask(job, "fail")
        self.end(job)
        heap = self.heaps("job.hbm")["GPU 0 PyTorch pool"]
        in_use, blocks = said["pool"]
        self.assertEqual((heap["in_use_bytes"], heap["live_blocks"]), (in_use, blocks))
        report = self.report("job.hbm")
        events = report["events"]
        # Each allocation and free was also reported to PyTorch's own function, and so were the three failures.
        bare = self.start("torch", f"{PLUGINS}/libc10_cuda.so", "2000", "1")
        bare.stdin.write("go\n")
        bare.stdin.close()
        self.assertIn("reports", bare.stdout.read())
        bare.wait()
        self.assertEqual(events["oom"], 3)

    def arrays(self, recording):
        """[tag, array] of each block that is there at the end."""
        blocks = json.loads(
            subprocess.run([HBMSCOPE, "report", "--json", "--blocks", "0", recording], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        )["blocks"]["rows"]
        return sorted([block["tag"] or "", block["array"] or ""] for block in blocks if block["heap"] == "GPU_0_bfc")

    def test_pjrt_says_what_a_block_is(self):
        job = self.start("pjrt", f"{PLUGINS}/older/xla_cuda_plugin.so", command=self.recorded())
        for _ in range(2):
            self.ask(job)
        self.end(job)
        self.assertEqual(self.arrays("job.hbm"), 2 * [["", "s32[1024] from the host"]] + 2 * [["jit_step", "f32[8,128] output 0 of jit_step"]])
        done = subprocess.run([HBMSCOPE, "export", "job.hbm", "--to", "csv", "--what", "events"], cwd=self.folder, capture_output=True, text=True)
        temporaries = [row for row in csv.DictReader(done.stdout.splitlines()) if row["size_bytes"] == "100096" and row["kind"] == "alloc"]
        self.assertEqual([row["text"] for row in temporaries], ["jit_step"] * 2)

    def attach(self, job, recording):
        """Returns when it has attached."""
        observer = subprocess.Popen(
            [HBMSCOPE, "attach", str(job.pid), "--no-window", "--no-flight", "--no-cupti", "--record", recording],
            cwd=self.folder, stderr=subprocess.PIPE, text=True,
        )
        for line in observer.stderr:
            if "attached to" in line:
                break
        return observer

    def detach(self, observer):
        observer.send_signal(signal.SIGINT)
        observer.communicate(timeout=30)

    def words_of(self, job, path):
        """A digest of the library's tables of functions, as they are in the job."""
        digest = hashlib.sha256()
        with open(f"/proc/{job.pid}/mem", "rb") as memory:
            for line in pathlib.Path(f"/proc/{job.pid}/maps").read_text().splitlines():
                if os.path.realpath(path) in line and " r--p " in line:
                    begin, end = (int(word, 16) for word in line.split()[0].split("-"))
                    memory.seek(begin)
                    digest.update(memory.read(end - begin))
        return digest.hexdigest()

    @unittest.skipUnless(MAY_ATTACH, WHY_NOT)
    def test_attach_and_detach_leave_no_trace(self):
        for words, heap in (
            (("xla", f"{PLUGINS}/newer/xla_cuda_plugin.so", "500", "3"), "GPU_0_bfc"),
            (("torch", f"{PLUGINS}/libc10_cuda.so", "500", "3"), "GPU 0 PyTorch pool"),
        ):
            with self.subTest(heap):
                job = self.start(*words, environment={"LD_BIND_NOW": "1"})
                name = "pool" if words[0] == "torch" else heap
                self.ask(job)
                before = self.words_of(job, words[1])
                for i in range(5):
                    observer = self.attach(job, f"{i}.hbm")
                    self.assertNotEqual(self.words_of(job, words[1]), before, "nothing was patched")
                    for _ in range(3):
                        said = self.ask(job)
                    self.detach(observer)
                    self.assertEqual(self.words_of(job, words[1]), before)
                    found = self.heaps(f"{i}.hbm")[heap]
                    self.assertEqual(found["in_use_bytes"], said[name][0])
                self.end(job)

    @unittest.skipUnless(MAY_ATTACH, WHY_NOT)
    def test_pjrt_is_seen_after_an_attach_and_left_alone_again(self):
        job = self.start("pjrt", f"{PLUGINS}/older/xla_cuda_plugin.so")
        self.ask(job)
        for i in range(3):
            observer = self.attach(job, f"{i}.hbm")
            self.ask(job)
            self.detach(observer)
            self.ask(job)
            self.assertEqual(
                [pair for pair in self.arrays(f"{i}.hbm") if pair[0] != "not identified"],
                [["", "s32[1024] from the host"], ["jit_step", "f32[8,128] output 0 of jit_step"]],
            )
        self.end(job)

    @unittest.skipUnless(MAY_ATTACH, WHY_NOT)
    def test_what_was_there_before_is_not_identified_until_it_is_freed(self):
        job = self.start("xla", f"{PLUGINS}/older/xla_cuda_plugin.so", "5", "1")
        for _ in range(5):
            before = self.ask(job)["GPU_0_bfc"][0]
        observer = self.attach(job, "job.hbm")
        while self.ask(job)["GPU_0_bfc"][1] < 3000:
            pass
        self.detach(observer)
        self.end(job)
        done = subprocess.run([HBMSCOPE, "export", "job.hbm", "--to", "csv", "--what", "events"], cwd=self.folder, capture_output=True, text=True)
        left = [
            int(row["size_bytes"])
            for row in csv.DictReader(done.stdout.splitlines())
            if (row["kind"], row["heap"], row["text"]) == ("alloc", "GPU_0_bfc", "not identified")
        ]
        self.assertEqual(left[0], before)
        self.assertEqual(left, sorted(left, reverse=True))
        self.assertLess(left[-1], before)


if __name__ == "__main__":
    unittest.main()
