#!/usr/bin/env python3
"""samples/ci on programs that allocate memory of an emulated GPU: the pytest plugin, and the steps of the action and of the templates.

    ci_samples_test.py HBMSCOPE        exits with 77 where pytest is not installed
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples" / "ci"
PLUGIN = SAMPLES / "hbm_limit.py"
PROGRAM = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t({} << 20)) == 0
"""
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


def steps_of(path, environment, folder):
    """Runs the shell lines of a YAML file: those after `run:`, and those of hbmscope in `script:`."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    found = [line.partition("run: ")[2] for line in lines if line.startswith(("run: ", "- run: "))]
    found += [line[2:] for line in lines if line.startswith("- ") and ("hbmscope run" in line or "hbmscope explain" in line)]
    done = []
    for step in found:
        if "pip install" in step or "gh pr" in step:
            continue  # Nothing is installed here, and no pull request is there.
        done.append(subprocess.run(["bash", "-ec", step], cwd=folder, env=environment, capture_output=True, text=True, timeout=100))
    return done


def try_templates(folder, environment):
    for name, mib in (("now", 1500), ("main", 1500), ("less", 1000)):
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(PROGRAM.format(mib))
    command = f"{sys.executable} train.py"
    inputs = {"DEVICE": "h100", "CONDITION": "margin<4GiB", "COMMAND": command, "BASELINE": "../main", "GITHUB_ACTION_PATH": str(SAMPLES), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    for changed, code in (({}, 0), ({"BASELINE": ""}, 0), ({"CONDITION": "margin<79GiB"}, 1), ({"BASELINE": "../less"}, 1), ({"BASELINE": "../less", "MEMORY_GROWTH": "80%"}, 0), ({"COMMAND": "false"}, 1)):
        (folder / "summary.md").unlink(missing_ok=True)
        check, summary = steps_of(SAMPLES / "action.yml", {**environment, **inputs, **changed}, folder / "now")
        assert (check.returncode, summary.returncode) == (code, 0), f"{changed}: {check.stdout}{check.stderr}"
        assert "### Device memory on an emulated h100" in (folder / "summary.md").read_text(), changed
    for condition, code in (("margin<4GiB", 0), ("margin<79GiB", 1)):
        run, explain = steps_of(SAMPLES / "gitlab.yml", dict(environment, MEMORY_DEVICE="h100", MEMORY_FAIL_IF=condition, MEMORY_COMMAND=command), folder / "now")
        assert (run.returncode, explain.returncode) == (code, 0), run.stdout + run.stderr
        assert ("<failure" in (folder / "now" / "memory.xml").read_text()) == (code == 1)
    [entry] = [line.partition("entry: ")[2] for line in (SAMPLES / "pre-commit-config.yaml").read_text().splitlines() if "entry:" in line]
    words = entry.replace("python", sys.executable).split()
    done = subprocess.run(words, cwd=folder / "now", env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and "fits:" in done.stdout, done.stdout + done.stderr


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
            assert test != "test_large" or "test_memory.py:11" in done.stdout, f"who held it: {done.stdout}"
        try_templates(folder, environment)
    print(f"{len(EXPECTED)} tests and the templates as expected")


if __name__ == "__main__":
    main()
