"""Which tensors a Triton kernel writes, from its source: without Triton, whose compiler gives the same tree.

    kernel_writes_test.py FOLDER    the folder of hbmscope_triton.py
"""

import ast
import inspect
import sys
import textwrap

sys.path.insert(0, sys.argv[1])
import hbmscope_triton  # noqa: E402

tl = None  # Never called.


class Kernel:
    def __init__(self, function):
        self.fn, self.arg_names = function, list(inspect.signature(function).parameters)

    def parse(self):
        return ast.parse(textwrap.dedent(inspect.getsource(self.fn)))


def copy(x_ptr, y_ptr, index_ptr, n, BLOCK):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    to = tl.load(index_ptr + i)
    tl.store(y_ptr + to, tl.load(x_ptr + i, mask=i < n))


def count(x_ptr, out_ptr, total_ptr, n):
    for k in range(0, n):
        if k > 0:
            tl.atomic_add(pointer, tl.load(x_ptr + k))
        pointer = out_ptr + k
    tl.store(value=0, pointer=total_ptr)


def by_block(x_ptr, y_ptr, m, n):
    x = tl.make_block_ptr(base=x_ptr, shape=(m, n))
    y = tl.make_block_ptr(base=y_ptr, shape=(m, n))
    y = tl.advance(y, (0, 1))
    tl.store(y, tl.load(x))


def by_descriptor(x_desc, y_ptr, m):
    y = tl.make_tensor_descriptor(y_ptr, [m], [1], [64])
    y.store([0], x_desc.load([0]))


def store_both(a_ptr, b_ptr, value):
    tl.store(b_ptr, value)
    a_ptr += 1
    tl.store(a_ptr, value)


def calls(x_ptr, y_ptr, z_ptr, w_ptr):
    put(y_ptr, tl.load(x_ptr))
    put(value=tl.load(x_ptr), at=z_ptr)


def put_in_it(at, value):
    tl.store(at, value)
    put(at, value)  # Recursion ends.


put = Kernel(put_in_it)


class WithoutSource(Kernel):
    def parse(self):
        raise OSError("could not get source code")


class Values:
    @staticmethod
    def _note_trouble(name, error):
        pass


hbmscope_triton.values = Values
for function, expected in [
    (copy, {"y_ptr"}),
    (count, {"out_ptr", "total_ptr"}),
    (by_block, {"y_ptr"}),
    (by_descriptor, {"y_ptr"}),
    (store_both, {"a_ptr", "b_ptr"}),
    (calls, {"y_ptr", "z_ptr"}),
    (put_in_it, {"at"}),
]:
    written = hbmscope_triton._written_by(Kernel(function))
    pointers = {name for name in written if name not in ("n", "m", "BLOCK", "value")}
    assert pointers == expected, (function.__name__, written)
assert hbmscope_triton._written_by(WithoutSource(copy)) == {"x_ptr", "y_ptr", "index_ptr", "n", "BLOCK"}
print("what kernels write is known")
