#!/usr/bin/env python3
"""What the verdict of a dry run says besides its figures: with programs that call the driver themselves, and with stand-ins for
a framework's libraries.

    verdict_test.py HBMSCOPE POOLS      POOLS: a folder with libc10.so and libc10_cuda.so (tests/collector/pools)
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

HBMSCOPE, POOLS = (os.path.abspath(word) for word in sys.argv[1:3])
del sys.argv[1:3]
MIB = 1 << 20

DRIVER = """
import ctypes, os, sys, threading
cuda = ctypes.CDLL("libcuda.so.1")
u64 = ctypes.c_uint64
def call(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    assert result == 0, (name, result)
def start():
    context = u64()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    return context
def take(size):
    block = u64()
    call("cuMemAlloc_v2", ctypes.byref(block), u64(size))
    return block
context = start()
"""

# Copies to the host, and what else may happen to memory.
READS = """
memory = ctypes.create_string_buffer(1 << 20)
here = u64(ctypes.addressof(memory))
class Copy2d(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("from_x", "from_y", "from_type", "from_host", "from_device", "from_array", "from_pitch",
                                                     "to_x", "to_y", "to_type", "to_host", "to_device", "to_array", "to_pitch", "width", "height")]
def read(block, size):
    call("cuMemcpyDtoH_v2", here, block, u64(size))
def read_async(block, size, stream):
    call("cuMemcpyDtoHAsync_v2", here, block, u64(size), stream)
def read_any(block, size):
    call("cuMemcpy", here, block, u64(size))
def read_rows(block, width, height):
    copy = Copy2d(from_type=2, from_device=block.value, from_pitch=8192, to_type=1, to_host=here.value, to_pitch=width, width=width, height=height)
    call("cuMemcpy2D_v2", ctypes.byref(copy))
def write(block, size):
    call("cuMemcpyHtoD_v2", block, here, u64(size))
def fill(block, value, size):
    call("cuMemsetD8_v2", block, ctypes.c_ubyte(value), u64(size))
def copy(to, block, size):
    call("cuMemcpyDtoD_v2", to, block, u64(size))
def launch():
    call("cuLaunchKernel", u64(1), 1, 1, 1, 1, 1, 1, 0, u64(0), u64(0), u64(0))
"""

# What is used of PyTorch's optimizers.
OPTIMIZER = """
hooks = []
def register_optimizer_step_post_hook(hook):
    hooks.append(hook)
class Optimizer:
    def __init__(self):
        kind = type(self)
        if not getattr(kind.step, "hooked", False):
            real = kind.step
            def step(self):
                real(self)
                for hook in hooks:
                    hook(self, (), {})
            step.hooked = True
            kind.step = step
    def step(self):
        pass
class Adam(Optimizer):
    def step(self):
        pass
"""

# What the report of a process asks of PyTorch.
TORCH = """
class cuda:
    peak = {"allocated_bytes.all.peak": 1 << 20, "reserved_bytes.all.peak": 2 << 20}
    is_initialized = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    memory_stats = staticmethod(lambda device: cuda.peak)
"""


class Verdict(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write_job(self, text):
        """With the calls in a library, so that the lines are those of the job."""
        library = self.path / "site-packages" / "driver.py"
        library.parent.mkdir(exist_ok=True)
        library.write_text(DRIVER + READS)
        (self.path / "job.py").write_text("import sys\nsys.path.insert(0, 'site-packages')\nfrom driver import *\n" + textwrap.dedent(text))

    def run_it(self, text, *words, code=0, **files):
        self.write_job(text)
        for name, content in files.items():
            (self.path / f"{name}.py").write_text(textwrap.dedent(content))
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("DISPLAY", None)
        command = [HBMSCOPE, "run", "--no-flight", "--emulate", "h100", "--record", "job.hbm", *words, "--", sys.executable, "job.py"]
        done = subprocess.run(command, cwd=self.path, env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def verdict(self, text, *words, **files):
        return json.loads(self.run_it(text, "--json", *words, **files))

    def line_of(self, sign):
        """The line of the job that contains this text, from 1."""
        [line] = [number for number, line in enumerate((self.path / "job.py").read_text().splitlines(), 1) if sign in line]
        return line

    def test_the_peak_of_a_pool_is_the_recorded_one_where_the_framework_says_less(self):
        job = f"""
            import torch
            take(1 << 20)
            ctypes.CDLL("{POOLS}/libc10.so", ctypes.RTLD_GLOBAL)
            pool = ctypes.CDLL("{POOLS}/libc10_cuda.so")
            pool.torch_allocate.restype = ctypes.c_void_p
            block = pool.torch_allocate(u64(300 << 20))
            pool.torch_free(ctypes.c_void_p(block))
            pool.torch_allocate(u64(100 << 20))
        """
        [device] = self.verdict(job, torch=TORCH)["devices"]
        [use] = device["frameworks"]
        self.assertEqual((use["framework"], use["peak_in_use_bytes"]), ("torch", 300 * MIB))
        [device] = self.verdict(job, torch=TORCH.replace("1 << 20", "700 << 20"))["devices"]
        self.assertEqual(device["frameworks"][0]["peak_in_use_bytes"], 700 * MIB, "what the recording doesn't have, the framework says")

    def reads(self, text):
        found = self.verdict(text)
        self.assertEqual(found["outcome"], "fits")
        return {self.sign_at(read["line"]): read["count"] for read in found["depends_on_values"]}, found

    def sign_at(self, line):
        """What the job says behind the number sign of the line, as the verdict calls it."""
        number = int(line.rsplit(":", 1)[1])
        return (self.path / "job.py").read_text().splitlines()[number - 1].rpartition("# ")[2]

    def test_reads_of_what_kernels_compute_are_counted_by_line(self):
        reads, found = self.reads("""
            block = take(1 << 20)
            for _ in range(12):
                read(block, 8)  # in a loop
            read(block, 4096)  # the largest that is small
            read(block, 4097)  # a large one
            stream = u64()
            call("cuStreamCreate", ctypes.byref(stream), 0)
            read_async(block, 4, stream)  # of a stream
            read_any(block, 4)  # in either direction
            read_rows(block, 4, 3)  # rows
            read_rows(block, 4096, 3)  # large rows
            def in_a_thread(block):
                call("cuCtxSetCurrent", context)
                read(block, 8)  # in a thread
            threads = [threading.Thread(target=in_a_thread, args=(block,)) for _ in range(3)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        """)
        self.assertEqual(reads, {"in a loop": 12, "the largest that is small": 1, "of a stream": 1, "in either direction": 1, "rows": 1, "in a thread": 3})
        self.assertEqual(found["large_value_reads"], 2)
        first = found["depends_on_values"][0]
        self.assertEqual((first["kind"], first["what"], first["count"], first["bytes_max"]), ("value", "read", 12, 8))
        self.assertEqual(found["doubts"], ["values"])

    def test_what_the_program_put_there_itself_is_no_doubt(self):
        reads, found = self.reads("""
            block, other = take(1 << 20), take(1 << 20)
            launch()
            write(block, 8)
            read(block, 8)  # the same
            fill(block, 7, 8)
            read(block, 8)  # filled
            fill(block, 0, 4096)
            read(u64(block.value + 16), 8)  # cleared
            write(block, 8)
            copy(other, block, 8)
            read(other, 8)  # a copy
            fill(block, 0, 64)
            copy(other, block, 64)
            read(other, 8)  # a copy of zeros
            host = u64()
            call("cuMemHostAlloc", ctypes.byref(host), u64(4096), 0)
            read(host, 8)  # of the host
        """)
        self.assertEqual(reads, {})
        self.assertEqual((found["doubts"], found["large_value_reads"]), ([], 0))

    def test_a_kernel_may_have_changed_what_was_written_before_it(self):
        reads, _ = self.reads("""
            block, other = take(1 << 20), take(1 << 20)
            write(block, 8)
            launch()
            read(block, 8)  # written before
            copy(other, block, 8)
            read(other, 8)  # a copy of it
            fill(block, 0, 64)
            launch()
            read(block, 8)  # cleared before
            write(block, 8)
            read(block, 8)  # written again
            read(block, 4)  # a part of it
            copy(other, u64(block.value + 4096), 8)
            read(other, 8)  # a copy of what is unknown
        """)
        self.assertEqual(sorted(reads), ["a copy of it", "a copy of what is unknown", "a part of it", "cleared before", "written before"])

    def test_each_process_has_its_own_lines(self):
        reads, _ = self.reads("""
            if len(sys.argv) == 1:
                import subprocess
                read(take(1 << 20), 8)  # of the parent
                subprocess.run([sys.executable, "job.py", "child"], check=True)
                child = os.fork()
                if child == 0: os._exit(0)
                os.waitpid(child, 0)
                read(take(1 << 20), 8)  # after a fork
            else:
                block = take(1 << 20)
                [read(block, 8) for _ in range(2)]  # of the child
                os._exit(0)
        """)
        self.assertEqual(reads, {"of the parent": 1, "of the child": 2, "after a fork": 1})

    def test_the_verdict_names_the_lines_below_its_headline(self):
        job = "block = take(1 << 20)\nfor _ in range(3): read(block, 8)  # here\n"
        lines = self.run_it(job).splitlines()
        self.assertRegex(lines[0], "^fits: ")
        line = self.line_of("# here")
        self.assertEqual(lines[1], f"The program reads values that a dry run does not compute: read by <module> job.py:{line} (3 times). If it branches on them, the figures may differ.")
        lines = self.run_it(job, "--stacks", "none").splitlines()
        self.assertRegex(lines[1], r"that a dry run does not compute: an unknown line \(3 times\)\. If it branches on them, the figures may differ\.$")
        lines = self.run_it("read(take(1 << 20), 5000)\n").splitlines()
        self.assertRegex(lines[1], "^Assumed: ")

    def test_a_failure_after_such_a_read_may_be_the_dry_runs_own(self):
        text = self.run_it("read(take(1 << 20), 8)  # here\nraise ValueError('no expert was chosen')\n", code=1)
        self.assertRegex(text, "^failed")
        self.assertIn(f"The dry run may be the cause of the failure. The program reads values that a dry run does not compute: read by <module> job.py:{self.line_of('# here')}.", text)
        self.assertNotIn("may be the cause", self.run_it("raise ValueError('no expert was chosen')\n", code=1))

    def test_an_operation_that_decides_a_size_is_certain_and_comes_first(self):
        package = self.path / "site-packages" / "jax"
        package.mkdir(parents=True)
        (package / "arrays.py").write_text("class Array:\n    def __float__(self):\n        self.read()\n        return 0.0\ndef nonzero(array):\n    array.read()\n")
        job = """
            from jax.arrays import Array, nonzero
            array, block = Array(), take(1 << 20)
            from functools import partial
            array.read = partial(read, block, 4)
            for _ in range(9): float(array)  # the value
            nonzero(array)  # the size
        """
        lines = self.run_it(job).splitlines()
        self.assertEqual(lines[1:3], [
            f"Not proved: a size depends on values that a dry run does not compute: nonzero by <module> job.py:{self.line_of('# the size')}.",
            f"The program also reads others of these values: float by <module> job.py:{self.line_of('# the value')} (9 times). If it branches on them, the figures may differ.",
        ])
        found = self.verdict(job)
        self.assertEqual([(read["kind"], read["what"], read["count"]) for read in found["depends_on_values"]], [("size", "nonzero", 1), ("value", "float", 9)])
        self.assertEqual(found["doubts"], ["sizes", "values"])

    def test_operations_of_pytorch_are_called_by_their_plain_names(self):
        library = self.path / "site-packages" / "torch" / "_tensor_str.py"
        library.parent.mkdir(parents=True)
        library.write_text("def shown(read):\n    read()\n")
        (library.parent / "ops.py").write_text(textwrap.dedent("""
            def calls(names, read):
                if not names:
                    return read()
                def call(read):
                    calls(names[1:], read)
                call.__code__ = call.__code__.replace(co_qualname=f"at::_ops::{names[0]}::call(at::Tensor const&)")
                call(read)
        """))
        cases = [  # What calls what, and what is said of it.
            (["item", "_local_scalar_dense"], "value", "item"),
            (["is_nonzero", "item"], "value", "bool"),
            (["index_Tensor", "nonzero"], "size", "index"),
            (["_unique2"], "size", "unique"),
            (["repeat_interleave_self_Tensor", "repeat_interleave_Tensor"], "size", "repeat_interleave_self"),
            (["to_dtype_layout", "_to_copy", "copy_"], "value", "copy"),
        ]
        job = "sys.path.insert(0, 'site-packages/torch')\nfrom functools import partial\nfrom ops import calls\nfrom _tensor_str import shown\n"
        job += "get = partial(read, take(1 << 20), 4)\n" + "".join(f"calls({names}, get)\n" for names, _, _ in cases)
        job += "shown(partial(calls, ['masked_select'], get))\n"
        found = {(read["kind"], read["what"]) for read in self.verdict(job)["depends_on_values"]}
        self.assertEqual(found, {(kind, what) for _, kind, what in cases} | {("value", "print")})

    def trained(self, text, *words):
        folder = self.path / "torch" / "optim"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "optimizer.py").write_text(OPTIMIZER)
        (folder.parent / "__init__.py").write_text(TORCH)
        (folder / "__init__.py").write_text("")
        job = "from torch.optim.optimizer import Adam\nblock = take(1 << 20)\n" + textwrap.dedent(text)
        line = next((line for line in self.run_it(job, *words).splitlines() if "optimizer" in line), None)
        return line, self.verdict(job, *words)

    def test_a_trainer_that_never_trained_is_told_from_a_program_that_only_infers(self):
        rest = "optimizer step was seen: the peak of a training step is not in this figure."
        backward = """
            def backward():
                take(1 << 20)
            backward.__code__ = backward.__code__.replace(co_qualname="torch::autograd::Engine::evaluate_function(graph)")
            backward()
        """
        adam = "\nAdam()"
        cases = [  # Program, words, sentence, steps, whether a backward pass was seen.
            ("read(block, 8)", (), None, 0, False),
            (adam, (), "No backward pass and no " + rest, 0, False),
            (adam, ("--stacks", "none"), "No " + rest, 0, None),
            (textwrap.dedent(backward) + adam, (), "No " + rest, 0, True),
            (textwrap.dedent(backward), (), None, 0, True),
            ("[Adam().step() for _ in range(3)]", (), None, 3, False),
            ("Adam().step()", (), None, 1, False),
            ("Adam().step()\nread(block, 8)", (), "Only one optimizer step was seen: a second one begins with the optimizer's state and may need more.", 1, False),
        ]
        for program, words, sentence, steps, has_backward in cases:
            with self.subTest(program=program, words=words):
                line, found = self.trained(program, *words)
                self.assertEqual(line, sentence)
                self.assertEqual(found["training"], {"has_optimizer": "Adam" in program, "optimizer_steps": steps, "has_backward": has_backward})
                self.assertEqual("training" in found["doubts"], sentence is not None)

    def test_a_gate_can_ask_for_proof(self):
        self.write_job("read(take(1 << 20), 8)\n")
        for condition, code in (("doubts:values", 1), ("doubts:sizes", 0)):
            done = subprocess.run([HBMSCOPE, "run", "--no-flight", "--no-window", "--emulate", "h100", "--record", "job.hbm", "--fail-if", condition, "--", sys.executable, "job.py"],
                                  cwd=self.path, capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_a_sweep_marks_what_is_not_proved(self):
        job = "block = take(1 << 20)\nif sys.argv[1] == '2': read(block, 8)\n"
        self.write_job(job)
        done = subprocess.run([HBMSCOPE, "run", "--emulate", "h100", "--sweep", "n=1,2", "--record", "sweep", "--", sys.executable, "job.py", "{n}"],
                              cwd=self.path, capture_output=True, text=True, check=True)
        rows = [line for line in done.stdout.splitlines() if line.startswith("h100")]
        self.assertEqual([row.count("to spare²") for row in rows], [0, 1], done.stdout)
        self.assertIn("² A size or a branch may depend on values that a dry run does not compute; without the sweep,", done.stdout)


if __name__ == "__main__":
    unittest.main()
