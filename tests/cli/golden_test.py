#!/usr/bin/env python3
"""Golden tests of the commands: a command line and all that it prints.

    golden_test.py PROGRAM              compares
    golden_test.py PROGRAM --rewrite    writes what the program prints now; a person reads the difference

A case is a file golden/NAME.txt that begins with "$ hbmscope ..." lines (run by a shell in the repository's root, where
`hbmscope` is PROGRAM and $OUT an empty folder), then, for each, what came: stdout, stderr, the exit code.
"""
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run(command, program, out):
    """The case's text for one command."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "hbmscope").symlink_to(program)
        environment = {"PATH": f"{folder}:{os.environ['PATH']}", "OUT": out, "LC_ALL": "C.UTF-8", "HOME": out}
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=ROOT, env=environment,
                              capture_output=True, timeout=120)
    parts = []
    for name, text in (("stdout", done.stdout), ("stderr", done.stderr)):
        text = text.decode("utf-8", "backslashreplace").replace("\r", "\\r").replace(out, "$OUT")
        if text:
            parts.append(f"--- {name}\n{text}" + ("" if text.endswith("\n") else "\n(no newline at the end)\n"))
    return f"$ {command}\n" + "".join(parts) + f"--- exit {done.returncode}\n"


def commands_of(case):
    return [line[2:] for line in case.read_text(encoding="utf-8").splitlines() if line.startswith("$ ")]


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    rewrite = "--rewrite" in sys.argv[2:]
    cases = sorted((HERE / "golden").glob("*.txt"))
    if not cases:
        sys.exit("no cases found")
    failed = 0
    for case in cases:
        with tempfile.TemporaryDirectory() as out:
            now = "\n".join(run(command, program, out) for command in commands_of(case))
        expected = case.read_text(encoding="utf-8")
        if now == expected:
            continue
        if rewrite:
            case.write_text(now, encoding="utf-8")
            print(f"rewritten: {case.name}")
            continue
        failed += 1
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), now.splitlines(True),
                                                   f"{case.name} (expected)", f"{case.name} (now)"))
    if failed:
        sys.exit(f"{failed} of {len(cases)} cases differ; --rewrite accepts what is printed now")
    print(f"{len(cases)} cases agree")


main()
