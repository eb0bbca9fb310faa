"""Checks of what hbmscope records of the driver's calls, by jobs that call the driver themselves and know their bytes."""

import json
import re
import sys

from machine import JOBS, ROOT, Missed, NotJudged
from verdict import MIB, Check

DRIVER_EXTRA = 36 * MIB  # What the driver adds to requests, by rounding them up and in its own structures.
KNOWN_LEAST = 0.5  # Of all look-ups: a driver of CUDA 12 does not have what came with 13.
BY_INTERPOSITION, BY_CUPTI = "recorded by interposition, which leaves CUPTI to the job", "recorded with CUPTI ("
HELD_S, STEPS = 2.2, 4
LATE_S = 1.5  # NVML is queried once a second.


def resolve(machine, figures, is_planted):
    table = (ROOT / "collector" / "inject" / "driver_entries.inc").read_text()
    names = re.findall(r"^(?:ALLOCATES|FREES|REFUSES|RUNS|RESOLVES)\((cu\w+), (\d+)", table, re.MULTILINE)
    words = [f"{name},{since}" for name, since in names]
    job, _, _ = machine.run_job("resolve", [sys.executable, JOBS / "resolve.py", *words], observed=not is_planted)
    figures.at_least(f"{job['found']} look-ups of {len(names)} names succeed: share", job["found"] / (2 * len(names)), KNOWN_LEAST)
    figures.equal("of these not in hbmscope's library" + "".join(f" ({one})" for one in job["elsewhere"][:1]), len(job["elsewhere"]), 0)


def driver(machine, figures, back_end, said, others, environment=None):
    """`others` must not be said: for example that CUPTI has been lost on the way."""
    job, done, recording = machine.run_job(f"driver_{back_end}", [sys.executable, JOBS / "blocks.py"], options=["--no-flight", "--backend", back_end], extra=environment)
    lines = [line for line in done.errors.splitlines() if "are recorded " in line]
    figures.true("back end", said in done.errors and others not in done.errors, lines[-1].removeprefix("hbmscope: ").removeprefix("CUDA driver calls are recorded ")[:60] if lines else "none was named")
    heap = machine.heap(recording)
    figures.equal("in use", heap["in_use_bytes"], job["in_use"])
    figures.equal("peak", heap["peak_in_use_bytes"], job["peak"])
    figures.equal("blocks", heap["live_blocks"], job["blocks"])
    figures.between("cuMemGetInfo minus ours", job["driver"] - heap["in_use_bytes"], 0, DRIVER_EXTRA)


def driver_interpose(machine, figures, is_planted):
    driver(machine, figures, "cupti" if is_planted else "interpose", BY_INTERPOSITION, BY_CUPTI)


def driver_cupti(machine, figures, is_planted):
    """The emulated device has no CUPTI that reports calls; the tests of the collector have one, with a driver of theirs."""
    environment = None
    if machine.pretend:
        tests = machine.build / "tests" / "collector"
        if not (tests / "fake_cupti" / "12").exists():
            raise NotJudged(f"it needs the simulated CUPTI of tests/collector: {tests / 'fake_cupti'} is missing")
        paths = [tests / "emulated_driver" / "bound"] + ([] if is_planted else [tests / "fake_cupti" / "12"])
        environment = {"LD_PRELOAD": "", "LD_LIBRARY_PATH": ":".join(map(str, paths)), "HBMSCOPE_DEVICE_CUDA": "12090", "PYTHONPATH": ""}
    driver(machine, figures, "cupti", BY_CUPTI, "by interposition", environment)


