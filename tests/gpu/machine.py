"""The machine that is judged: a GPU, or with --pretend the emulated CUDA device. Where the programs are, what a job's
environment is, and how commands run there."""

import csv
import json
import os
import sys
from pathlib import Path

from processes import Processes

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
JOBS = HERE / "jobs"
sys.path.insert(0, str(ROOT / "tests" / "real"))

import emulated  # noqa: E402 - of tests/real

PRETENDED_BYTES = 8 << 30


class NotJudged(Exception):
    """A check can't run here; the text says why."""


class Unusable(Exception):
    """Nothing at all can be judged here; the text says why."""


class Missed(Exception):
    """A job or hbmscope did not even get as far as a figure."""


class Machine:
    def __init__(self, folder, minutes, pretend, build):
        self.folder, self.pretend, self.build = folder, pretend, build
        self.processes = Processes(minutes)
        self.pythons = {name: os.environ.get(f"PYTHON_{name.upper()}") or os.environ.get("PYTHON", sys.executable) for name in ("jax", "torch")}
        self.recordings = {}  # Name -> file, for the check of pictures.
        self._has = {}
        self._full_fault = None

    def find(self):
        """The programs and the device."""
        built, files = self.build / "app" / "hbmscope", os.environ.get("HBMSCOPE_FILES")
        if not self.pretend and not files:
            raise Unusable("HBMSCOPE_FILES does not name the bundle; run.sh finds it.")
        if self.pretend and not (self.build / "emulated" / "lib").is_dir():
            raise Unusable(f"There is no emulated device in {self.build}: make build makes it.")
        self.hbmscope = built if self.pretend else Path(files) / "hbmscope"
        # The bundle for servers has no window and no emulated device.
        self.full = Path(os.environ.get("HBMSCOPE_FULL", built))
        version = self.processes.run([self.hbmscope, "--version"], self.plain_environment())
        if version.code != 0:
            raise Unusable(f"{self.hbmscope} does not run: {last_words(version.errors)}.")
        self.facts = {"hbmscope": version.output.strip(), **self._device()}

    def _device(self):
        if self.pretend:
            return {"device": "the emulated CUDA device", "driver": "emulated", "total_bytes": PRETENDED_BYTES}
        fields = "name,driver_version,memory.total"
        done = self.processes.run(["nvidia-smi", "-i", "0", f"--query-gpu={fields}", "--format=csv,noheader,nounits"], dict(os.environ))
        if done.code != 0:
            raise Unusable(f"nvidia-smi fails: {last_words(done.output + done.errors)}.")
        name, driver, total = [one.strip() for one in done.output.splitlines()[0].split(",")]
        return {"device": name, "driver": driver, "total_bytes": int(total) << 20}

    def plain_environment(self):
        state = {"XDG_STATE_HOME": str(self.folder / "state"), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**os.environ, **state}

    def environment(self, settings=None):
        """Of a job, and of the hbmscope that runs it."""
        if not self.pretend:
            return {**self.plain_environment(), **(settings or {})}
        device = {"COUNT": "1", "BYTES": str(PRETENDED_BYTES), "CONTEXT_BYTES": str(500 << 20)}
        return {
            **self.plain_environment(),
            **emulated.environment(self.build / "emulated"),
            **{f"HBMSCOPE_DEVICE_{name}": value for name, value in device.items()},
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XLA_FLAGS": "--xla_gpu_autotune_level=0",
            "JAX_PLATFORMS": "cuda,cpu",
            **(settings or {}),
        }

    def python(self, framework=None):
        """The Python that has the framework."""
        if framework is None:
            return sys.executable
        python = self.pythons[framework]
        if framework not in self._has:
            self._has[framework] = self.processes.run([python, "-c", f"import {framework}"], self.environment()).code == 0
        if not self._has[framework]:
            raise NotJudged(f"{python} has no {framework} (PYTHON_{framework.upper()} names another Python)")
        return python

    def full_program(self):
        if self._full_fault is None:
            done = self.processes.run([self.full, "--version"], self.plain_environment())
            self._full_fault = last_words(done.errors) if done.code != 0 else ""
        if self._full_fault:
            raise NotJudged(f"it needs the built program with its window and emulated device (HBMSCOPE_FULL): {self._full_fault}")
        return self.full

    def run_job(self, name, command, settings=None, options=(), observed=True, seconds=90, extra=None):
        """Runs a job under hbmscope, or alone. Returns what it printed as its last line, what was said, the recording."""
        recording = self.folder / f"{name}.hbm"
        if observed:
            command = [self.hbmscope, "run", "--no-window", "--record", recording, *(options or ["--no-flight"]), "--", *command]
        done = self.processes.run(command, {**self.environment(settings), **(extra or {})}, seconds)
        if done.code != 0:
            raise Missed(f"the job took longer than {seconds} s" if done.code is None else f"the job's exit code is {done.code}: {last_words(done.errors)}")
        if recording.exists():
            self.recordings[name] = recording
        return last_object(done.output), done, recording

    def read(self, *words):
        """What an hbmscope command prints as JSON."""
        done = self.processes.run([self.hbmscope, *words, "--json"], self.plain_environment(), 60)
        if done.code != 0:
            raise Missed(f"hbmscope {words[0]}: {last_words(done.errors)}")
        return json.loads(done.output)

    def heap(self, recording, layer="physical"):
        """The heap of the device's memory at the end of a recording: the driver's, or with layer="pool" the framework's."""
        report = self.read("report", recording)
        if report["events"]["lost"]:
            raise Missed(f"{report['events']['lost']} events were lost")
        found = [heap for heap in report["heaps"] if heap["layer"] == layer and heap["kind"] == "device"]
        if len(found) != 1:
            raise Missed(f"{len(found)} heaps of layer {layer} were recorded, not 1")
        return found[0]

    def blocks(self, recording, heap):
        """Address -> bytes, at the end."""
        rows = self.read("report", recording, "--blocks", "0", "--where", f'heap:"{heap}"')["blocks"]["rows"]
        return {int(row["address"], 0): row["size_bytes"] for row in rows if row["heap"] == heap}

    def events(self, recording):
        """Rows of CSV, in the order in which they happened."""
        output = recording.with_suffix(".csv")
        words = ["export", recording, "--to", "csv", "--what", "events", "-o", output]
        done = self.processes.run([self.hbmscope, *words], self.plain_environment(), 60)
        if done.code != 0:
            raise Missed(f"hbmscope export: {last_words(done.errors)}")
        with open(output, newline="") as file:
            return list(csv.DictReader(file))

    def driver_memory(self, recording, heap):
        """Address -> bytes, of the driver's blocks and of what is mapped, at the end."""
        found = {}
        for row in self.events(recording):
            if row["heap"] == heap and row["kind"] in ("alloc", "map"):
                found[int(row["address"], 0)] = int(row["size_bytes"])
            elif row["heap"] == heap and row["kind"] in ("free", "unmap"):
                found.pop(int(row["address"], 0), None)
        return found

    def emulated_name(self):
        """The device of `hbmscope emulate` that is most like this one."""
        done = self.processes.run([self.full_program(), "emulate", "--json"], self.plain_environment())
        if done.code != 0:
            raise Missed(f"hbmscope emulate: {last_words(done.errors)}")
        named = [one for one in json.loads(done.output)["devices"] if one["name"].split("-")[0] in self.facts["device"].lower()]
        return min(named, key=lambda one: abs(one["total_bytes"] - self.facts["total_bytes"]))["name"] if named else "h100"

    def free_bytes(self):
        """Of the device, as a process sees it that has taken nothing but its context."""
        done = self.processes.run([sys.executable, JOBS / "free.py"], self.environment())
        if done.code != 0:
            raise Unusable(f"The CUDA driver does not work: {last_words(done.errors)}.")
        return last_object(done.output)["free"]


def last_object(text):
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise Missed("the job reported nothing")


def last_words(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "without a message"
