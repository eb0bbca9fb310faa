#!/usr/bin/env python3
"""libhbmscope_pytorch.so as PyTorch calls it, on the emulated CUDA driver with streams that the test holds.

    pytorch_library_test.py LIBRARY HBMSCOPE FAKE_FOLDER

Each case is a process of its own, since the environment is read once.
"""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

LIBRARY, HBMSCOPE, FAKE = sys.argv[1:4]

LIBRARY_FUNCTIONS = """
import ctypes as C, random, threading
lib = C.CDLL(LIBRARY)
lib.hbmscope_pytorch_malloc.restype = C.c_void_p
lib.hbmscope_pytorch_malloc.argtypes = [C.c_ssize_t, C.c_int, C.c_void_p]
lib.hbmscope_pytorch_free.argtypes = [C.c_void_p, C.c_ssize_t, C.c_int, C.c_void_p]
lib.hbmscope_pytorch_record_stream.argtypes = [C.c_void_p, C.c_void_p]
lib.hbmscope_pytorch_error.restype = C.c_char_p
MIB, ALL = 1 << 20, 2**64 - 1
def malloc(size, stream=0, device=0):
    return lib.hbmscope_pytorch_malloc(size, device, stream)
def free(address, size, stream=0, device=0):
    lib.hbmscope_pytorch_free(address, size, device, stream)
def error():
    return lib.hbmscope_pytorch_error().decode()
"""
FAKE_DRIVER = """
fake = C.CDLL("libcuda.so.1")
fake.fake_hold.argtypes = [C.c_void_p]
fake.fake_go_on.argtypes = [C.c_void_p, C.c_uint64]
fake.fake_waits.restype = C.c_uint64
def stream():
    made = C.c_void_p()
    assert fake.cuStreamCreate(C.byref(made), 0) == 0
    return made.value
def used(device=0):
    free_bytes, total = C.c_size_t(), C.c_size_t()
    fake.fake_use_device(device)
    assert fake.cuMemGetInfo_v2(C.byref(free_bytes), C.byref(total)) == 0
    return total.value - free_bytes.value
"""


def job(script, before=FAKE_DRIVER):
    return [sys.executable, "-c", f"LIBRARY = {LIBRARY!r}\n" + LIBRARY_FUNCTIONS + before + textwrap.dedent(script)]


