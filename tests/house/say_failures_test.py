#!/usr/bin/env python3
"""say_failures.py on a log as ctest leaves it."""

import pathlib
import subprocess
import sys
import tempfile

LOG = """"%s" start time: Nov 23 04:21 UTC
Output:
----------------------------------------------------------
%s<end of output>
Test time =   2.89 sec
"""


def said_of(failed, outputs):
    with tempfile.TemporaryDirectory() as build:
        folder = pathlib.Path(build, "Testing/Temporary")
        folder.mkdir(parents=True)
        (folder / "LastTest.log").write_text("".join(LOG % one for one in outputs.items()))
        if failed:
            (folder / "LastTestsFailed.log").write_text("".join(f"{at}:{name}\n" for at, name in enumerate(failed)))
        script = pathlib.Path(__file__).with_name("say_failures.py")
        return subprocess.run([sys.executable, script, build, "2"], capture_output=True, text=True, check=True).stdout


outputs = {"a.b": "one\n\ntwo\nthree\n", "good": "fine\n", "silent": "", "Suite.case": "x.cpp:7: Failure\n[  FAILED  ] Suite.case\n[==========] 1 test\n"}
assert said_of([], outputs) == ""
assert said_of(["a.b"], outputs) == "a.b said:\n  two\n  three\n"
assert said_of(["silent", "Suite.case"], outputs) == "silent said:\nSuite.case said:\n  x.cpp:7: Failure\n  [  FAILED  ] Suite.case\n"
assert said_of(["a.b"] * 6, outputs).endswith("and 2 more failed\n")
