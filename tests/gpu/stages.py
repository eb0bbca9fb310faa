#!/usr/bin/env python3
"""One stage of tests/gpu/run.sh; see the README. Jobs are scripts that print one JSON object at their end; each is run under hbmscope, and what
hbmscope recorded is written down beside what the framework, the driver and NVML say. Nothing is judged here: the figures are."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HBMSCOPE = str(Path(os.environ["HBMSCOPE_FILES"]) / "hbmscope")
OUT = Path(os.environ["OUT"])
JOB_SECONDS = 150

# The driver's figures for the device, from inside the job: in the framework's own context, the device's primary one.
DRIVER = """
import ctypes, json, os, sys, time
def device_used():
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, free, total = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t()
    code = cuda.cuDeviceGet(ctypes.byref(device), 0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    code = code or cuda.cuCtxPushCurrent_v2(context) or cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    return {"error": code} if code else {"free": free.value, "total": total.value}
def tell(**figures):
    print(json.dumps(figures), flush=True)
"""

JAX = (
    DRIVER
    + """
import jax, jax.numpy as jnp
step = jax.jit(lambda x: (x @ x) * 0.5)
xs = [jnp.ones((2048, 2048)) for _ in range(8)]
for _ in range(30): xs = [step(x) for x in xs]
jax.block_until_ready(xs)
if os.environ.get("STAGE_HOLDS"): print("holding", flush=True); time.sleep(float(os.environ["STAGE_HOLDS"]))
stats = jax.local_devices()[0].memory_stats() or {}
tell(device=str(jax.local_devices()[0]), stats={k: v for k, v in stats.items() if isinstance(v, int)}, driver=device_used())
"""
)

TORCH = (
    DRIVER
    + """
import torch
x = [torch.ones(2048, 2048, device="cuda") for _ in range(8)]
for _ in range(30): x = [(y @ y) * 0.5 for y in x]
torch.cuda.synchronize()
if os.environ.get("STAGE_HOLDS"): print("holding", flush=True); time.sleep(float(os.environ["STAGE_HOLDS"]))
tell(device=torch.cuda.get_device_name(), allocated=torch.cuda.memory_allocated(), reserved=torch.cuda.memory_reserved(), driver=device_used())
"""
)

# Kernels that the framework's own profiler sees: none means that something else holds CUPTI.
TORCH_PROFILED = (
    DRIVER
    + """
import torch
from torch.profiler import profile, ProfilerActivity
x = torch.ones(2048, 2048, device="cuda")
with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as p:
    for _ in range(10): x = (x @ x) * 0.5
    torch.cuda.synchronize()
tell(kernels=sum(1 for e in p.events() if "CUDA" in str(e.device_type)))
"""
)
JAX_PROFILED = (
    DRIVER
    + """
import glob, gzip, tempfile
import jax, jax.numpy as jnp
x = jnp.ones((2048, 2048)); step = jax.jit(lambda x: (x @ x) * 0.5)
folder = tempfile.mkdtemp()
with jax.profiler.trace(folder):
    for _ in range(10): x = step(x)
    x.block_until_ready()
[trace] = glob.glob(folder + "/**/*.trace.json.gz", recursive=True)
rows = json.load(gzip.open(trace))["traceEvents"]
streams = {(e["pid"], e["tid"]) for e in rows if e.get("name") == "thread_name" and "Stream" in e["args"]["name"]}
tell(kernels=sum(1 for e in rows if e.get("ph") == "X" and (e["pid"], e["tid"]) in streams))
"""
)

JAX_OOM = (
    DRIVER
    + """
import jax, jax.numpy as jnp
keep = []
try:
    while True: keep.append(jnp.ones((256, 1024, 1024)).block_until_ready())
except Exception as error:
    tell(error=str(error)[:300], held=len(keep))
"""
)
TORCH_OOM = (
    DRIVER
    + """
import torch
keep = []
try:
    while True: keep.append(torch.ones(256, 1024, 1024, device="cuda"))
except torch.OutOfMemoryError as error:
    tell(error=str(error)[:300], held=len(keep))
"""
)

SPEED = """
import time
begun, steps = time.perf_counter(), 0
while time.perf_counter() - begun < 10:
    run(); steps += 1
tell(steps_a_second=steps / (time.perf_counter() - begun))
"""
# Many small blocks that come and go, as far from the driver as the pool keeps them, and straight from the driver.
TORCH_SPEED = DRIVER + "import torch\ndef run():\n    x = [torch.empty(1000 + i, device='cuda') for i in range(200)]; torch.cuda.synchronize()\nrun()\n" + SPEED


def has(package):
    return subprocess.run([sys.executable, "-c", f"import {package}"], capture_output=True).returncode == 0


def last_object(text):
    for line in reversed(text.splitlines()):
        try:
            return json.loads(line)
        except ValueError:
            continue
    return None


def run_all_of(command, seconds, environment=None):
    """Exit code (None: it took too long), output, errors. What a command has started ends with it, so that no job that hangs holds the
    device's memory while the next one is measured."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=seconds)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        return None, "", ""
    finally:
        for signal_number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            try:
                os.killpg(process.pid, signal_number)
                process.wait(patience)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass


def ask(*words, seconds=60):
    code, output, errors = run_all_of([HBMSCOPE, *words, "--json"], seconds)
    return json.loads(output) if code == 0 else {"error": errors if code is not None else "it took too long"}


def nvml():
    return ask("ps")


class Stage:
    def __init__(self, name):
        self.folder = Path(tempfile.mkdtemp(prefix="hbmscope-gpu-"))
        self.rows = []
        self.name = name

    def environment(self, settings):
        return dict(os.environ, XDG_STATE_HOME=str(self.folder / "state"), **settings)

    def summary(self, recording):
        if not recording.exists():
            return None
        report = ask("report", str(recording), seconds=120)
        if "error" in report:
            return report
        keys = ("name", "kind", "layer", "device", "in_use_bytes", "peak_in_use_bytes", "live_blocks")
        return {
            "events": report["events"],
            "heaps": [{key: heap.get(key) for key in keys} for heap in report["heaps"]],
            "failures": report["failures"][:4],
            "bytes": recording.stat().st_size,
        }

    def run(self, what, script, settings=None, options=(), observed=True):
        recording = self.folder / f"{len(self.rows)}.hbm"
        command = [sys.executable, "-c", script]
        if observed:
            command = [HBMSCOPE, "run", "--no-window", "--record", str(recording), *options, "--", *command]
        begun = time.time()
        code, output, errors = run_all_of(command, JOB_SECONDS, self.environment(settings or {}))
        row = {"exit_code": code, "job": last_object(output), "said": errors[-1500:] if code is not None else "it took too long"}
        self.keep({"what": what, "settings": settings or {}, "options": list(options), **row, "seconds": time.time() - begun, "hbmscope": self.summary(recording)})

    def keep(self, row):
        """After each row, so that a stage that is cut off has left something."""
        self.rows.append(row)
        print(json.dumps({key: row[key] for key in ("what", "settings", "exit_code", "job") if key in row}), flush=True)
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / f"{self.name}.json").write_text(json.dumps({"stage": self.name, "nvml": nvml(), "rows": self.rows}, indent=1))

    def flights(self):
        return [
            {file.name: file.read_text()[-3000:] if file.suffix == ".txt" else file.stat().st_size for file in sorted(folder.iterdir())}
            for folder in sorted((self.folder / "state/hbmscope/flights").glob("*"))
        ]


