"""A pytest plugin that limits the device memory of a test.

    # conftest.py
    pytest_plugins = ["hbm_limit"]

    @pytest.mark.hbm_limit("12GiB")                                 # the most that may be in use in a pool
    @pytest.mark.hbm_limit("12GiB", emulate="h100")                 # on an emulated GPU: no GPU is needed
    @pytest.mark.hbm_limit(condition="growth_per_step>1MiB")        # any condition of hbmscope report --fail-if

The function of a marked test runs in a process of its own, under `hbmscope run`; its fixtures are set up there, and here too. It fails if the test fails, or if the condition is true of
the recording; the message is hbmscope's, with the figures.
"""

import os
import subprocess
import sys
import tempfile

import pytest

INSIDE = "HBMSCOPE_LIMITED_TEST"


def pytest_configure(config):
    config.addinivalue_line("markers", "hbm_limit(peak, condition, emulate): limits the device memory of the test, by hbmscope")


def limits_of(mark):
    """The conditions under which the test fails, and the emulated device, or None."""
    conditions = ["peak>%s" % peak for peak in mark.args] + [mark.kwargs[key] for key in ("condition",) if key in mark.kwargs]
    unknown = set(mark.kwargs) - {"condition", "emulate"}
    if unknown or not conditions:
        raise pytest.UsageError("hbm_limit takes a size, condition=... and emulate=..., not %s" % (", ".join(sorted(unknown)) or "nothing"))
    return conditions, mark.kwargs.get("emulate")


def pytest_pyfunc_call(pyfuncitem):
    mark = pyfuncitem.get_closest_marker("hbm_limit")
    if mark is None or os.environ.get(INSIDE):
        return None
    conditions, device = limits_of(mark)
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "test.hbm")
        command = ["hbmscope", "run", "--no-window", "--no-flight", "--record", recording]
        command += ["--emulate", device] if device else []
        command += ["--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", pyfuncitem.nodeid]
        done = subprocess.run(command, cwd=pyfuncitem.config.rootpath, env=dict(os.environ, **{INSIDE: "1"}), capture_output=True, text=True)
        if done.returncode != 0:
            pytest.fail(done.stdout + done.stderr, pytrace=False)
        for condition in conditions:
            found = subprocess.run(["hbmscope", "report", recording, "--json", "--fail-if", condition], capture_output=True, text=True)
            if found.returncode != 0:
                pytest.fail(found.stderr, pytrace=False)
    return True
