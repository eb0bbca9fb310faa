#!/usr/bin/env python3
"""hbmscope run --listen: viewers by TCP with the token, strangers without, and a job that is harmed by none of them.

    tcp_test.py HBMSCOPE ANNOTATED_PROGRAM
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import unittest

from own_folder import OwnFolderTest

HBMSCOPE, PROGRAM = sys.argv[1:3]


class Tcp(OwnFolderTest):
    def setUp(self):
        super().setUp()
        for unset in ("HBMSCOPE_TOKEN", "HBMSCOPE_TOKEN_FILE"):
            self.environment.pop(unset, None)

    def start(self, *options, job=("--forever", "--pace", "20")):
        process = subprocess.Popen([HBMSCOPE, "run", "--record", self.recording, "--listen", "0", *options, "--", PROGRAM, *job], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.environment)
        for end in (process.stdout, process.stderr):
            self.addCleanup(end.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        said = re.search(r"connect to 127\.0\.0\.1:(\d+) over TCP: (HBMSCOPE_TOKEN\w*)=(\S+) ", process.stderr.readline())
        self.assertIsNotNone(said)
        return process, int(said[1]), {said[2]: said[3]}

    def watch(self, port, token):
        return subprocess.run([HBMSCOPE, "watch", f"tcp:127.0.0.1:{port}", "--json", "--every", "0.1", "--for", "0.5"], capture_output=True, text=True,
                              env=dict(self.environment, **token), timeout=60)

    def test_strangers_get_nothing_and_the_job_goes_on(self):
        process, port, token = self.start()
        self.assertEqual(list(token), ["HBMSCOPE_TOKEN"])
        for i in range(1000):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as stranger:
                if i % 2 == 0:
                    stranger.sendall(os.urandom(1 + i % 100))
        done = self.watch(port, token)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([heap["name"] for heap in json.loads(done.stdout.splitlines()[-1])["heaps"]], ["pool 0"])
        for wrong in ({}, {"HBMSCOPE_TOKEN": "0" * 64}, {"HBMSCOPE_TOKEN": "secret"}):
            done = self.watch(port, wrong)
            self.assertEqual((done.returncode, list(json.loads(done.stdout))), (3, ["schema", "error"]))
            self.assertIn("token", done.stderr)
        process.stdout.readline()
        self.assertIsNone(process.poll())
        process.terminate()
        err = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        found = json.loads(subprocess.run([HBMSCOPE, "report", self.recording, "--json"], capture_output=True, text=True, check=True).stdout)
        self.assertGreater(found["events"]["total"], 1000)
        self.assertEqual(found["events"]["lost"], 0)
        self.assertLessEqual(err.count("rejected"), 100)
        self.assertIn("its token is missing or wrong", err)

    def test_the_token_may_be_a_file(self):
        path = str(self.folder / "token")
        process, port, token = self.start("--token-file", path)
        self.assertEqual(token, {"HBMSCOPE_TOKEN_FILE": path})
        self.assertEqual(self.watch(port, token).returncode, 0)
        os.chmod(path, 0o644)
        self.assertIn("chmod 600", self.watch(port, token).stderr)

    def test_the_file_of_the_token_is_named_so_that_it_is_found_from_anywhere(self):
        path = os.path.relpath(self.folder / "token")
        token = self.start("--token-file", path)[2]
        self.assertEqual(list(token), ["HBMSCOPE_TOKEN_FILE"])
        self.assertTrue(os.path.isabs(token["HBMSCOPE_TOKEN_FILE"]))
        self.assertTrue(os.path.samefile(token["HBMSCOPE_TOKEN_FILE"], path))

    def test_what_can_not_be_listened_at_is_said(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            where = f"127.0.0.1:{taken.getsockname()[1]}"
            for address, code, words in ((where, 2, f"{where} can't be used to listen"), ("gpu7:9000", 2, "is not a port or a numeric address and port"),
                                         ("192.0.2.1:9000", 2, "192.0.2.1:9000 can't be used to listen")):
                done = subprocess.run([HBMSCOPE, "run", "--record", self.recording, "--listen", address, "--", PROGRAM], capture_output=True, text=True,
                                      env=self.environment, timeout=60)
                self.assertIn(words, done.stderr)
                self.assertEqual((done.returncode, done.stdout), (code, ""))
        self.assertFalse(os.path.exists(self.recording))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
