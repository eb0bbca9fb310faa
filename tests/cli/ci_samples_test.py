#!/usr/bin/env python3
"""The pytest plugin of samples/ci, on tests that allocate memory of an emulated GPU.

    ci_samples_test.py HBMSCOPE        exits with 77 where pytest is not installed
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PLUGIN = pathlib.Path(__file__).resolve().parents[2] / "samples" / "ci" / "hbm_limit.py"
TESTS = '''
import ctypes
import warnings
import pytest


def take(mib):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, address = ctypes.c_void_p(), ctypes.c_uint64()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(mib << 20)) == 0


@pytest.mark.hbm_limit("1GiB", emulate="h100")
def test_small():
    take(500)


@pytest.mark.hbm_limit("1GiB", emulate="h100")
def test_large():
    take(1500)


@pytest.mark.hbm_limit("1GiB", emulate="h100")
def test_wrong():
    take(10)
    assert 1 + 1 == 3


@pytest.mark.hbm_limit(donation=True, emulate="h100")
def test_donated():
    take(10)


@pytest.mark.hbm_limit("1GiB", donation=True, emulate="h100")
def test_not_donated():
    warnings.warn("Some donated buffers were not usable: ShapedArray(float32[8]).")  # In the words of JAX.


@pytest.mark.hbm_limit(growth="0B", emulate="h100")
def test_unknown():
    take(10)


@pytest.mark.hbm_limit(size="1GiB")
def test_misspelt():
    pass


def test_unmarked():
    pass
'''
EXPECTED = {
    "test_small": None,
    "test_large": "--fail-if: peak>1GiB is true for GPU 0 memory: peak 1.46 GiB",
    "test_wrong": "assert (1 + 1) == 3",
    "test_donated": None,
    "test_not_donated": "UserWarning: Some donated buffers were not usable",
    "test_unknown": "--fail-if: whether growth_per_step>0B is true for GPU 0 memory is unknown",
    "test_misspelt": "hbm_limit takes a size, growth=..., donation=True, condition=... and emulate=..., not size",
    "test_unmarked": None,
}


def has_pytest(python):
    return os.path.exists(python) and subprocess.run([python, "-c", "import pytest"], capture_output=True).returncode == 0


def main():
    # The distribution's pytest is that of the distribution's Python.
    pythons = [python for python in (sys.executable, "/usr/bin/python3") if has_pytest(python)]
    if not pythons:
        print("skipped: pytest is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(PLUGIN, folder)
        (folder / "conftest.py").write_text('pytest_plugins = ["hbm_limit"]\n')
        (folder / "test_memory.py").write_text(TESTS)
        (folder / "bin").mkdir()
        (folder / "bin" / "hbmscope").symlink_to(sys.argv[1])
        environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")
        for test, message in EXPECTED.items():
            command = [pythons[0], "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_memory.py::{test}"]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
            assert (done.returncode == 0) == (message is None), f"{test}: {done.stdout}{done.stderr}"
            assert message is None or message in done.stdout, f"{test}: {done.stdout}{done.stderr}"
    print(f"{len(EXPECTED)} tests as expected")


if __name__ == "__main__":
    main()