def stage_jax(stage):
    stage.run("default: three quarters at once", JAX)
    stage.run("nothing ahead", JAX, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    stage.run("each block from the driver", JAX, {"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"})
    stage.run("the driver's pool", JAX, {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async"})
    stage.run("a fraction", JAX, {"XLA_CLIENT_MEM_FRACTION": ".3"})
    stage.run("without hbmscope", JAX, observed=False)


def stage_torch(stage):
    stage.run("default", TORCH)
    stage.run("expandable segments", TORCH, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    stage.run("the driver's pool", TORCH, {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})
    stage.run("no cache", TORCH, {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"})
    stage.run("without hbmscope", TORCH, observed=False)


def stage_profilers(stage):
    for package, script in (("torch", TORCH_PROFILED), ("jax", JAX_PROFILED)):
        if has(package):
            stage.run(f"{package}'s profiler alone", script, observed=False)
            for back_end in ("interpose", "cupti"):
                stage.run(f"{package}'s profiler beside {back_end}", script, options=("--backend", back_end))


def stage_oom(stage):
    if has("jax"):
        stage.run("jax", JAX_OOM, {"XLA_CLIENT_MEM_FRACTION": ".5"})
    if has("torch"):
        stage.run("torch", TORCH_OOM)
    stage.keep({"what": "flights", "flights": stage.flights()})


def stage_overhead(stage):
    settings = ({}, {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"})
    for turn in range(2):
        for setting in settings:
            for options in (None, (), ("--stacks", "none"), ("--backend", "cupti")):
                stage.run(f"turn {turn}", TORCH_SPEED, setting, options or (), observed=options is not None)


def stage_attach(stage):
    package, script = ("torch", TORCH) if has("torch") else ("jax", JAX)
    settings = {"STAGE_HOLDS": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    # By time: how long a step takes is the device's business.
    wait = "torch.cuda.synchronize()" if package == "torch" else "jax.block_until_ready(xs)"
    lines = script.splitlines()
    [at] = [number for number, line in enumerate(lines) if line.startswith("for _ in range(30):")]
    lines[at] = f'print("begun", flush=True); until = time.time() + 90\nwhile time.time() < until:{lines[at].split(":", 1)[1]}; {wait}'
    job = subprocess.Popen([sys.executable, "-c", "\n".join(lines)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=stage.environment(settings))
    job.stdout.readline()
    for turn in range(5):
        recording = stage.folder / f"attached-{turn}.hbm"
        words = [HBMSCOPE, "attach", str(job.pid), "--for", "3", "--record", str(recording)] + (["--no-cupti"] if turn == 4 else [])
        code, _, said = run_all_of(words, 60)
        _, totals, _ = run_all_of([HBMSCOPE, "watch", str(job.pid), "--totals", "--json", "--for", "0.5"], 60)
        stage.keep({"what": f"{package}, turn {turn}", "exit_code": code, "said": said[-1500:], "totals": last_object(totals),
                    "lives": job.poll() is None, "hbmscope": stage.summary(recording)})
    try:
        out, said = job.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        job.send_signal(signal.SIGINT)
        out, said = job.communicate()
    stage.keep({"what": "the job afterwards", "exit_code": job.returncode, "job": last_object(out), "said": said[-1500:]})


STAGES = {"jax": stage_jax, "torch": stage_torch, "profilers": stage_profilers, "oom": stage_oom, "overhead": stage_overhead, "attach": stage_attach}
NEEDS = {"jax": ["jax"], "torch": ["torch"], "overhead": ["torch"]}


def main():
    name = sys.argv[1]
    if name not in STAGES:
        sys.exit(f"there is no stage {name}: {', '.join(STAGES)}")
    wanted = NEEDS.get(name, ["jax", "torch"])
    if not any(has(package) for package in wanted):
        print(f"skipped {name}: this Python has no {' and no '.join(wanted)}")
        return
    STAGES[name](Stage(name))


if __name__ == "__main__":
    main()
