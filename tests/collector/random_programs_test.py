#!/usr/bin/env python3
"""Random programs against the emulated driver's own account, equal to the byte at every step, however they are observed.

    random_programs_test.py HBMSCOPE EMULATED_DRIVER FAKE_CUPTI RANDOM_PROGRAMS COMPARE_PROGRAMS [PROGRAMS]
"""

import os
import random
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

from attaching import AttachTest

HBMSCOPE, FAKES, FAKE_CUPTI, JOB, COMPARE = sys.argv[1:6]
PROGRAMS = sys.argv[6] if len(sys.argv) > 6 else "400"
VERSIONS = {"12": "12090", "13.0": "13000", "13.3": "13030"}
ATTACHES = 5


class RandomPrograms(AttachTest):
    def setUp(self):
        super().setUp()
        self.truth = f"{self.recording}.truth"
        self.seed = str(random.randrange(1 << 40))

    def with_driver(self, version):
        return dict(self.environment, LD_LIBRARY_PATH=f"{FAKES}/bound:{FAKE_CUPTI}/{version}", HBMSCOPE_DEVICE_CUDA=VERSIONS[version])

    def compare(self, *options):
        done = subprocess.run([COMPARE, self.recording, self.truth, *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"programs from seed {self.seed}: {done.stderr}")
        print(f"seed {self.seed}: {done.stdout.strip()}, all equal", file=sys.stderr)
        return int(re.match(r"(\d+) programs", done.stdout)[1])

    def run_and_compare(self, back_end, version):
        done = subprocess.run([HBMSCOPE, "run", "--no-window", "--no-flight", "--backend", back_end, "--record", self.recording, "--", JOB, self.truth, self.seed, PROGRAMS],
                              capture_output=True, text=True, timeout=600, env=self.with_driver(version))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("with CUPTI" if back_end == "cupti" else "by interposition", done.stderr)
        self.assertEqual(self.compare("whole"), int(PROGRAMS))

    def test_interposition(self):
        self.run_and_compare("interpose", "12")

    def test_a_difference_of_one_byte_is_found(self):
        self.run_and_compare("interpose", "12")
        truth = bytearray(Path(self.truth).read_bytes())
        bytes_of_step = 64
        self.assertEqual(len(truth) % bytes_of_step, 0)
        truth[len(truth) // bytes_of_step // 2 * bytes_of_step + 16] ^= 1  # In use on the first device.
        Path(self.truth).write_bytes(truth)
        done = subprocess.run([COMPARE, self.recording, self.truth, "whole"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^program \d+, step \d+: hbmscope has ")

    def test_cupti_of_all_versions(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                self.run_and_compare("cupti", version)

    def test_an_attach_at_any_moment(self):
        compared = 0
        for number in range(ATTACHES):
            version = random.choice(list(VERSIONS))
            job = subprocess.Popen([JOB, self.truth, self.seed, "1000000", "200"], stdout=subprocess.DEVNULL, env=self.with_driver(version))
            try:
                time.sleep(0.05 + random.random() / 2)
                for _ in range(3):
                    done = subprocess.run([HBMSCOPE, "attach", str(job.pid), "--no-window", "--no-flight", "--for", "0.7", "--record", self.recording], capture_output=True, text=True, timeout=60)
                    # Each program reserves terabytes of addresses; if that happens at the moment of an attach, it fails.
                    if "did not start, or got no memory. Try again." not in done.stderr:
                        break
                self.assertEqual(done.returncode, 0, done.stderr)
                time.sleep(0.05)
                self.assertIsNone(job.poll())
            finally:
                job.kill()
                job.wait()
            compared += self.compare()
            self.seed = str(int(self.seed) + number + 1)
        self.assertGreater(compared, 10 * ATTACHES)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
