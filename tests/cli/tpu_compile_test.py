#!/usr/bin/env python3
"""`tpu import` and `tpu compile` from outside.

    tests/cli/tpu_compile_test.py HBMSCOPE

The compiler here is a package named jax that dumps inputs/tpu_buffer_assignment.txt and tells figures of its own: how
hbmscope starts it, reads it and speaks of what is missing. Where HBMSCOPE_LIBTPU_PYTHON names a Python with jax and
libtpu, the real compiler is asked too.
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
DUMP = pathlib.Path(__file__).resolve().parent / "inputs" / "tpu_buffer_assignment.txt"
faults = []

JAX = '''
import os, pathlib, re, shutil, types
__version__ = "0"
class ShapeDtypeStruct:
    def __init__(self, shape, dtype, sharding=None):
        self.shape, self.dtype, self.sharding = shape, dtype, sharding
sharding = types.SimpleNamespace(SingleDeviceSharding=lambda device: device)
class tree:
    @staticmethod
    def map(change, value):
        if isinstance(value, (list, tuple)):
            return type(value)(tree.map(change, each) for each in value)
        if isinstance(value, dict):
            return {key: tree.map(change, each) for key, each in value.items()}
        return change(value)
class Lowered:
    def compile(self):
        if "refuse" in os.environ:
            raise RuntimeError("RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (40.00G) exceeds available HBM (15.75G). HLO module: jit_step.")
        folder = pathlib.Path(re.search("--xla_dump_to=(\\\\S+)", os.environ["XLA_FLAGS"])[1])
        folder.mkdir()
        shutil.copy(os.environ["dump"], folder / "module_0000.jit_step.after_optimizations-buffer-assignment.txt")
        figures = dict(argument=1000, output=200, alias=100, temp=30, generated_code=4, host_temp=0)
        return types.SimpleNamespace(memory_analysis=lambda: types.SimpleNamespace(**{f"{key}_size_in_bytes": value for key, value in figures.items()}))
def jit(function):
    def lower(*arguments, **keywords):
        assert all(each.sharding is not None for each in arguments)
        function(*arguments, **keywords)
        return Lowered()
    return types.SimpleNamespace(lower=lower)
'''
TOPOLOGIES = '''
import types
def get_topology_desc(platform, topology_name):
    if not topology_name.startswith("v5e"):
        raise ValueError("Invalid TPU external name")
    return types.SimpleNamespace(devices=[types.SimpleNamespace(device_kind="TPU v5 lite")])
'''
SCRIPT = '''
import jax
def step():
    print("the script prints")
    return (lambda x, scale: None), (jax.ShapeDtypeStruct((8, 128), "float32"),), {"scale": jax.ShapeDtypeStruct((), "float32")}
def broken():
    raise KeyError("weights")
'''


def check(holds, what):
    if not holds:
        faults.append(what)


def run(folder, *words, **variables):
    environment = {**os.environ, "PYTHONPATH": str(folder), "dump": str(DUMP), "TMPDIR": str(folder), **variables}
    return subprocess.run([PROGRAM, "tpu", *map(str, words)], capture_output=True, text=True, env=environment)


def compile_it(folder, name, *words, **variables):
    return run(folder, "compile", f"{folder}/script.py:{name}", "--topology", "v5e:2x2", "--python", sys.executable, *words, **variables)


def test_import(folder):
    dumped = folder / "dumped"
    dumped.mkdir()
    check("no dump" in run(folder, "import", dumped).stderr, "an empty folder")
    for name in ("module_1.jit_a.after_optimizations-buffer-assignment.txt", "module_2.jit_b.after_optimizations-buffer-assignment.txt"):
        shutil.copy(DUMP, dumped / name)
    (dumped / "module_1.jit_a.before_optimizations.hlo.pb").write_bytes(b"not read")
    answer = json.loads(run(folder, "import", dumped, "--json", "--record", folder / "i.hbm").stdout)
    check(len(answer["programs"]) == 2, "two modules")
    fit = json.loads(subprocess.run([PROGRAM, "tpu", "fit", DUMP, "--json"], capture_output=True, text=True, check=True).stdout)
    check(answer["programs"][0]["needed_without_code_bytes"] == fit["programs"][0]["needed_without_code_bytes"], "as tpu fit has it")
    check((folder / "i.hbm").stat().st_size > 0, "its recording")
    kept = folder / "kept"
    kept.mkdir()
    shutil.copy(DUMP, kept / "buffer-assignment.txt")
    check(len(json.loads(run(folder, "import", kept, "--json").stdout)["programs"]) == 1, "a dump that somebody kept")


def test_compile(folder):
    if importlib.util.find_spec("jax") is None:
        check("no jax" in compile_it(folder, "step").stderr, "without jax")
    package = folder / "jax" / "experimental"
    package.mkdir(parents=True)
    (folder / "jax" / "__init__.py").write_text(JAX)
    (package / "__init__.py").write_text("")
    (package / "topologies.py").write_text(TOPOLOGIES)
    if importlib.util.find_spec("libtpu") is None:
        done = compile_it(folder, "step")
        check("no libtpu" in done.stderr and "pip install" in done.stderr, f"without libtpu: {done.stderr}")
    (folder / "libtpu.py").write_text("")
    done = compile_it(folder, "step", "--json", "--record", folder / "c.hbm")
    check(done.returncode == 0, done.stderr)
    check("the script prints" in done.stderr and "the script prints" not in done.stdout, "what a script prints")
    row = json.loads(done.stdout)["compiled"][0]
    check(row["fits"] and row["needed_bytes"] == 1000 + 200 - 100 + 30 + 4, f"the compiler's figures: {row}")
    report = subprocess.run([PROGRAM, "report", folder / "c.hbm", "--json"], capture_output=True, text=True, check=True)
    check(json.loads(report.stdout)["heaps"], "heaps of the recording")
    row = json.loads(compile_it(folder, "step", "--json", refuse="1").stdout)["compiled"][0]
    check(not row["fits"] and row["failures"][0]["asked_bytes"] == 40 * 2**30 and row["failures"][0]["memory_space"] == "hbm", f"{row}")
    check("does not fit" in compile_it(folder, "step", refuse="1").stdout, "in words")
    check("KeyError" in compile_it(folder, "broken").stderr, "a script that fails")
    check("has no 'nothing'" in compile_it(folder, "nothing").stderr, "a function that is not there")
    done = run(folder, "compile", f"{folder}/script.py:step", "--topology", "v9:2x2", "--python", sys.executable)
    check("no topology 'v9:2x2'" in done.stderr and done.returncode != 0, "a topology that is none")
    done = run(folder, "compile", f"{folder}/script.py:step", "--topology", "v5e:2x2", "--python", "/no/python")
    check("can't be started" in done.stderr, "a Python that is none")
    check("no such script" in run(folder, "compile", f"{folder}/none.py:step", "--topology", "v5e:2x2").stderr, "no script")
    check(not list(folder.glob("hbmscope-compile-*")), "folders that stay")


def test_real(folder, python):
    (folder / "real.py").write_text("import jax, jax.numpy as jnp\ndef chain():\n    s = jax.ShapeDtypeStruct((1024, 1024), jnp.float32)\n    return jax.jit(lambda a, b: jnp.tanh(a @ b) @ b), (s, s), {}\n"
                                    "def large():\n    s = jax.ShapeDtypeStruct((100000, 100000), jnp.float32)\n    return jax.jit(lambda a: a @ a), (s,), {}\n")
    def ask(name):
        done = subprocess.run([PROGRAM, "tpu", "compile", f"{folder}/real.py:{name}", "--topology", "v5e:2x2", "--python", python, "--json"], capture_output=True, text=True)
        check(done.returncode == 0, done.stderr[-400:])
        return json.loads(done.stdout)["compiled"][0] if done.returncode == 0 else {"fits": None}
    row = ask("chain")
    check(row["fits"] and row["argument_bytes"] == 2 * 4 * 2**20 and row["output_bytes"] == 4 * 2**20, f"{row}")
    row = ask("large")
    check(row["fits"] is False and row["failures"][0]["memory_space"] == "hbm", f"{row}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "script.py").write_text(SCRIPT)
        test_import(folder)
        test_compile(folder)
    real = os.environ.get("HBMSCOPE_LIBTPU_PYTHON")
    if real:
        with tempfile.TemporaryDirectory() as name:
            test_real(pathlib.Path(name), real)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