def two_processes(machine, figures, is_planted):
    options = ["--no-flight", "--no-follow"] if is_planted else ["--no-flight"]
    _, done, recording = machine.run_job("two_processes", [sys.executable, JOBS / "blocks.py", "twice"], options=options)
    jobs = [json.loads(line) for line in done.output.splitlines() if line.startswith("{")]
    if not recording.exists():
        raise Missed("nothing was recorded")
    heaps = [heap for heap in machine.read("report", recording)["heaps"] if heap["layer"] == "physical" and heap["kind"] == "device"]
    figures.equal("processes with a heap", len(heaps), 2)
    for number, (heap, job) in enumerate(zip(heaps, jobs)):
        figures.equal(f"process {number}: in use", heap["in_use_bytes"], job["in_use"])
        figures.equal(f"process {number}: peak", heap["peak_in_use_bytes"], job["peak"])


def nvml(machine, figures, is_planted):
    """NVML's figure minus ours is what the driver takes for itself: the same at every step."""
    extra = {}
    if machine.pretend:  # NVML is simulated: the job says what the driver has handed out to it.
        library = machine.build / "tests" / "collector" / "fake_nvml" / "libnvidia-ml.so.1"
        if not library.exists():
            raise NotJudged(f"it needs the simulated NVML of tests/collector: {library} is missing")
        extra = {"FAKE_NVML": str(machine.folder / "nvml"), "LD_PRELOAD": f"{library}:{machine.environment()['LD_PRELOAD']}"}
        (machine.folder / "nvml").write_text(f"device {machine.facts['total_bytes']} 0 emulated\n")
    if is_planted:
        extra["JUDGE_PLANT"] = "1"
    _, _, recording = machine.run_job("nvml", [sys.executable, JOBS / "steps.py", str(STEPS), str(HELD_S)], extra=extra)
    differences, delays_s, whose = compare_steps(machine.events(recording))
    if not differences:
        raise NotJudged("NVML reports nothing of the device")
    figures.equal("steps", len(differences), STEPS)
    figures.at_most(f"NVML's bytes {whose} minus ours, largest minus smallest", max(differences) - min(differences), DRIVER_EXTRA)
    figures.at_least("smallest", min(differences), 0)
    figures.at_most("seconds until NVML's figure is recorded", max(delays_s), LATE_S)


def compare_steps(rows):
    """At the end of each step: NVML's figure minus ours. A figure is recorded when it changes."""
    # In a container NVML may know the process by another number: then the device's figure serves, if nobody else uses it.
    whose = "of the process" if any("this process" in row["text"] for row in rows) else "of the device"
    name = "this process" if whose == "of the process" else "all processes"
    in_use, begun_ns, value, value_ns, differences, delays_s = 0, 0, None, 0, [], []

    def end_step():
        if in_use and value is not None:
            differences.append(value - in_use)
            delays_s.append(max(0, value_ns - begun_ns) / 1e9)

    for row in rows:
        if row["kind"] == "counter" and name in row["text"]:
            value, value_ns = int(row["value"]), int(row["since_start_ns"])
        elif row["kind"] == "alloc" and row["heap"] == "GPU 0 memory":
            end_step()
            in_use, begun_ns = in_use + int(row["size_bytes"]), int(row["since_start_ns"])
    end_step()
    return differences, delays_s, whose


CHECKS = [
    Check("resolve", "the driver's own names, by dlsym and cuGetProcAddress", "all are hbmscope's", "the library is not preloaded", resolve),
    Check("driver_interpose", "a job that knows its bytes; cuMemGetInfo", f"equal; 0 to {DRIVER_EXTRA // MIB} MiB above ours", "the other back end", driver_interpose),
    Check("driver_cupti", "a job that knows its bytes; cuMemGetInfo", f"equal; 0 to {DRIVER_EXTRA // MIB} MiB above ours", "there is no CUPTI", driver_cupti),
    Check("two_processes", "two jobs on one device that know their bytes", "equal", "child processes are not followed", two_processes),
    Check("nvml", "NVML's figure of the process, at the end of each step", f"minus ours: 0 or more, the same within {DRIVER_EXTRA // MIB} MiB; recorded within {LATE_S} s", "NVML's figure of the process stands still", nvml),
]
