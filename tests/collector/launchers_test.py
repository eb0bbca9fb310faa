#!/usr/bin/env python3
"""hbmscope run on jobs whose processes are started by real launchers: Ray's actors, gunicorn's workers. Both change their titles.

    launchers_test.py HBMSCOPE EMULATED_DRIVER

sys.executable has Ray, gunicorn and setproctitle.
"""

import socket
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

from recorded_job import RecordedJobTest

DRIVER = sys.argv[2]
BLOCKS, BLOCK_BYTES = 100, 512

USES_GPU = f"""
    import ctypes as C
    def allocate():
        cuda = C.CDLL("libcuda.so.1")
        for _ in range({BLOCKS}):
            assert cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t({BLOCK_BYTES})) == 0
"""
SERVED = """
    import os, gpu
    def post_worker_init(worker): gpu.allocate()
    def application(environ, start_response):
        start_response("200 OK", [])
        return [str(os.getpid()).encode()]
"""
ACTORS = """
    import os, ray
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    @ray.remote
    class Worker:
        def work(self):
            import gpu
            gpu.allocate()
            return os.getpid()
    workers = [Worker.remote() for _ in range(2)]
    print(len(set(ray.get([worker.work.remote() for worker in workers]))))
    ray.shutdown()
"""


class LaunchersTest(RecordedJobTest):
    def libraries(self, fake):
        return f"{DRIVER}/{fake}"

    def variables(self, **more):
        return super().variables(PYTHONPATH=str(self.folder), RAY_AUTH_MODE="disabled", **more)

    def setUp(self):
        super().setUp()
        for name, text in ("gpu", USES_GPU), ("served", SERVED):
            (Path(self.folder) / f"{name}.py").write_text(textwrap.dedent(text))

    def assert_two_workers_are_recorded(self, stderr):
        self.assertRegex(stderr, rf"hbmscope: {2 * BLOCKS} events of 2 processes \(0 lost\)")
        self.assertEqual([row["size_bytes"] for row in self.rows() if row["kind"] == "alloc"], [str(BLOCK_BYTES)] * 2 * BLOCKS)
        self.assert_nothing_was_odd()

    def test_actors_of_ray(self):
        done = self.run_it(sys.executable, "-c", textwrap.dedent(ACTORS))
        self.assertEqual(done.stdout, "2\n")
        self.assert_two_workers_are_recorded(done.stderr)

    def test_workers_of_gunicorn(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        hooks = Path(self.folder) / "hooks.py"
        hooks.write_text("from served import post_worker_init\n")
        serve = self.command(sys.executable, "-m", "gunicorn", "-w", "2", "-b", f"127.0.0.1:{port}", "-c", str(hooks), "served:application")
        job = subprocess.Popen(serve, stderr=subprocess.PIPE, text=True, env=self.variables())
        booted = 0
        while booted < 2:
            line = job.stderr.readline()
            self.assertNotEqual(line, "", "it ended")
            booted += "Booting worker" in line
        answer = subprocess.run(["curl", "-s", "--retry", "20", "--retry-connrefused", f"http://127.0.0.1:{port}/"], capture_output=True, text=True)
        self.assertRegex(answer.stdout, r"^\d+$")
        job.terminate()
        stderr = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, 0, stderr)
        self.assert_two_workers_are_recorded(stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
