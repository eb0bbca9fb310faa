#!/usr/bin/env python3
"""hbmscope run --emulate v5e:2x2, with a pretend libtpu and a job that calls the plugin as JAX does.

    dry_run_test.py HBMSCOPE LIBTPU JOB
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

hbmscope, libtpu, job = sys.argv[1:]
MIB = 1 << 20
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def packages(folder, **versions):
    """What pip would have installed, as far as hbmscope looks at it."""
    for name, version in versions.items():
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if "libtpu" in versions:
        (folder / "libtpu").mkdir()
        (folder / "libtpu" / "__init__.py").write_text("")
        (folder / "libtpu" / "libtpu.so").symlink_to(libtpu)
    return folder


def run(folder, *words, steps=3, rows=2048, reads=0, emulate="v5e:2x2"):
    script = folder / "train.py"
    script.write_text(f"import os\nos.execv({job!r}, [{job!r}, '{steps}', '{rows}', '{reads}'])\n")
    given = dict(os.environ, PYTHONPATH=str(folder / "packages"), HBMSCOPE_TPU_CACHE=str(folder / "cache"), XDG_STATE_HOME=str(folder / "state"))
    given.pop("JAX_PLATFORMS", None)
    command = [hbmscope, "run", "--no-window", "--emulate", emulate, *words, "--", sys.executable, str(script)]
    return subprocess.run(command, env=given, cwd=folder, capture_output=True, text=True, timeout=120)


def test_fits(folder):
    packages(folder / "packages", jax="0.10.2", libtpu="0.0.51")
    done = run(folder, "--json", "--record", "r.hbm")
    check(done.returncode == 0, f"it ended with {done.returncode}: {done.stderr}")
    verdict = json.loads(done.stdout)
    device = verdict["devices"][0]
    # The state of 2 MiB, two arrays left behind, 64 MiB of temporaries and the code.
    expected = 2 * MIB + 2 * MIB + 64 * MIB + 1024
    check(verdict["outcome"] == "fits", f"outcome {verdict['outcome']}")
    check(verdict["device"] == "v5e" and verdict["device_count"] == 4, "another machine")
    check(device["tpu"]["program_bytes"] == 64 * MIB + 1024, f"program {device['tpu']}")
    check(device["peak_bytes"] == expected + MIB, f"peak {device['peak_bytes']}, expected {expected + MIB}")
    check(verdict["tpu"]["executions"] == 3 and verdict["tpu"]["differing_executions"] == 0, f"tpu {verdict['tpu']}")
    report = subprocess.run([hbmscope, "report", "--json", "r.hbm"], cwd=folder, capture_output=True, text=True)
    heaps = {heap["name"]: heap for heap in json.loads(report.stdout)["heaps"]}
    check(set(heaps) == {f"TPU {i} HBM" for i in range(4)}, f"heaps {sorted(heaps)}")
    check(heaps["TPU 0 HBM"]["peak_in_use_bytes"] == device["peak_bytes"], "the recording has another peak")
    blocks = subprocess.run([hbmscope, "report", "--at", "peak", "--blocks", "0", "r.hbm"], cwd=folder, capture_output=True, text=True).stdout
    for expected in ("f32[2048,128] from the host", "f32[4096,128] output 0 of jit_train_step", "loaded programs"):
        check(expected in blocks, f"no '{expected}' among the blocks: {blocks}")
    text = run(folder).stdout
    check(text.startswith("fits: 69.0 MiB of 15.7 GiB on the fullest of 4 chips (TPU 0)"), f"text {text}")
    check("1 from the cache" in text, f"the program was compiled again: {text}")


def test_reads_of_computed_values_are_counted(folder):
    packages(folder / "packages", jax="0.10.2", libtpu="0.0.51")
    verdict = json.loads(run(folder, "--json", reads=5).stdout)
    reads = [(read["kind"], read["count"], read["bytes_max"]) for read in verdict["depends_on_values"]]
    check(reads == [("value", 5, 2048)] and verdict["large_value_reads"] == 1, f"reads {verdict['depends_on_values']}, {verdict['large_value_reads']}")
    check(json.loads(run(folder, "--json").stdout)["depends_on_values"] == [], "reads where there are none")
    lines = run(folder, reads=5).stdout.splitlines()
    check(lines[0].startswith("fits: ") and lines[1].startswith("The program reads values that a dry run does not compute: "), f"text {lines}")


def test_out_of_memory(folder):
    packages(folder / "packages", jax="0.10.2", libtpu="0.0.51")
    done = run(folder, "--json", "--record", "r.hbm", steps=100, rows=1 << 20)
    verdict = json.loads(done.stdout)
    check(verdict["outcome"] == "out of memory", f"outcome {verdict['outcome']}: {done.stderr}")
    check(verdict["tpu"]["over_bytes"] > 0, f"over {verdict['tpu']}")
    explained = subprocess.run([hbmscope, "explain", "r.hbm"], cwd=folder, capture_output=True, text=True).stdout
    check(explained.startswith("Dry run: out of memory: ") and "\nOut of memory on TPU 0 HBM" in explained, f"explain {explained}")


def test_sweep(folder):
    packages(folder / "packages", jax="0.10.2", libtpu="0.0.51")
    done = run(folder, "--record", "sweep", emulate="v5e:2x2,v6e:2x2,v5p:2x2x1", steps=34, rows=1 << 20)
    lines = done.stdout.splitlines()
    check(any(line.startswith("v5e:2x2") and "out of memory" in line for line in lines), f"sweep {done.stdout} {done.stderr}")
    check(any(line.startswith("v6e:2x2") and "fits" in line for line in lines), f"sweep {done.stdout}")
    check(any(line.startswith("v5p:2x2x1") and "fits" in line for line in lines), f"sweep {done.stdout}")


def test_torch_xla(folder):
    packages(folder / "packages", torch="2.9.0", torch_xla="2.9.0")
    refused = run(folder)
    check('pip install "torch_xla[tpu]==2.9.0"' in refused.stderr and refused.returncode != 0, f"torch_xla without libtpu: {refused.stderr}")
    packages(folder / "packages", libtpu="0.0.21")
    done = run(folder)
    check(done.stdout.startswith("fits: ") and "torch_xla 2.9.0 (tested: 2.9.0), compiled by libtpu 0.0.21" in done.stderr, f"torch_xla: {done.stdout} {done.stderr}")
    refused = run(folder, "--quick")
    check("--quick is for JAX" in refused.stderr and refused.returncode != 0, f"torch_xla, --quick: {refused.stderr}")


def test_misuse(folder):
    packages(folder / "packages", jax="0.10.2")
    refused = run(folder)
    check('pip install "jax[tpu]==0.10.2"' in refused.stderr and refused.returncode != 0, f"without libtpu: {refused.stderr}")
    for slice, expected in (("v5e:8", "Write the chips in each direction, e.g. v5e:2x4"), ("v9:2x2", "no device 'v9'"), ("v5e:90x90", "At most 1024"), ("v5e:2x", "is not a slice")):
        refused = run(folder, emulate=slice)
        check(expected in refused.stderr and refused.returncode != 0, f"{slice}: {refused.stderr}")
    refused = run(folder, "--quick", emulate="h100")
    check("--quick is for TPUs" in refused.stderr, f"--quick: {refused.stderr}")
    packages(folder / "packages", torch="2.9.1")
    (folder / "packages" / "jax-0.10.2.dist-info" / "METADATA").unlink()
    (folder / "packages" / "jax-0.10.2.dist-info").rmdir()
    refused = run(folder)
    check("PyTorch 2.9.1, but not torch_xla" in refused.stderr, f"PyTorch: {refused.stderr}")


for test in (test_fits, test_reads_of_computed_values_are_counted, test_out_of_memory, test_sweep, test_torch_xla, test_misuse):
    with tempfile.TemporaryDirectory() as folder:
        test(pathlib.Path(folder))
for failure in failures:
    print(failure)
sys.exit(len(failures) > 0)
