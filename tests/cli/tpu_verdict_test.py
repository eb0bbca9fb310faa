#!/usr/bin/env python3
"""`tpu run`, `tpu fit`, `report` and `explain` give one verdict: on all samples, and on a small workload for each way in which something can't run.

    tests/cli/tpu_verdict_test.py HBMSCOPE       from the root of the repository

Prints a line for each case: what is asked, what both answer (headline, JSON `fits`, exit code), and why. Each case states the
headline that it expects, so that both being wrong in the same way is found too.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
MIB, GIB = 2**20, 2**30
FITS, REFUSED, SKIPPED = "fits", "does not fit", "does not run in full"
faults = []


def array(mib, **more):
    """So many MiB in whole tiles."""
    return {"dtype": "f32", "shape": [mib, 512, 512], **more}


def program(arguments=("a",), out=None, temporaries=None, operations=None, **more):
    outputs = {"r": out} if out else {}
    writes = ["r"] if out else []
    return {"arguments": list(arguments), "outputs": outputs, "temporaries": temporaries or {},
            "operations": operations or [{"name": "op", "reads": list(arguments), "writes": writes}], **more}


def workload(arrays, programs, steps, generation="v5e", **more):
    return {"hbmscope_tpu_workload": 1, "generation": generation, "arrays": arrays, "programs": programs, "steps": steps, **more}


def temporary(**kind):
    """A program with one temporary, written by its first operation and read by its second."""
    return program(temporaries={"t": kind}, operations=[{"name": "make", "reads": ["a"], "writes": ["t"]}, {"name": "use", "reads": ["t"], "writes": []}])


def kernel(block_rows, scratch=(), **more):
    operand = {"name": "a", "dtype": "f32", "shape": [65536, 512], "block": [block_rows, 512], "index": ["i", 0], **more}
    return {"k": {"grid": {"i": 1}, "operands": [operand], "scratch": list(scratch)}}


def kernel_workload(block_rows=8, scratch=(), generation="v5e", **more):
    return workload({"a": {"dtype": "f32", "shape": [65536, 512]}},
                    {"p": program(operations=[{"name": "op", "pipeline": "k", "reads": ["a"], "writes": []}])},
                    [{"put": "a"}, {"run": "p"}], generation, pipelines=kernel(block_rows, scratch, **more))


SMALL = {"a": array(8), "b": array(8)}
RUN = [{"put": "a"}, {"run": "p"}]
# v5e has 15.75 GiB usable. `halves` leave no free block of 5 GiB in the middle.
HOLES = [{"put": "big", "as": f"big{i}"} for i in range(3)] + [{"free": "big1"}]

# name, workload, expected headline (None: the file is refused), a word of its reason
CASES = [
    ("everything fits", workload(SMALL, {"p": program()}, RUN), FITS, ""),
    ("a workload that runs no program", workload(SMALL, {}, [{"put": "a"}]), FITS, ""),
    ("arguments larger than HBM", workload({"a": array(17 * 1024)}, {"p": program()}, RUN), REFUSED, "over by"),
    ("arrays that fill HBM one by one", workload({"a": array(6 * 1024), "b": array(6 * 1024), "c": array(6 * 1024)}, {},
                                                [{"put": ["a", "b", "c"]}]), REFUSED, "over by"),
    ("temporaries larger than HBM, refused by the compiler", workload(SMALL, {"p": temporary(**array(17 * 1024))}, RUN), REFUSED, "temporaries 17.0 GiB"),
    ("outputs larger than HBM, refused by the compiler", workload({"a": array(8), "o": array(17 * 1024)}, {"p": program(out="o")}, RUN), REFUSED, "over by"),
    ("outputs for which no room is left at run time", workload({"a": array(8), "o": array(8 * 1024), "x": array(9 * 1024)}, {"p": program(out="o")},
                                                        [{"put": ["a", "x"]}, {"run": "p"}]), REFUSED, "is free: over by"),
    ("a program's reserved memory, for which no room is left", workload({"a": array(8), "x": array(9 * 1024)}, {"p": temporary(**array(8 * 1024))},
                                                            [{"put": ["a", "x"]}, {"run": "p"}]), REFUSED, "reserved below all buffers"),
    ("code larger than what is left", workload(SMALL, {"p": program(code_bytes=17 * GIB)}, RUN), REFUSED, "code 17.0 GiB"),
    ("SparseCore arrays and temporaries larger than HBM together",
     workload({"a": array(8), "s": {"dtype": "f32", "shape": [3_000_000_000, 8], "memory": "sparse_core"}},
              {"p": temporary(**array(10 * 1024)) | {"arguments": ["a", "s"]}}, [{"put": ["a", "s"]}, {"run": "p"}], "v5p"), REFUSED, "temporaries 10.0 GiB"),
    ("temporaries in VMEM larger than VMEM", workload(SMALL, {"p": temporary(**array(130, memory="vmem"))}, RUN), REFUSED, "of VMEM"),
    ("temporaries in CMEM larger than CMEM", workload(SMALL, {"p": temporary(**array(130, memory="cmem"))}, RUN, "v4"), REFUSED, "of CMEM"),
    ("a kernel's blocks over its limit of VMEM", kernel_workload(8192), REFUSED, "the limit for a kernel is"),
    ("a kernel's scratch in VMEM over its limit", kernel_workload(scratch=[{"name": "s", "dtype": "f32", "shape": [4608, 1024]}]), REFUSED, "of VMEM"),
    ("a kernel's scratch larger than SMEM", kernel_workload(scratch=[{"name": "s", "dtype": "s32", "shape": [1024, 512], "memory": "smem"}]), REFUSED, "of SMEM"),
    ("a kernel's scalars larger than SMEM", kernel_workload(65536, memory="smem", index=[0, 0]), REFUSED, "of SMEM"),
    ("a kernel's accumulators over those of tpu7x, which go to VMEM", kernel_workload(scratch=[{"name": "s", "dtype": "f32", "shape": [1024, 1024], "memory": "accumulator"}],
                                                                generation="tpu7x"), FITS, ""),
    ("a kernel's rows over a subcore's memory", kernel_workload(scratch=[{"name": "s", "dtype": "f32", "shape": [8192, 16], "memory": "tile_spmem"}],
                                                               generation="v5p"), REFUSED, "TileSpmem"),
    ("fragmentation at run time, nothing may move", workload({"big": array(5 * 1024), "a": array(5 * 1024 + 512)}, {}, HOLES + [{"put": "a"}], defragmentation=False),
     REFUSED, "largest free block"),
    ("the same where buffers may move", workload({"big": array(5 * 1024), "a": array(5 * 1024 + 512)}, {}, HOLES + [{"put": "a"}]), FITS, ""),
    ("fragmentation below, where programs are reserved", workload({"big": array(5 * 1024), "a": array(8)}, {"p": temporary(**array(5 * 1024 + 512))},
                                                        HOLES + [{"put": "a"}, {"run": "p"}], defragmentation=False), REFUSED, "largest free block"),
    ("an argument that was freed", workload(SMALL, {"p": program()}, [{"put": "a"}, {"free": "a"}, {"run": "p"}]), SKIPPED, "was freed at step 1"),
    ("an argument that was donated to a run before", workload(SMALL, {"p": program(out="b", donate=["a"])}, [{"put": "a"}, {"run": "p"}, {"run": "p"}]), SKIPPED,
     "was donated at step 1"),
    ("an argument that was never put", workload(SMALL, {"p": program()}, [{"run": "p"}]), None, "was never put on the device"),
    ("an argument that was refused, and the job goes on", workload({"a": array(17 * 1024)}, {"p": program()}, [{"put": "a", "may_fail": True}, {"run": "p"}]), REFUSED,
     "was refused at step 0"),
    ("one of many requests refused, and the job goes on", workload({"a": array(17 * 1024), "b": array(8)}, {"p": program(("b",))},
                                                         [{"put": "a", "may_fail": True}, {"put": "b"}, {"run": "p"}]), REFUSED, "over by"),
    ("a program that the compiler refuses, and the job goes on", workload({"a": array(8), "b": array(8)}, {"p": temporary(**array(17 * 1024)), "q": program(("b",))},
                                                                [{"put": ["a", "b"]}, {"run": "p", "may_fail": True}, {"run": "q"}]), REFUSED, "over by"),
    ("a program that is too large, which no step runs", workload(SMALL, {"p": program(), "q": temporary(**array(17 * 1024))}, RUN), FITS, ""),
    ("refused on a GPU's pool only", workload({"big": array(5 * 1024), "a": array(5 * 1024 + 512)}, {}, HOLES + [{"put": "a"}], gpu=True), FITS, ""),
]


def ask_hbmscope(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def ask(*words):
    return ask_hbmscope("tpu", *words)


def headline_of_run(text):
    """Of the last paragraph: "fits: 2 runs ...", "does not fit:"."""
    found = re.findall(r"^(fits|does not fit|does not run in full)(?:: .*|:)$", text, flags=re.M)
    return found[-1] if found else "none"


def headline_of_fit(text):
    """Of the table's only row: "v5e  15.7 GiB  10.4 GiB  fits: 5.37 GiB to spare"."""
    found = re.findall(r"  (fits|does not fit|does not run in full|unknown): ", text)
    return found[0] if found else "none"


