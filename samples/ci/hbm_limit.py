"""A pytest plugin that limits the device memory of a test.

    pytest_plugins = ["hbm_limit"]  # In conftest.py; not needed where hbmscope was installed with pip, which brings it along.

    @pytest.mark.hbm_limit("12GiB")                                 # the most that may be in use in a pool
    @pytest.mark.hbm_limit("12GiB", emulate="h100")                 # on an emulated GPU: no GPU is needed
    @pytest.mark.hbm_limit(growth="1MiB")                           # the most by which memory may grow in each marked step
    @pytest.mark.hbm_limit(donation=True)                           # what JAX is given by donate_argnums must be usable
    @pytest.mark.hbm_limit(condition="fragmentation>50%")           # any condition of hbmscope report --fail-if

The function of a marked test runs in a process of its own, under `hbmscope run`; its fixtures are set up there, and here too. It fails if the test fails, or if the condition is true of
the recording; the message is hbmscope's, with the figures.
"""

import os
import subprocess
import sys
import tempfile

import pytest

INSIDE = "HBMSCOPE_LIMITED_TEST"
# JAX warns where XLA can't use a donated buffer (jax/_src/interpreters/mlir.py): the memory is then needed twice.
UNUSED_DONATION = "error:Some donated buffers were not usable:UserWarning"


def pytest_configure(config):
    config.addinivalue_line("markers", "hbm_limit(peak, growth, donation, condition, emulate): limits the device memory of the test, by hbmscope")


def program():
    """The one of this Python's environment, if hbmscope was installed with pip; else that of the PATH."""
    try:
        import hbmscope

        return hbmscope.find_program() or "hbmscope"
    except (ImportError, AttributeError):
        return "hbmscope"


def limits_of(mark):
    """The conditions under which the test fails, and the other arguments."""
    given = dict(mark.kwargs)
    conditions = ["peak>%s" % peak for peak in mark.args]
    conditions += ["growth_per_step>%s" % given.pop("growth")] if "growth" in given else []
    conditions += [given.pop("condition")] if "condition" in given else []
    unknown = set(given) - {"donation", "emulate"}
    if unknown or not (conditions or given.get("donation")):
        raise pytest.UsageError("hbm_limit takes a size, growth=..., donation=True, condition=... and emulate=..., not %s" % (", ".join(sorted(unknown)) or "no argument at all"))
    return conditions, given


def pytest_pyfunc_call(pyfuncitem):
    mark = pyfuncitem.get_closest_marker("hbm_limit")
    if mark is None or os.environ.get(INSIDE):
        return None
    conditions, given = limits_of(mark)
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "test.hbm")
        command = [program(), "run", "--no-window", "--no-flight", "--record", recording]
        command += ["--emulate", given["emulate"]] if given.get("emulate") else []
        command += ["--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-W", UNUSED_DONATION] if given.get("donation") else []
        command += [pyfuncitem.nodeid]
        done = subprocess.run(command, cwd=pyfuncitem.config.rootpath, env=dict(os.environ, **{INSIDE: "1"}), capture_output=True, text=True)
        if done.returncode != 0:  # The recording goes with its folder.
            said = [line for line in done.stderr.splitlines(keepends=True) if recording not in line]
            pytest.fail(done.stdout + "".join(said), pytrace=False)
        if conditions and not os.path.exists(recording):
            pytest.fail("hbm_limit: the test used no device memory that hbmscope can see, so nothing is known of its limit", pytrace=False)
        for condition in conditions:
            found = subprocess.run([program(), "report", recording, "--json", "--fail-if", condition], capture_output=True, text=True)
            if found.returncode != 0:
                held = subprocess.run([program(), "report", recording, "--at", "peak", "--only", "own_code"], capture_output=True, text=True)
                pytest.fail(found.stderr + held.stdout, pytrace=False)
    return True
