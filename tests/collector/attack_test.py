#!/usr/bin/env python3
"""Jobs of every kind that the world has (attack_job.c), started and limited in many ways: with hbmscope they print the
same, end the same, and what they did is in the recording.

    attack_test.py HBMSCOPE FAKE_FOLDER ATTACK_JOB [-v]

One line says how many cases there were of each group; `make test-attack` runs these, those of sandboxes, and the cycles of
attaching.
"""

import collections
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

from own_folder import OwnFolderTest

HBMSCOPE, FAKES, JOB = map(os.path.abspath, sys.argv[1:4])
IS_ROOT = os.geteuid() == 0
MIB = 1 << 20
GROUPS = "/sys/fs/cgroup/memory"  # Of version 1.

# With the number that says how often, or what.
KINDS = [
    ("returns",), ("exits", 3), ("_exits", 4), ("quick_exits", 5), ("aborts",), ("faults",), ("end_in_thread",), ("end_of_main_thread",), ("end_in_handler",),
    ("end_with_calls",), ("end_by_exec",), ("threads", 1), ("threads", 30), ("threads", 300), ("threads", 1500), ("threads_detached", 100),
    ("threads_with_small_stacks", 50), ("threads_cancelled", 60), ("forks_before", 1), ("forks_before", 40), ("forks_after", 1), ("forks_after", 60),
    ("forks_and_calls_in_parent", 20), ("forks_in_thread",), ("spawns", 20), ("vforks", 30), ("daemonises",), ("clones_raw",), ("storm_of_alarms",),
    ("storm_of_alarms_restarted",), ("storm_of_profiling",), ("handler_on_own_stack", 500), ("all_blocked",), ("children_are_ignored",), ("errno_is_kept",),
    ("closes_all",), ("closes_all_and_reuses",), ("few_descriptors", 3), ("few_descriptors", 64), ("small_files", 0), ("small_files", 4096), ("no_processes", 0),
    ("little_cpu", 5), ("nothing_locked", 0), ("no_signals", 0), ("leaves_folder",), ("clears_environment",), ("changes_title",), ("lowest_priority",), ("loads_again", 300),
    ("asks_the_driver",), ("asks_for_what_there_is_not",), ("refusals", 50),
] + [(kind,) for kind in ("changes_root", "changes_user", "own_namespace") if IS_ROOT]
# Its handler, or its end, comes in the middle of a call: what is said may be one call away from what was done.
IS_CUT = {"end_in_handler", "threads_cancelled"}
SIGNALS = [one for one in range(1, 32) if one not in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH)]
STARTERS = {
    "sh": ["sh", "-c", '"$0" "$@"'], "a login shell": ["bash", "-lc", '"$0" "$@"'], "exec": ["sh", "-c", 'exec "$0" "$@"'], "background": ["bash", "-c", '"$0" "$@" & wait'],
    "left in the background": ["bash", "-c", '"$0" "$@" & disown 2>/dev/null; true'], "nohup": ["nohup"], "setsid": ["setsid", "--wait"], "timeout": ["timeout", "60"], "nice": ["nice", "-n", "5"],
    "stdbuf": ["stdbuf", "-o0"], "env": ["env", "A=b"], "taskset": ["taskset", "-c", "0"], "chrt": ["chrt", "-b", "0"], "ionice": ["ionice", "-c3"],
    "xargs": ["sh", "-c", 'printf "%s\\n" "$@" | xargs "$0"'], "a pipe": ["bash", "-c", '"$0" "$@" | cat'],
    "a subshell": ["bash", "-c", '( "$0" "$@" )'], "twice": ["bash", "-c", '"$0" "$@"; "$0" "$@"'], "four at once": ["bash", "-c", 'for i in 1 2 3 4; do "$0" "$@" & done; wait'],
    "python": [sys.executable, "-c", "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"],
    "multiprocessing": [sys.executable, "-c", "import multiprocessing, subprocess, sys\nif __name__ == '__main__':\n with multiprocessing.get_context('fork').Pool(2) as pool: sys.exit(sum(pool.map(subprocess.call, [sys.argv[1:]] * 2)))"],
    "no input": ["bash", "-c", '"$0" "$@" <&-'], "prlimit": ["prlimit", "--nofile=256"], "unshare": ["unshare", "--fork"], "a user namespace": ["unshare", "-r"],
}
LIMITS = [(resource.RLIMIT_NOFILE, n) for n in (8, 16, 64)] + [(resource.RLIMIT_AS, n * MIB) for n in (64, 256, 1024, 4096)] + [
    (resource.RLIMIT_FSIZE, MIB), (resource.RLIMIT_STACK, MIB // 4), (resource.RLIMIT_STACK, resource.RLIM_INFINITY), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, 64 * MIB),
    (resource.RLIMIT_MEMLOCK, 0), (resource.RLIMIT_MSGQUEUE, 0), (resource.RLIMIT_SIGPENDING, 0), (resource.RLIMIT_RTPRIO, 0)]
ENVIRONMENTS = [
    {f"FILLER_{i}": "x" * 100 for i in range(5000)}, {"LONG": "x" * 100_000}, {"LD_BIND_NOW": "1"}, {"LD_PRELOAD": "libm.so.6"}, {"MALLOC_PERTURB_": "165"}, {"MALLOC_ARENA_MAX": "1"},
    {"GLIBC_TUNABLES": "glibc.malloc.check=1"}, {"LC_ALL": "tr_TR.UTF-8"}, {"TZ": "Asia/Kathmandu"}, {"HOME": "/nowhere"}, {"TMPDIR": "/nowhere"}, {"PATH": "/usr/bin:/bin"},
    {"LD_DEBUG_OUTPUT": "/nowhere/x"}, {"PYTHONPATH": "/nowhere"}, {"CUDA_VISIBLE_DEVICES": "0"}, {"LD_AUDIT": ""}, {"SHELL": ""}, {"COLUMNS": "0"}]
RECORDINGS = ["/dev/full", "/dev/null", "/nowhere/x.hbm", "x" * 300 + ".hbm", "/proc/x.hbm", ".", "/proc/self/mem", "a\nb.hbm"]
counts = collections.Counter()


def said_by_job(text):
    """Without what hbmscope says. Processes that print at once do so in any order."""
    return sorted(line for line in text.splitlines() if line and not line.startswith("hbmscope: "))


class Attack(OwnFolderTest):
    def setUp(self):
        super().setUp()
        self.variables = dict(self.environment, LD_LIBRARY_PATH=f"{FAKES}/bound")
        self.variables.pop("LC_ALL", None)

    def start(self, words, variables, limits):
        def limit():
            for which, most in limits:
                hard = resource.getrlimit(which)[1]
                if hard != resource.RLIM_INFINITY:  # Only some may raise it.
                    most = hard if most == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(which, (most, most))
            os.umask(0o077)

        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=120, env=variables, cwd=self.folder, preexec_fn=limit)
        code = done.returncode if done.returncode >= 0 else 128 - done.returncode  # As a shell and hbmscope run say it.
        return code, said_by_job(done.stdout), said_by_job(done.stderr), done.stderr

    def check(self, group, words, starter=(), options=(), limits=(), is_counted=True, recording=None, around=(), **more):
        """Runs it both ways. Limits are those of the job: hbmscope itself gets them, too, and starts it all the same."""
        counts[group.split(":")[0]] += 1
        words = [*starter, JOB, *map(str, words)]
        with self.subTest(group=group, words=words, options=options, limits=limits):
            variables = dict(self.variables, **more)
            alone = self.start([*around, *words], variables, limits)
            if "left in the background" in group:
                time.sleep(0.3)
            observed = self.start([*around, HBMSCOPE, "run", "--no-window", "--no-flight", *options, "--record", recording or self.recording, "--", *words], variables, limits)
            self.assertEqual(observed[:3], alone[:3], observed[3])
            if is_counted:
                self.assert_counted(observed)

    def assert_counted(self, observed):
        said = sum(int(count) for line in observed[1] for count in re.findall(r"^calls (\d+)$", line))
        if "may open no more files" in observed[3]:
            return  # hbmscope has the job's limits here: it says which process it couldn't take.
        if not os.path.exists(self.recording) or os.path.getsize(self.recording) == 0:
            return self.assertRegex(observed[3], "not observed|nothing was recorded|runs without being observed", "it says why there is no recording")
        done = subprocess.run([HBMSCOPE, "report", self.recording, "--at", "end", "--json"], capture_output=True, text=True)
        events = json.loads(done.stdout)["events"]
        os.unlink(self.recording)
        self.assertGreaterEqual(events["alloc"] + events["free"] + events["lost"], said, observed[3])
        if events["lost"] == 0 and "not observed" not in observed[3]:
            self.assertEqual(events["alloc"] + events["free"], said, observed[3])

    def test_kinds(self):
        for options in ((), ("--stacks", "none"), ("--stacks", "native", "--stack-depth", "3")):
            for words in KINDS:
                self.check("kinds", words, options=options, is_counted=words[0] not in IS_CUT)

    def test_endings(self):
        for one in SIGNALS:
            self.check("signals", ("ends_by_signal", one))
        for code in (0, 1, 2, 3, 77, 126, 127, 128, 130, 137, 255):
            self.check("exit codes", ("exits", code))

    def test_starters(self):
        for name, starter in STARTERS.items():
            if subprocess.run([*starter, "true"], capture_output=True, stdin=subprocess.DEVNULL).returncode == 0:
                for words in (("threads", 12), ("exits", 3)):
                    self.check(f"starters: {name}", words, starter=starter)

    def test_limits(self):
        for one in LIMITS:
            for words in (("loads_again", 50), ("forks_before", 3), ("threads", 8)):
                # How many threads then still start depends on the moment, with and without hbmscope.
                if words[0] != "threads" or one[0] not in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
                    self.check("limits", words, limits=[one])

    def test_environments(self):
        for one in ENVIRONMENTS:
            self.check("environments", ("threads", 4), **one)

    @unittest.skipUnless(os.access(GROUPS, os.W_OK), f"may make no groups in {GROUPS}")
    def test_small_control_groups(self):
        """As a pod: hbmscope and the job are in one."""
        for most in (34 * MIB, 64 * MIB, 512 * MIB, 2048 * MIB):
            group = f"{GROUPS}/attack_{os.getpid()}_{most}"
            os.mkdir(group)
            try:
                with open(f"{group}/memory.limit_in_bytes", "w") as limit:
                    limit.write(str(most))
                for words in (("storm_of_alarms",), ("threads", 200)):
                    self.check("control groups", words, around=["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$0" "$@"'])
            finally:
                os.rmdir(group)

    def test_recordings_that_cannot_be(self):
        for one in RECORDINGS:
            self.check("recordings", ("threads", 4), recording=one, is_counted=False)

    def test_observer_that_is_stopped_or_killed(self):
        """At any time: the job goes on and ends as it would have."""
        for how in (signal.SIGKILL, signal.SIGSTOP):
            for step in range(30):
                counts["observer killed" if how == signal.SIGKILL else "observer stopped"] += 1
                words = [JOB, "storm_of_alarms_restarted"]
                job = subprocess.Popen([HBMSCOPE, "run", "--no-window", "--no-flight", "--record", self.recording, "--", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.variables)
                time.sleep(0.004 * step)
                job.send_signal(how)
                if how == signal.SIGSTOP:
                    time.sleep(0.3)
                    job.send_signal(signal.SIGCONT)
                said = job.communicate()[0].split()
                # Killed before it has started the job, there is none.
                self.assertTrue(said[-2:] == ["calls", "40100"] or (how == signal.SIGKILL and not said), said)


if __name__ == "__main__":
    del sys.argv[1:4]
    result = unittest.main(exit=False).result
    print(", ".join(f"{group} {count}" for group, count in counts.items()), f"= {sum(counts.values())} cases")
    sys.exit(not result.wasSuccessful())
