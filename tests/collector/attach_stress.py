#!/usr/bin/env python3
"""hbmscope attach, again and again, to programs that are busy in different ways, some of the time killed in the middle:
each program goes on, ends as it would have, and prints what it would have printed.

    attach_stress.py HBMSCOPE ATTACH_TARGET [--count 200] [--kill] [--only malloc,python] [--python "chroot DIR python3"]

A program of Python is attached to too, and one of JAX where JAX is installed (on the CPU).
"""

import argparse
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import own_children  # noqa: F401 - what an exception leaves running is killed
from attaching import MAY_ATTACH, WHY_NOT

PYTHON = """
import signal
ended = []
signal.signal(signal.SIGUSR2, lambda *_: ended.append(1))
wanted = sum(i * i % 7 for i in range(20000))
print("begun", flush=True)
wrong = 0
while not ended:
    wrong += sum(i * i % 7 for i in range(20000)) != wanted
print("python:", wrong, "wrong")
"""
JAX = """
import signal
import jax, jax.numpy as jnp
ended = []
signal.signal(signal.SIGUSR2, lambda *_: ended.append(1))
step = jax.jit(lambda x: jnp.tanh(x @ x).sum())
x = jnp.ones((256, 256)) / 256
wanted = float(step(x))
print("begun", flush=True)
wrong = 0
while not ended:
    wrong += float(step(x)) != wanted
print("jax:", wrong, "wrong")
"""


def programs(target, python):
    for kind in ("malloc", "loop", "sleep", "doze", "receive", "signals", "pressure", "annotated"):
        yield kind, [target, kind, "3600"]
    yield "python", [*python, "-c", PYTHON]
    if subprocess.run([*python, "-c", "import jax"], capture_output=True).returncode == 0:
        yield "jax", [*python, "-c", JAX]


def is_held(process):
    for status in Path(f"/proc/{process.pid}/task").glob("*/status"):
        try:
            text = status.read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # The thread has ended since it was listed: ours does as soon as it has no observer.
        if "TracerPid:\t0" not in text or "(stopped)" in text or "(tracing stop)" in text:
            return True
    return False


def attach_once(hbmscope, process, folder, environment, kills):
    command = [hbmscope, "attach", str(process.pid), "--record", str(folder / "a.hbm"), "--for", "0.02", "--no-window"]
    attaching = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    if kills:
        time.sleep(random.uniform(0, 0.12))
        attaching.send_signal(signal.SIGKILL)
    said = attaching.communicate(timeout=60)[1]
    return attaching.returncode, said


def stress(name, command, hbmscope, count, kills, folder):
    environment = dict(os.environ, XDG_RUNTIME_DIR=str(folder), JAX_PLATFORMS="cpu")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout.readline() == "begun\n"
    done, refused, took = 0, [], []
    for _ in range(count):
        begun = time.monotonic()
        code, said = attach_once(hbmscope, process, folder, environment, kills)
        took.append(time.monotonic() - begun)
        if code == 0:
            done += 1
        elif code > 0:
            refused.append(said.strip())
        if process.poll() is not None:
            break
    deadline = time.monotonic() + 2
    while process.poll() is None and is_held(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    held = process.poll() is None and is_held(process)
    if process.poll() is None:
        process.send_signal(signal.SIGUSR2)
    out = process.communicate(timeout=60)[0].strip()
    took.sort()
    is_good = out == f"{name}: 0 wrong" and process.returncode == 0 and not held
    if not kills:
        is_good = is_good and done == count
    print(f"{name:10} {done} of {count} attached, {len(refused)} refused, median {took[len(took) // 2] * 1e3:.0f} ms, "
          f"longest {took[-1] * 1e3:.0f} ms; {'as undisturbed' if is_good else f'WRONG: {out!r} {process.returncode} {held}'}")
    for said in sorted(set(refused))[:3]:
        print("          ", said)
    return is_good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hbmscope")
    parser.add_argument("target")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--kill", action="store_true", help="kill -9 it at a random moment")
    parser.add_argument("--only", default="")
    parser.add_argument("--python", default=sys.executable, help="how Python is started: a command")
    given = parser.parse_args()
    if not MAY_ATTACH:
        print("skipped:", WHY_NOT)
        return
    wanted = given.only.split(",") if given.only else None
    with tempfile.TemporaryDirectory() as folder:
        results = [stress(name, command, given.hbmscope, given.count, given.kill, Path(folder))
                   for name, command in programs(given.target, shlex.split(given.python)) if wanted is None or name in wanted]
    sys.exit(0 if results and all(results) else 1)


main()