class PytorchLibrary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def environment(self, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XLA_", "TF_", "HBMSCOPE_", "PYTORCH_", "JAX_"))}
        return {**kept, "LD_LIBRARY_PATH": FAKE, "HBMSCOPE_DEVICE_BYTES": str(1 << 30), "XDG_RUNTIME_DIR": str(self.folder), **variables}

    def run_job(self, script, **variables):
        done = subprocess.run(job(script), capture_output=True, text=True, timeout=120, env=self.environment(**variables))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_the_pool_is_as_jax_would_have_it(self):
        self.run_job(
            """
            assert malloc(0) is None and error() == ""
            first = malloc(5 * MIB)
            assert first % 256 == 0 and used() == 512 * MIB, used()
            assert malloc(5 * MIB) == first - 5 * MIB  # The newest XLA begins at the upper end.
            """,
            XLA_CLIENT_MEM_FRACTION=".5",
            XLA_FLAGS="--xla_something_else=1",
        )

    def test_without_preallocation_it_grows(self):
        self.run_job("malloc(100); assert used() == 2 * MIB, used()", XLA_PYTHON_CLIENT_PREALLOCATE="false")

    def test_every_allocator_can_be_chosen(self):
        for name in ["xla_gpu", "platform", "cuda_async", "vmm", "pytorch", "naive"]:
            self.run_job(
                """
                blocks = [malloc(size) for size in (3 * MIB, 700, 40 * MIB)]
                assert None not in blocks and len(set(blocks)) == 3
                for block in blocks: free(block, 1)
                assert malloc(3 * MIB) is not None
                """,
                HBMSCOPE_ALLOCATOR=name,
            )

    def test_expandable_segments_are_mapped_page_by_page(self):
        self.run_job(
            """
            first = malloc(30 * MIB)
            assert used() == 40 * MIB, used()
            assert malloc(30 * MIB) == first + 30 * MIB and used() == 60 * MIB
            free(first, 1)
            lib.hbmscope_pytorch_reset()
            assert used() == 40 * MIB, used()
            """,
            HBMSCOPE_ALLOCATOR="pytorch",
            PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True",
        )

    def test_devices_have_pools_of_their_own(self):
        self.run_job(
            """
            malloc(MIB, 0, 0); assert used(0) == 768 * MIB and used(1) == 0
            malloc(MIB, 0, 1); assert used(1) == 768 * MIB
            assert malloc(MIB, 0, 2) is None and "there is no device 2" in error(), error()
            assert malloc(MIB, 0, -1) is None and malloc(MIB, 0, 1000) is None
            """
        )

    def test_a_block_is_its_own_streams_at_once_and_anothers_after_its_event(self):
        self.run_job(
            """
            A, B = stream(), stream()
            first = malloc(4 * MIB, A)
            fake.fake_hold(A)
            free(first, 4 * MIB, A)
            assert malloc(4 * MIB, A) == first
            free(first, 4 * MIB, A)
            other = malloc(4 * MIB, B)
            assert other != first
            fake.fake_go_on(A, 2)
            assert malloc(4 * MIB, B) == first and fake.fake_waits() == 0
            """
        )

    def test_a_recorded_stream_keeps_a_block_and_a_full_pool_waits(self):
        self.run_job(
            """
            A, B = stream(), stream()
            whole = malloc(500 * MIB, A)
            lib.hbmscope_pytorch_record_stream(whole, B)
            fake.fake_hold(B)
            free(whole, 500 * MIB, A)
            assert malloc(60 * MIB, A) != whole and fake.fake_waits() == 0
            assert malloc(500 * MIB, A) == whole and fake.fake_waits() == 1
            """
        )

    def test_out_of_memory_says_why_once_on_stderr(self):
        done = self.run_job(
            """
            assert malloc(1 << 34) is None
            assert "out of memory: requested 17179869184 B (16.00 GiB) of GPU_0_bfc on device 0" in error(), error()
            assert malloc(1 << 34) is None
            assert malloc(1 << 20) is not None and error() == ""
            assert malloc(-5) is None and "less than 0" in error()
            """
        )
        self.assertEqual(done.stderr.count("out of memory"), 1, done.stderr)

    def test_a_capturing_stream_is_refused_and_loses_nothing(self):
        self.run_job(
            """
            A, B = stream(), stream()
            block = malloc(4 * MIB, A)
            assert fake.cuStreamBeginCapture_v2(C.c_void_p(A), 0) == 0
            assert malloc(MIB, A) is None and "captured into a graph" in error(), error()
            free(block, 4 * MIB, A)
            assert malloc(4 * MIB, B) != block
            assert fake.cuStreamEndCapture(C.c_void_p(A), C.byref(C.c_void_p())) == 0
            assert malloc(4 * MIB, A) == block
            """
        )

    def test_what_can_not_be_is_refused_in_words(self):
        for words, variables in [
            ("there is no allocator 'tcmalloc' (known: xla_gpu, ", {"HBMSCOPE_ALLOCATOR": "tcmalloc"}),
            ("must be one of", {"XLA_PYTHON_CLIENT_ALLOCATOR": "best"}),
            ("no pool for the arrays", {"HBMSCOPE_ALLOCATOR": "pinned_host"}),
            ("managed memory", {"TF_FORCE_UNIFIED_MEMORY": "1"}),
            ("no power of two", {"HBMSCOPE_ALLOCATOR": "pytorch", "PYTORCH_CUDA_ALLOC_CONF": "roundup_power2_divisions:3"}),
        ]:
            done = self.run_job(f"assert malloc(5) is None and {words!r} in error(), error()", **variables)
            self.assertIn(words, done.stderr)

    def test_without_a_driver_it_says_so(self):
        script = """
            assert malloc(5) is None and 'there is no CUDA driver here' in error(), error()
            free(0, 0)
            free(4096, 0)
            """
        with_driver = subprocess.run(["sh", "-c", "ldconfig -p | grep -c libcuda.so.1"], capture_output=True, text=True).stdout.strip()
        if with_driver not in ("", "0"):
            self.skipTest("this machine has a CUDA driver")
        done = subprocess.run(job(script, before=""), capture_output=True, text=True, env=self.environment(LD_LIBRARY_PATH=""))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_many_threads_and_streams_never_share_a_block(self):
        self.run_job(
            """
            taken, lock, wrong = {}, threading.Lock(), []
            streams = [stream() for _ in range(4)]
            def work(seed):
                chance, own = random.Random(seed), {}
                own_stream = streams[seed]
                for i in range(1500):
                    if i % 100 == 0: fake.fake_hold(own_stream)
                    if chance.random() < 0.3: fake.fake_go_on(own_stream, ALL if i % 100 > 90 else 2)
                    if own and chance.random() < 0.5:
                        address = chance.choice(list(own))
                        with lock: del taken[address]
                        if chance.random() < 0.1: lib.hbmscope_pytorch_record_stream(address, chance.choice(streams))
                        free(address, own.pop(address), own_stream)
                        continue
                    size = chance.randrange(1, 2 * MIB)
                    address = malloc(size, own_stream)
                    if address is None: continue
                    own[address] = size
                    with lock:
                        if any(address < at + bytes and at < address + size for at, bytes in taken.items()): wrong.append(address)
                        taken[address] = size
                for address, size in own.items():
                    with lock: del taken[address]
                    free(address, size, own_stream)
            threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            assert not wrong, wrong
            for one in streams: fake.fake_go_on(one, ALL)
            assert malloc(700 * MIB, stream()) is not None, error()
            """
        )

    def test_the_hooks_for_graphs_throw_what_a_program_in_cpp_can_catch(self):
        source = self.folder / "hooks.cpp"
        source.write_text(
            textwrap.dedent(
                """
                #include <cstdio>
                #include <dlfcn.h>
                #include <exception>
                #include <functional>
                #include <new>
                #include <utility>
                using Pool = std::pair<unsigned long long, unsigned long long>;
                int main(int, char** arguments) {
                  void* library = dlopen(arguments[1], RTLD_NOW);
                  auto* begin = (void (*)(int, Pool, std::function<bool(void*)>))dlsym(library, "hbmscope_pytorch_begin_allocate_to_pool");
                  auto* end = (void (*)(int, Pool))dlsym(library, "hbmscope_pytorch_end_allocate_to_pool");
                  auto* allocate = (void* (*)(ssize_t, int, void*))dlsym(library, "hbmscope_pytorch_malloc_or_throw");
                  std::function<void*(size_t, int, void*)> as_pytorch_holds_it = allocate;
                  if (as_pytorch_holds_it(1000, 0, nullptr) == nullptr) return 1;
                  try { begin(0, {1, 2}, [](void*) { return true; }); return 2; }
                  catch (const std::exception& refused) { std::puts(refused.what()); }
                  end(0, {1, 2});
                  try { as_pytorch_holds_it(1ull << 40, 0, nullptr); return 3; }
                  catch (const std::bad_alloc& refused) { std::puts(refused.what()); }
                }
                """
            )
        )
        program = str(self.folder / "hooks")
        compiler = next((name for name in ("c++", "g++", "clang++") if subprocess.run(["which", name], capture_output=True).returncode == 0), None)
        if compiler is None:
            self.skipTest("no C++ compiler")
        subprocess.run([compiler, "-std=c++17", "-o", program, str(source), "-ldl"], check=True)
        done = subprocess.run([program, LIBRARY], capture_output=True, text=True, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?s)no memory pools for graphs.*out of memory: requested 1099511627776 B")

    def test_hbmscope_run_shows_the_pool_over_the_drivers_memory(self):
        recording = str(self.folder / "pool.hbm")
        script = """
            A, B = stream(), stream()
            blocks = [malloc(size * MIB, A) for size in (10, 20, 30)]
            assert malloc(1 << 40) is None
            lib.hbmscope_pytorch_record_stream(blocks[1], B)
            fake.fake_hold(B)
            free(blocks[1], 0, A)
            free(blocks[0], 0, A)
            """
        command = [HBMSCOPE, "run", "--no-window", "--no-flight", "--record", recording, "--", *job(script)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        reported = subprocess.run([HBMSCOPE, "report", recording, "--json", "--at", "end"], capture_output=True, text=True, check=True)
        report = json.loads(reported.stdout)
        heaps = {heap["name"]: heap for heap in report["heaps"]}
        pool = heaps["GPU_0_bfc"]
        self.assertEqual((pool["pool_bytes"], pool["in_use_bytes"], pool["pending_bytes"]), (768 << 20, 50 << 20, 20 << 20))
        self.assertEqual(heaps["GPU 0 memory"]["in_use_bytes"], 768 << 20)
        self.assertEqual(report["failures"][0]["asked_bytes"], 1 << 40)


unittest.main(argv=sys.argv[:1])