def compare(name, file, generation, expected, word):
    """Whether text, JSON and exit code of both commands agree, with each other and with what is expected."""
    run_code, run_text, run_error = ask("run", file, "--generation", generation)
    fit_code, fit_text, fit_error = ask("fit", file, "--generation", generation)
    if run_code or fit_code:
        agrees = run_code == fit_code and run_error == fit_error and expected is None and word in run_error
        print(f"{'ok  ' if agrees else 'FAIL'}  {name}: exit codes {run_code} and {fit_code}: {run_error.strip()}")
        if not agrees:
            faults.append(name)
            print(f"      run: {run_error}      fit: {fit_error}")
        return
    run = json.loads(ask("run", file, "--generation", generation, "--json")[1])
    fit = json.loads(ask("fit", file, "--generation", generation, "--json")[1])["programs"][0]["generations"][0]
    answers = {headline_of_run(run_text), headline_of_fit(fit_text), run["verdict"], fit["verdict"]}
    reasons = [reason["text"] for reason in run["reasons"]]
    agrees = (answers == {expected} and run["fits"] == fit["fits"] == (expected == FITS) and run["reasons"] == fit["reasons"]
              and run["fits"] == (not reasons) and (not word or any(word in reason for reason in reasons)))
    print(f"{'ok  ' if agrees else 'FAIL'}  {name}: {' / '.join(sorted(answers))}, fits {str(run['fits']).lower()} and {str(fit['fits']).lower()}, "
          f"exit codes {run_code} and {fit_code}{': ' + ' '.join(reasons[:2]) if reasons else ''}")
    if not agrees:
        faults.append(name)
        print(f"      expected {expected!r} with {word!r}; run: {run['verdict']}, {reasons}; fit: {fit['verdict']}, {fit['reasons']}, {fit['text']}")


