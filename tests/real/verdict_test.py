#!/usr/bin/env python3
"""What the verdict of a dry run says of real programs whose sizes or course depend on values, and of a plain one.

    tests/real/verdict_test.py HBMSCOPE PYTHON torch|jax
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Program -> reads as (kind, operation, times), optimizer steps, doubts. What can be known is known: PyTorch's flags, counts and masks.
EXPECTED = {
    "torch": {
        "gpt": ([("value", "item", 10)], 10, ["values"]),
        "experts": ([("size", "nonzero", 12)], 3, ["sizes"]),
        "stops_early": ([("value", "item", 100)], 100, ["values"]),
        "generates": ([("value", "item", 20)], 0, ["values"]),
        "resets": ([], 0, []),
        "scales": ([], 3, []),
        "infers": ([], 0, []),
        "trains_by_flag": ([], 1, []),
        "overwrites": ([("value", "item", 1)], 0, ["values"]),
    },
    "jax": {
        "trains": ([("value", "float", 6)], None, ["values"]),
        "routes": ([("size", "nonzero", 1)], None, ["sizes"]),
        "computes": ([], None, []),
    },
}
GIB = 1 << 30
# Their requests are the same without values: of PyTorch in order, size and address.
SAME = {"torch": ("gpt", "resets", "infers"), "jax": ("trains", "computes")}


def run(hbmscope, python, options, *words):
    with tempfile.TemporaryDirectory() as folder:
        command = [hbmscope, "run", "--no-flight", "--no-window", "--record", f"{folder}/values.hbm", *(options if "--emulate" in options else ["--emulate", "h100", *options]), "--", python, *words]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith(("requests ", "ranks "))]


def check_values(hbmscope, python, framework):
    script = HERE / f"values_{framework}.py"
    run(hbmscope, python, [], script, "values")
    if framework == "torch":
        assert len(run(hbmscope, python, ["--emulate", "h100:3"], "-m", "torch.distributed.run", "--nproc-per-node", "3", HERE / "ranks_torch.py")) == 3
    for program in SAME[framework]:
        [known], [zeros] = (run(hbmscope, python, how, script, "requests", program) for how in ([], ["--values", "zeros"]))
        print(program, known)
        assert known == zeros, (program, known, zeros)


def check_lack_of_memory(hbmscope, python):
    """JAX raises it where a value is read: a program that reads none ends well, and yet doesn't fit."""
    with tempfile.TemporaryDirectory() as folder:
        for program, outcome in (("never_reads", "out of memory"), ("goes_on", "fits")):
            command = [hbmscope, "run", "--json", "--no-flight", "--no-window", "--emulate", "h100", "--record", f"{folder}/{program}.hbm", "--", python, HERE / "verdict_jax.py", program]
            verdict = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
            print(program, verdict["summary"], verdict["survived"], flush=True)
            assert verdict["outcome"] == outcome and bool(verdict["survived"]) == (outcome == "fits"), verdict


def line_of(source, sign):
    [number] = [number for number, line in enumerate(source.splitlines(), 1) if sign in line]
    return number


def main():
    hbmscope, python, framework = sys.argv[1:4]
    script = HERE / f"verdict_{framework}.py"
    with tempfile.TemporaryDirectory() as folder:
        for program, (reads, steps, doubts) in EXPECTED[framework].items():
            command = [hbmscope, "run", "--json", "--no-flight", "--no-window", "--emulate", "h100", "--record", f"{folder}/{program}.hbm", "--", python, script, program]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            verdict = json.loads(done.stdout)
            found = [(read["kind"], read["what"], read["count"]) for read in verdict["depends_on_values"]]
            print(program, found, verdict["training"], flush=True)
            assert verdict["outcome"] == "fits" and (found, verdict["doubts"]) == (reads, doubts), verdict
            assert verdict["training"]["optimizer_steps"] == steps, verdict["training"]
            for read in verdict["depends_on_values"]:
                if f"# {read['what']} of {program}" in script.read_text():
                    assert read["line"].endswith(f"{script.name}:{line_of(script.read_text(), '# %s of %s' % (read['what'], program))}"), read
            [device] = verdict["devices"]
            [use] = device["frameworks"]
            # Where nothing is reset, what was recorded is the framework's own statistic, to the byte.
            for words in [line.split() for line in done.stderr.splitlines() if line.startswith("pool ")]:
                assert [use["peak_in_use_bytes"], use["peak_pool_bytes"]][: len(words) - 1] == [int(word) for word in words[1:]], (use, words)
            for read in verdict["depends_on_values"]:
                if read["what"] == "nonzero":
                    assert 0 < read["assumed_least"] <= read["assumed_most"] < read["at_worst"] == (512 if framework == "torch" else 256), read
            assert program != "resets" or (use["peak_in_use_bytes"], use["peak_pool_bytes"]) == (GIB, GIB), use
    check_values(hbmscope, python, framework)
    if framework == "jax":
        check_lack_of_memory(hbmscope, python)


if __name__ == "__main__":
    main()
