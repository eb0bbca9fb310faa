#!/usr/bin/env python3
"""Texts of real frameworks that ran out of memory, in every way that logs are cut and prefixed.

    tests/real/log_texts.py HBMSCOPE EMULATED FOLDER [NAME ...]     FOLDER keeps the texts; NAME: environments of build/real

Every environment of build/real (or those that are named) runs out of memory on the emulated device, with several settings of its allocator. Its
output, whole, cut, with the prefixes of launchers, with colours, as lines of JSON and interleaved with another one's, is
then opened by hbmscope, and must give the framework's own figures, or say that they are unknown. The cause that it names must follow from them.
"""

import json
import os
import pathlib
import subprocess
import sys

from emulated import environment

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / "build" / "real"
SETTINGS = {
    "jax": [
        {},
        {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"},
        {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
        {"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"},
        {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async"},
    ],
    "torch": [
        {},
        {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
        {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64"},
    ],
}
SHAPES = ("scattered", "full")


def run(emulated, name, variables, shape):
    """What the job printed to stderr, and its own figures; None: it did not run out of memory."""
    given = environment(emulated)
    given.update(variables, HBMSCOPE_DEVICE_BYTES=str(4 << 30), HBMSCOPE_DEVICE_CONTEXT_BYTES=str(300 << 20))
    given.update(TF_CPP_MIN_LOG_LEVEL="0", TF_CPP_MAX_LOG_LEVEL="0")
    program = HERE / f"oom_{name.split('-')[0]}.py"
    try:
        done = subprocess.run(
            [ENVIRONMENTS / name / "bin" / "python", program, shape], env=given, capture_output=True, text=True, timeout=300
        )
    except subprocess.TimeoutExpired:
        return None, "took more than 300 s"
    try:
        figures = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return None, done.stderr
    return (figures if "asked" in figures else None), done.stderr


def variants(text):
    """Name -> the same text as logs have it, and whether everything is still in it."""
    lines = text.splitlines()
    yield "whole", text, True
    yield "windows", "\r\n".join(lines) + "\r\n", True
    yield "colours", "".join(f"\x1b[31m{line}\x1b[0m\n" for line in lines), True
    yield "torchrun", "".join(f"[rank0]: {line}\n" for line in lines), True
    yield "slurm", "".join(f"0: {line}\n" for line in lines), True
    yield "ray", "".join(f"(train pid=4711, ip=10.0.0.7) {line}\n" for line in lines), True
    yield "compose", "".join(f"worker-0  | {line}\n" for line in lines), True
    yield "json", "".join(json.dumps({"log": line + "\n", "stream": "stderr"}) + "\n" for line in lines), True
    yield "notebook", json.dumps({"cells": [{"outputs": [{"name": "stderr", "text": [line + "\n" for line in lines]}]}]}, indent=1), True
    yield "one string", json.dumps({"message": text}), True
    yield "two ranks", "".join(f"[rank0]: {line}\n[rank1]: {line}\n" for line in lines), True
    for part in (4, 2):
        yield f"first 1/{part}", "\n".join(lines[: len(lines) - len(lines) // part]) + "\n", False
        yield f"last 1/{part}", "\n".join(lines[len(lines) // part :]) + "\n", False


def report(hbmscope, text):
    done = subprocess.run([hbmscope, "report", "-", "--json"], input=text, capture_output=True, text=True)
    return json.loads(done.stdout)["failures"] if done.returncode == 0 else None


def is_close(ours, theirs, printed):
    """Whether a figure equals theirs, as exactly as a text with two decimals can say it."""
    return ours is None or abs(ours - theirs) <= (max(theirs * 0.006, 1) if printed else 0)


def true_causes(figures, is_jax):
    """What the framework's own figures at that moment leave as the cause; empty: they don't decide."""
    asked = figures["asked"]
    if not is_jax:
        unused = figures["pool"] - figures["used"]
        return {"too_big"} if asked > figures["available"] + unused else {"fragmentation", "cannot_grow"}
    statistics = figures["statistics"] or {}
    limit, used = statistics.get("bytes_limit"), statistics.get("bytes_in_use")
    if not limit or used is None or "pool_bytes" not in statistics:
        return set()
    if asked > limit:
        return {"too_big"}
    if asked <= statistics["pool_bytes"] - used:
        return {"fragmentation"}
    # What is free and what the limit leaves to grow can be enough together only.
    return {"pool_limit"} if asked > limit - used else {"cannot_grow"}


class Judge:
    def __init__(self):
        self.texts = self.figures = self.unknown = self.causes = self.unknown_causes = 0
        self.wrong = []

    def check_cause(self, where, row, causes):
        if row["verdict"] == "unknown":
            self.unknown_causes += 1
        elif row["verdict"] in causes:
            self.causes += 1
        elif causes:
            self.wrong.append(f"{where}: the cause is {row['verdict']}, the framework's figures say {sorted(causes)}")

    def check(self, where, row, key, theirs, printed=True):
        ours = row[key]
        if ours is None:
            self.unknown += 1
        elif is_close(ours, theirs, printed):
            self.figures += 1
        else:
            self.wrong.append(f"{where}: {key} is {ours}, the framework says {theirs}")

    def judge(self, where, failures, figures, is_whole, is_jax):
        self.texts += 1
        expected = 2 if where.endswith("two ranks") else 1
        if is_whole and (failures is None or len(failures) != expected):
            self.wrong.append(f"{where}: {len(failures or [])} failures instead of {expected}")
            return
        for row in failures or []:
            self.check(where, row, "asked_bytes", figures["asked"])
            self.check_cause(where, row, true_causes(figures, is_jax))
            if is_jax:
                statistics = figures["statistics"] or {}
                if statistics.get("bytes_in_use") and row["used_bytes"] is not None and row["pool_bytes"] is not None:
                    self.check(where, row, "used_bytes", statistics["bytes_in_use"])
                    if "pool_bytes" in statistics:
                        self.check(where, row, "pool_bytes", statistics["pool_bytes"])
            else:
                for key, name in (("used_bytes", "used"), ("pool_bytes", "pool"), ("available_bytes", "available")):
                    self.check(where, row, key, figures[name])


def main():
    hbmscope, emulated, kept, *names = sys.argv[1:]
    folder = pathlib.Path(kept)
    folder.mkdir(parents=True, exist_ok=True)
    judge = Judge()
    for name in names or sorted(path.name for path in ENVIRONMENTS.iterdir()):
        framework = name.split("-")[0]
        for variables in SETTINGS.get(framework, []):
            for shape in SHAPES:
                figures, text = run(emulated, name, variables, shape)
                setting = "_".join(variables.values()) or "default"
                if figures is None:
                    print(f"{name} {setting} {shape}: it did not run out of memory: {text.strip().splitlines()[-1:]}", flush=True)
                    continue
                before = judge.texts
                for variant, written, is_whole in variants(text):
                    where = f"{name} {setting} {shape} {variant}"
                    (folder / (where.replace(" ", "_").replace("/", "_") + ".log")).write_text(written)
                    judge.judge(where, report(hbmscope, written), figures, is_whole, framework == "jax")
                print(f"{name} {setting} {shape}: {judge.texts - before} texts", flush=True)
    for wrong in judge.wrong[:50]:
        print(wrong)
    print(
        f"{judge.texts} texts, {judge.figures} figures agree, {judge.unknown} are unknown; {judge.causes} causes agree, "
        f"{judge.unknown_causes} are unknown; {len(judge.wrong)} figures and causes are wrong"
    )
    return 1 if judge.wrong or judge.texts == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
