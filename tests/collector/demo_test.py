#!/usr/bin/env python3
"""hbmscope demo and watch: each workload shows what it is there to show, and can be held and stepped.

    demo_test.py HBMSCOPE
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

from own_folder import OwnFolderTest

HBMSCOPE = sys.argv[1]
GIB = 1 << 30
WORKLOADS = ["training", "checkpointing", "growing", "inference", "two-models", "leak", "fragments"]


class Demo(OwnFolderTest):
    def run_it(self, *words):
        return subprocess.run([HBMSCOPE, *words], capture_output=True, text=True, env=self.environment, stdin=subprocess.DEVNULL, timeout=120)

    def demo(self, workload, *words):
        done = self.run_it("demo", "--json", "--workload", workload, "--speed", "250", "--for", "3", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_every_workload_is_listed_and_runs(self):
        listed = self.run_it("demo", "--list").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in listed], WORKLOADS)
        for workload in WORKLOADS:
            found = self.demo(workload)
            heap = found["heaps"][0]
            self.assertEqual(heap["name"], "GPU_0_bfc")
            self.assertEqual(heap["pool_bytes"], 18 * GIB, workload)  # Three quarters of 24 GiB.
            self.assertGreater(found["events"]["alloc"], 50, workload)
            self.assertEqual(found["events"]["lost"], 0, workload)
            fails = workload in ("growing", "inference", "leak", "fragments")
            self.assertEqual(found["events"]["oom"] > 0, fails, workload)
        self.assertEqual(os.listdir(self.folder / "hbmscope"), [])  # Nothing is left behind.

    def test_three_gib_fail_with_twelve_free(self):
        failure = self.demo("fragments")["failures"][0]
        self.assertEqual(failure["asked_bytes"], 3 * GIB)
        self.assertAlmostEqual(failure["total_free_bytes"] / GIB, 12, places=2)
        self.assertEqual(failure["largest_free_bytes"], 3 * GIB // 2)
        self.assertEqual(failure["available_bytes"], 6 * GIB)

    def explained(self, *words):
        """What `explain` says of a recording of it, as text and as JSON."""
        file = self.folder / "demo.hbm"
        self.assertEqual(self.run_it("demo", "--headless", "--speed", "250", "--for", "2", "--record", str(file), *words).returncode, 0)
        text, found = self.run_it("explain", str(file)), self.run_it("explain", "--json", str(file))
        self.assertEqual((text.returncode, found.returncode), (0, 0), text.stderr)
        return text.stdout, json.loads(found.stdout)

    def test_a_leak_is_the_cause_whatever_kept_the_last_request_out(self):
        for words, immediate in (((), "pool_limit"), (("--allocator", "pytorch"), "fragmentation")):
            text, found = self.explained("--workload", "leak", *words)
            sentence = "Leak: 192 MiB more each step, made at metrics.py:17."
            self.assertEqual(text.splitlines()[1].startswith(sentence), True, text)
            for failure in found["failures"][:2]:
                self.assertEqual((failure["verdict"], failure["immediate_verdict"]), ("leak", immediate))
                self.assertTrue(failure["sentence"].startswith(sentence), failure["sentence"])
                self.assertEqual((failure["growth"]["made_at"], failure["growth"]["is_steady"]), ("metrics.py:17", True))
                self.assertIn("keep metrics.py:17", failure["advice"][0]["change"])
                for advice in failure["advice"]:
                    if advice["room_bytes"] is not None:
                        self.assertEqual(advice["steps_at_most"], advice["room_bytes"] // (192 << 20) + 1, advice)
            reported = json.loads(self.run_it("report", "--json", str(self.folder / "demo.hbm")).stdout)["failures"]
            self.assertEqual({failure["verdict"] for failure in reported[:2]}, {"leak"})
            self.assertIn("growth", reported[0])
            self.assertEqual(self.run_it("explain", str(self.folder / "demo.hbm"), "--fail-if", "verdict:leak").returncode, 1)

    def test_what_grows_is_named_before_it_fails(self):
        text, found = self.explained("--workload", "leak", "--device-bytes", "8TiB")
        self.assertRegex(text, r"^Memory grows: 192 MiB more each step, made at metrics\.py:17\. At most [\d,]+ more steps fit in the pool's 6\.00 TiB, unless it grows\.\nNo request failed in this file\.\n")
        outlook = found["outlook"]
        self.assertEqual((outlook["growth"]["made_at"], outlook["growth"]["bytes_per_step"], outlook["limit_bytes"]), ("metrics.py:17", 192 << 20, 6 << 40))
        self.assertGreater(outlook["steps_at_most"], 0)
        text, found = self.explained("--workload", "checkpointing")
        self.assertNotIn("grows", text)
        self.assertEqual((found["failed"], found["outlook"]), (0, None))

    def test_half_of_the_device_is_enough_with_checkpoints_only(self):
        self.assertGreater(self.demo("training", "--set", "XLA_CLIENT_MEM_FRACTION=.5")["events"]["oom"], 0)
        found = self.demo("checkpointing", "--set", "XLA_CLIENT_MEM_FRACTION=.5")
        self.assertEqual(found["events"]["oom"], 0)
        self.assertEqual(found["heaps"][0]["pool_bytes"], 12 * GIB)

    def test_without_preallocation_the_pool_grows(self):
        found = self.demo("checkpointing", "--set", "XLA_PYTHON_CLIENT_PREALLOCATE=false")
        self.assertLess(found["heaps"][0]["pool_bytes"], 18 * GIB)

    def test_any_allocator_serves_it(self):
        for words, name in ((("--set", "XLA_PYTHON_CLIENT_ALLOCATOR=platform"), "GPU_0_platform"),
                            (("--set", "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"), "GPU_0_cuda_async"),
                            (("--allocator", "pytorch"), "GPU_0_pytorch"), (("--allocator", "naive"), "GPU_0_naive")):
            found = self.demo("checkpointing", *words)
            self.assertEqual(found["heaps"][0]["name"], name)
            self.assertGreater(found["events"]["alloc"], 50)
            self.assertEqual(found["events"]["oom"], 0)

    def test_two_configurations_are_compared_at_the_same_request(self):
        found = self.demo("fragments", "--beside", "XLA_PYTHON_CLIENT_ALLOCATOR=platform")
        heaps = found["heaps"]
        self.assertEqual((heaps["baseline"], heaps["now"]), ("GPU_0_bfc", "GPU_0_platform"))
        figures = {one["name"]: one for one in heaps["figures"]}
        self.assertGreater(figures["failures"]["baseline"], 0)
        self.assertEqual(figures["failures"]["now"], 0)
        self.assertEqual(figures["pool size"]["baseline"], 18 * GIB)
        self.assertTrue(any(one.startswith("B served every request") for one in heaps["sentences"]), heaps["sentences"])
        changed = {one["key"]: one for one in found["settings"]}
        self.assertIn("XLA_PYTHON_CLIENT_ALLOCATOR=platform", changed["command"]["now"])
        self.assertNotIn("XLA_PYTHON_CLIENT_ALLOCATOR", changed["command"]["baseline"])
        self.assertEqual(os.listdir(self.folder / "hbmscope"), [])

    def test_both_recordings_are_kept_where_one_is_named(self):
        done = self.run_it("demo", "--headless", "--workload", "training", "--speed", "50", "--for", "1", "--beside",
                           "XLA_CLIENT_MEM_FRACTION=.5", "--record", str(self.folder / "runs.hbm"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"hbmscope open {self.folder}/runs.hbm --compare-with {self.folder}/runs-b.hbm --lock requests", done.stdout)
        self.assertIn("Reserved by the pool: A 18.0 GiB, B 12.0 GiB (6.00 GiB less in B).", done.stdout)
        for name in ("runs.hbm", "runs-b.hbm"):
            checked = self.run_it("check", str(self.folder / name))
            self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_what_it_can_not_do_is_said(self):
        done = self.run_it("demo", "--headless", "--beside", "NO_SUCH_SETTING=1", "--for", "1")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("NO_SUCH_SETTING", done.stderr)
        for words, said in ((("--workload", "tetris"), "there is no workload 'tetris'"),
                            (("--device-bytes", "much"), "'much' is not a device size"),
                            (("--set", "XLA_CLIENT_MEM_FRACTION"), "is not a setting"),
                            (("--version", "spatial_v9"), "there is no version 'spatial_v9'")):
            done = self.run_it("demo", "--headless", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)

    def test_it_can_be_held_stepped_and_watched(self):
        demo = subprocess.Popen([HBMSCOPE, "demo", "--headless", "--for", "0", "--speed", "20"], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, env=self.environment)
        self.addCleanup(demo.wait)
        self.addCleanup(demo.kill)
        self.addCleanup(demo.stdin.close)
        while not (self.folder / "hbmscope" / f"view-{demo.pid}").exists():
            time.sleep(0.01)
        watch = subprocess.Popen([HBMSCOPE, "watch", str(demo.pid), "--json", "--every", "0.05"], stdout=subprocess.PIPE,
                                 text=True, env=self.environment)
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        said = {"allocations": 0, "lines": 0}

        def listen():
            for line in watch.stdout:
                said["allocations"] = json.loads(line)["events"]["alloc"]
                said["lines"] += 1

        listening = threading.Thread(target=listen)
        listening.start()
        self.addCleanup(listening.join)

        def report(line):
            demo.stdin.write(line + "\n")
            demo.stdin.flush()

        def wait_until(is_so):
            deadline = time.monotonic() + 30
            while not is_so():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)

        def allocations_at_rest():
            before = -1
            while before != said["allocations"]:
                before, seen = said["allocations"], said["lines"]
                wait_until(lambda: said["lines"] > seen + 5)
            return before

        wait_until(lambda: said["allocations"] > 100)
        report("pause")
        held = allocations_at_rest()
        for _ in range(3):
            report("step")
        wait_until(lambda: said["allocations"] == held + 3)
        self.assertEqual(allocations_at_rest(), held + 3)
        report("go")
        wait_until(lambda: said["allocations"] > held + 100)
        demo.send_signal(signal.SIGTERM)
        self.assertEqual(watch.wait(timeout=30), 0)

    def test_nobody_to_watch(self):
        done = self.run_it("watch", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("none of your hbmscope processes observes process 1", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
