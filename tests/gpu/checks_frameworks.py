"""Checks of what hbmscope records of JAX and PyTorch, against their own figures."""

import contextlib
import io
import json

from machine import JOBS, Missed, last_words
from verdict import MIB, Check

import pool_test  # of tests/real

OUTSIDE_MAX = 96 * MIB  # What libraries (cuBLAS, cuDNN) and modules take from the driver themselves.
POOL_ROUNDING = 512  # Of each block in a pool of the driver.
DRY_RUN_SHARE = 0.02
POINTS = 60
TORCH = {
    "default": {},
    "expandable": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
    "async": {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"},
}
JAX = {
    "default": {},
    "growing": {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    "platform": {"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"},
    "async": {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async"},
}


def train(machine, framework, name, settings, is_planted, *words):
    command = [machine.python(framework), JOBS / f"{framework}_train.py", *words]
    job, _, recording = machine.run_job(name, command, settings, extra={"JUDGE_PLANT": "1"} if is_planted else None)
    return job, recording


def torch_setting(setting):
    def run(machine, figures, is_planted):
        job, recording = train(machine, "torch", f"torch_{setting}", TORCH[setting], is_planted, "leave")
        device = machine.heap(recording)
        if setting == "async":  # Its blocks are the driver's. PyTorch has the driver's figure, which is rounded up.
            least = -POOL_ROUNDING * device["live_blocks"]
            figures.between("ours minus memory_allocated()", device["in_use_bytes"] - job["allocated"], least, OUTSIDE_MAX)
            return
        figures.between("ours minus memory_reserved()", device["in_use_bytes"] - job["reserved"], 0, OUTSIDE_MAX)
        pool = machine.heap(recording, "pool")
        figures.equal("in use", pool["in_use_bytes"], job["allocated"])
        figures.equal("peak", pool["peak_in_use_bytes"], job["peak_allocated"])
        figures.equal("pool", pool["pool_bytes"], job["reserved"])
        ours, theirs = machine.blocks(recording, pool["name"]), {address: size for address, size in job["blocks"]}
        figures.equal(f"blocks of {len(theirs)} that differ", len(set(ours.items()) ^ set(theirs.items())), 0)

    return run


def compare_with_jax(machine, figures, job, recording):
    stats = job["stats"]
    figures.true("JAX uses the device", job["platform"] in ("gpu", "cuda"), job["platform"])
    if stats:
        pool = machine.heap(recording, "pool")
        figures.equal("in use", pool["in_use_bytes"], stats["bytes_in_use"])
        if stats.get("pool_bytes"):
            figures.equal("peak", pool["peak_in_use_bytes"], stats["peak_bytes_in_use"])
            figures.equal("pool", pool["pool_bytes"], stats["pool_bytes"])
            figures.between("the driver's minus the pool's", machine.heap(recording)["in_use_bytes"] - stats["pool_bytes"], 0, OUTSIDE_MAX)
        blocks = machine.blocks(recording, pool["name"])
    else:  # JAX asks the driver for each array.
        heap = machine.heap(recording)
        least = sum(size for _, size in job["arrays"])
        figures.between("ours minus the arrays' bytes", heap["in_use_bytes"] - least, 0, OUTSIDE_MAX)
        blocks = machine.driver_memory(recording, heap["name"])
    figures.equal(f"arrays of {len(job['arrays'])} without a block", sum(blocks.get(address, -1) < size for address, size in job["arrays"]), 0)


def jax_setting(setting):
    def run(machine, figures, is_planted):
        job, recording = train(machine, "jax", f"jax_{setting}", JAX[setting], is_planted, "leave")
        compare_with_jax(machine, figures, job, recording)

    return run


def jax_async_freed(machine, figures, is_planted):
    """The driver's pool keeps freed memory; in use is what has not been freed."""
    job, recording = train(machine, "jax", "jax_async_freed", JAX["async"], is_planted, "free", "leave")
    compare_with_jax(machine, figures, job, recording)
    figures.at_most("in use after everything has been freed", machine.heap(recording)["in_use_bytes"], MIB)


def pool(framework):
    """The test of tests/real, with fewer points: each point is compared for bytes, allocations and arrays."""

    def run(machine, figures, is_planted):
        folder = machine.folder / f"pool_{framework}"
        folder.mkdir()
        command = [machine.python(framework), pool_test.HERE / f"pool_{framework}.py", POINTS, "threads"]
        # run_job reads a last line, which this job does not print.
        recording = machine.folder / f"pool_{framework}.hbm"
        command = [machine.hbmscope, "run", "--no-window", "--no-flight", "--record", recording, "--", *command]
        done = machine.processes.run(command, machine.environment({"POOL_MARKS": str(folder), "XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"}), 120)
        if done.code != 0:
            raise Missed(f"the job's exit code is {done.code}: {last_words(done.errors)}")
        machine.recordings[f"pool_{framework}"] = recording
        marks = pool_test.read_marks(folder)
        if is_planted:
            marks[POINTS // 2]["in_use"]["0"] += 1
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            is_equal = pool_test.compare(marks, pool_test.events_of(machine.hbmscope, recording), None)
        lines = said.getvalue().splitlines()
        figures.true("quiet points", is_equal, lines[-1] if is_equal else f"{lines[0]}; {lines[-1]}")
        figures.equal("points", len(marks), POINTS)

    return run


def out_of_memory(framework):
    """The job catches the error and goes on. The flight folder has the size of the request, and the recording its line."""

    def run(machine, figures, is_planted):
        name = f"oom_{framework}"
        flights = machine.folder / f"flights_{framework}"
        options = ["--no-flight"] if is_planted else ["--flight", flights]
        command = [machine.python(framework), JOBS / "out_of_memory.py", framework]
        job, _, recording = machine.run_job(name, command, {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"}, options)
        figures.true("the job ran out of memory and went on", "out of memory" in job["error"].lower(), job["error"][:80])
        folders = sorted(flights.glob("*")) if flights.exists() else []
        figures.equal("flight folders", len(folders), 1)
        if folders:
            names = {file.name for file in folders[0].iterdir()}
            figures.true("files", {"what_happened.txt", "recording.hbm"} <= names, ", ".join(sorted(names))[:150])
            said = (folders[0] / "what_happened.txt").read_text()
            figures.true("what_happened.txt", "ran out of memory: it requested 512 MiB" in said, (said.splitlines() or [""])[1][:160])
        failures = machine.read("report", recording)["failures"]
        lines = [one["own_line"] or "unknown" for one in failures if one["asked_bytes"] == 1 << 29]
        figures.true("line of the request", any("out_of_memory.py:" in line for line in lines), ", ".join(lines)[-160:] or "no failure is recorded")

    return run


def dry_run(framework):
    """The same program, really run and as hbmscope run --emulate predicts it: the most that its pool has in use."""

    def run(machine, figures, is_planted):
        full, settings = machine.full_program(), TORCH["default"] if framework == "torch" else JAX["default"]
        python, script = machine.python(framework), JOBS / f"{framework}_train.py"
        _, _, recording = machine.run_job(f"dry_run_{framework}", [python, script], settings)
        measured = machine.heap(recording, "pool")["peak_in_use_bytes"]
        command = [full, "run", "--emulate", machine.emulated_name(), "--device-bytes", str(machine.facts["total_bytes"]), "--json", "--no-window", "--no-flight"]
        environment = {**machine.plain_environment(), **settings, **({"JUDGE_BATCH": "4096"} if is_planted else {})}
        done = machine.processes.run([*command, "--record", machine.folder / f"dry_{framework}.hbm", "--", python, script], environment, 120)
        if not done.output.startswith("{"):
            raise Missed(f"hbmscope run --emulate: {last_words(done.errors)}")
        verdict = json.loads(done.output)
        figures.true("outcome", verdict["outcome"] == "fits", verdict["outcome"])
        frameworks = [one for device in verdict["devices"] for one in device["frameworks"]]
        predicted = frameworks[0]["peak_in_use_bytes"] if frameworks else 0
        figures.at_most(f"peak: {predicted} B predicted, {measured} B measured, difference", abs(predicted / measured - 1), DRY_RUN_SHARE)

    return run


AFTER = "the job frees after it has reported"
CHECKS = [
    *(Check(f"torch_{one}", "memory_allocated(), memory_reserved(), memory_snapshot()", f"blocks and sums equal; the driver's 0 to {OUTSIDE_MAX // MIB} MiB above", AFTER, torch_setting(one)) for one in TORCH),
    *(Check(f"jax_{one}", "memory_stats(), addresses of the arrays", f"sums equal, a block for each array; the driver's 0 to {OUTSIDE_MAX // MIB} MiB above", AFTER, jax_setting(one)) for one in JAX),
    Check("jax_async_freed", "memory_stats() after everything has been freed", "equal; at most 1 MiB in use", "the job keeps its arrays", jax_async_freed),
    *(Check(f"pool_{one}", f"memory_stats(), memory_snapshot() and arrays at {POINTS} quiet points, four threads", "equal to the byte", "the job reports one byte more at one point", pool(one)) for one in ("torch", "jax")),
    *(Check(f"oom_{one}", "an out-of-memory error that the job catches", "one flight folder; the size of the request and its line are right", "no flight folder is kept", out_of_memory(one)) for one in ("torch", "jax")),
    *(Check(f"dry_run_{one}", "the same program under hbmscope run --emulate", f"peak within {DRY_RUN_SHARE:.0%}", "the dry run has twice the batch", dry_run(one)) for one in ("torch", "jax")),
]
