#!/usr/bin/env python3
"""Jobs in sandboxes (seccomp): what they do and how they end is the same with and without hbmscope, whatever the sandbox
forbids, whenever it is set up; and hbmscope says what it does not observe.

    sandbox_test.py HBMSCOPE FAKE_FOLDER SANDBOXED_JOB
"""

import json
import platform
import subprocess
import sys
import unittest

from own_folder import OwnFolderTest

HBMSCOPE, FAKES, JOB = sys.argv[1:4]

# Calls that observing takes or once took, none of which the job makes itself after it is in the sandbox; their numbers
# on x86-64 and on ARM64.
CALLS = {
    "memfd_create": (319, 279), "process_vm_readv": (310, 270), "membarrier": (324, 283), "socket": (41, 198), "connect": (42, 203), "sendmsg": (46, 211),
    "recvmsg": (47, 212), "getsockopt": (55, 209), "setsockopt": (54, 208), "fcntl": (72, 25), "ftruncate": (77, 46), "readlink": (89, 78), "gettid": (186, 178),
    "kill": (62, 129), "tgkill": (234, 131), "getcwd": (79, 17), "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137), "prctl": (157, 167),
    "nanosleep": (35, 101), "getpid": (39, 172), "poll": (7, 73), "getrlimit": (97, 163), "pipe2": (293, 59),
}
FILE_CALLS = {"openat": (257, 56), "open": (2, 1024), "read": (0, 63), "pread64": (17, 67)}
COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine())


@unittest.skipIf(COLUMN is None, "system calls are noticed on x86-64 and ARM64 only")
class Sandbox(OwnFolderTest):
    def run_both(self, when, action, calls):
        words = [JOB, when, action, *(str((CALLS | FILE_CALLS)[call][COLUMN]) for call in calls)]
        variables = dict(self.environment, LD_LIBRARY_PATH=f"{FAKES}/bound")
        alone = subprocess.run(words, capture_output=True, text=True, timeout=60, env=variables)
        observed = subprocess.run([HBMSCOPE, "run", "--no-window", "--record", self.recording, "--", *words], capture_output=True, text=True, timeout=60, env=variables)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual((observed.returncode, observed.stdout), (0, alone.stdout), f"{when}, {action} {calls}: {observed.stderr}")
        return observed.stderr

    def test_each_forbidden_call_in_each_way_at_each_time(self):
        for when in ("before", "after", "exec"):
            for action in ("kill", "trap"):
                for call in CALLS:
                    with self.subTest(when=when, action=action, call=call):
                        self.run_both(when, action, [call])

    def test_all_of_them_at_once(self):
        for when in ("before", "after", "exec"):
            for calls in (list(CALLS), list(CALLS)[:-1]):  # By syscall() and by prctl().
                for action in ("kill", "fail"):
                    with self.subTest(when=when, action=action, calls=len(calls)):
                        self.run_both(when, action, calls)

    def test_sandbox_without_files(self):
        self.run_both("after", "kill", [*CALLS, *FILE_CALLS])

    def test_process_that_was_observed_before_goes_on_being_observed(self):
        said = self.run_both("after", "kill", list(CALLS))
        self.assertIn("set up a sandbox (seccomp)", said)
        report = subprocess.run([HBMSCOPE, "report", self.recording, "--json"], capture_output=True, text=True, check=True).stdout
        calls = 2 * (5 + 20 + 10)
        self.assertIn(f"{calls} events", " ".join(said.split()), "its own and its new thread's, not its child's")
        self.assertTrue(json.loads(report))

    def test_filters_that_hbmscope_has_itself_are_those_of_a_container(self):
        inner = [HBMSCOPE, "run", "--no-window", "--record", self.recording, "--", JOB, "none"]
        words = [JOB, "exec", "fail", str(CALLS["pipe2"][COLUMN])]
        variables = dict(self.environment, LD_LIBRARY_PATH=f"{FAKES}/bound")
        # A filter that allows everything, around hbmscope and its job.
        wrapped = f"""
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execv({inner[0]!r}, {inner!r})
"""
        done = subprocess.run([sys.executable, "-c", wrapped], capture_output=True, text=True, timeout=60, env=variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("seccomp", done.stderr)
        self.assertIn("66 events of 2 processes", done.stderr, words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