def compare_readings(name, file):
    """Whether `report` and `explain` begin with what `tpu run` ends with, and have the same in JSON."""
    code, text, _ = ask("run", file)
    if code:
        return
    run = json.loads(ask("run", file, "--json")[1])
    keys = {key: run[key] for key in ("fits", "verdict", "sentence", "reasons")}
    for command in ("report", "explain"):
        first = ask_hbmscope(command, file)[1].splitlines()[0]
        reading = json.loads(ask_hbmscope(command, file, "--json")[1])["workload"]
        agrees = first == run["sentence"] and f"\n{first}\n" in text and reading == keys
        print(f"{'ok  ' if agrees else 'FAIL'}  {command} of {name}: {first}")
        if not agrees:
            faults.append(f"{command} of {name}")
            print(f"      run: {keys}; {command}: {reading}")


def main():
    generations = [row["name"] for row in json.loads(ask("generations", "--json")[1])["generations"] if row["hbm_usable_bytes"] is not None]
    samples = sorted(pathlib.Path("samples/tpu").glob("*.json"))
    for sample in samples:
        compare_readings(str(sample), str(sample))
        for generation in generations:
            code, text, _ = ask("run", str(sample), "--generation", generation, "--json")
            expected = json.loads(text)["verdict"] if code == 0 else None
            compare(f"{sample} on {generation}", str(sample), generation, expected, "")
        # With all generations at once, those that can't be emulated are unknown, and the others have the same verdict.
        rows = json.loads(ask("fit", str(sample), "--json")[1])["programs"][0]["generations"]
        for row in rows:
            alone, text, _ = ask("fit", str(sample), "--generation", row["generation"], "--json")
            same = row["fits"] is None if alone else json.loads(text)["programs"][0]["generations"][0]["fits"] == row["fits"]
            if not same:
                faults.append(f"{sample} on {row['generation']}, beside the others")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, each, expected, word) in enumerate(CASES):
            file = pathlib.Path(folder) / f"{number}.json"
            file.write_text(json.dumps(each))
            compare(name, str(file), each["generation"], expected, word)
            compare_readings(name, str(file))
        # A mesh with more devices than a topology: only `tpu fit` takes topologies.
        wide = pathlib.Path(folder) / "wide.json"
        wide.write_text(json.dumps(workload(SMALL, {"p": program()}, RUN, mesh={"x": 8})))
        row = json.loads(ask("fit", str(wide), "--topology", "v5e:2x2", "--json")[1])["programs"][0]["generations"][0]
        agrees = row["fits"] is False and row["verdict"] == REFUSED and "larger than the topology" in row["reasons"][0]["text"]
        print(f"{'ok  ' if agrees else 'FAIL'}  a mesh that is larger than the topology: {row['verdict']}: {row['reasons']}")
        if not agrees:
            faults.append("a mesh that is larger than the topology")
    print(f"{len(faults)} of {len(samples) * len(generations) + len(CASES) + 1} cases disagree: {', '.join(faults)}" if faults else
          f"all {len(samples) * len(generations) + len(CASES) + 1} cases agree")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
