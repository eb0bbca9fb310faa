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
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
DUMP = pathlib.Path(__file__).resolve().parent / "inputs" / "tpu_buffer_assignment.txt"
CPU_DUMP = """BufferAssignment:
allocation 0: size 4096, parameter 0, shape |f32[1024]| at ShapeIndex {}:
 value: <2 x.1 @0> (size=4096,offset=0): f32[1024]{0}
allocation 1: size 4096, output shape is |f32[1024]|, maybe-live-out:
 value: <3 y.2 @0> (size=4096,offset=0): f32[1024]{0}
"""
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
    def leaves(value, is_leaf):
        return list(value)
    @staticmethod
    def map(change, value):
        if isinstance(value, (list, tuple)):
            return type(value)(tree.map(change, each) for each in value)
        if isinstance(value, dict):
            return {key: tree.map(change, each) for key, each in value.items()}
        return change(value)
class Lowered:
    # One of 1024 floats is kept, one is given: of two outputs of that size one more could take an argument's place.
    args_info = [types.SimpleNamespace(shape=(1024,), dtype=types.SimpleNamespace(itemsize=4), donated=each) for each in (False, True)]
    out_info = [types.SimpleNamespace(shape=(1024,), dtype=args_info[0].dtype)] * 2
    def compile(self):
        if os.environ.get("slow") == "1":
            import time
            time.sleep(60)
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
def get_topology_desc(platform, topology_name, chip_config_name=None):
    if topology_name.startswith("v4") and chip_config_name != "megacore":
        raise ValueError("one core a device")
    if not topology_name.startswith(("v4", "v5e", "v6e")):
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
    said = run(folder, "import", dumped, "--record", folder / "i.hbm").stderr
    check(": ;" not in said and "buffer-assignment.txt; hbmscope open" in said, f"a program without a name: {said}")
    cpu = folder / "cpu"
    cpu.mkdir()
    (cpu / "module_3.jit_c.cpu_after_optimizations-buffer-assignment.txt").write_text(CPU_DUMP)
    done = run(folder, "import", cpu)
    check("compiled for a CPU or a GPU" in done.stderr and done.stdout == "" and done.returncode == 3, f"a CPU's dump: {done}")
    shutil.copy(DUMP, cpu / "module_1.jit_a.after_optimizations-buffer-assignment.txt")
    done = run(folder, "import", cpu, "--json")
    check(len(json.loads(done.stdout)["programs"]) == 1 and "skipped" in done.stderr, f"beside a TPU's: {done}")
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
    check(row["needed_bytes"] == 40 * 2**30 and row["spare_bytes"] < -24 * 2**30, f"by how much: {row}")
    advice = {each["change"]: each for each in row["advice"]}
    check(advice["devices"]["suffices"] and advice["devices"]["figures"] == "assumed", f"{advice}")
    check(not advice["donation"]["suffices"] and advice["donation"]["spare_bytes"] == row["spare_bytes"] + 4096, f"{advice}")
    done = compile_it(folder, "broken")
    check("the script failed: KeyError: 'weights'" in done.stderr and done.returncode == 2, "a script that fails")
    lines = done.stderr.splitlines()
    check(any(line.strip() == 'raise KeyError("weights")' for line in lines) and "\ufffd" not in done.stderr, f"its lines: {lines}")
    check("has no 'nothing'" in compile_it(folder, "nothing").stderr, "a function that is not there")
    done = run(folder, "compile", f"{folder}/script.py:step", "--topology", "v9:2x2", "--python", sys.executable)
    check("no topology 'v9:2x2'" in done.stderr and done.returncode != 0, "a topology that is none")
    done = run(folder, "compile", f"{folder}/script.py:step", "--topology", "v5e:2x2", "--python", "/no/python")
    check("cannot start" in done.stderr, "a Python that is none")
    check("no such script" in run(folder, "compile", f"{folder}/none.py:step", "--topology", "v5e:2x2").stderr, "no script")
    script = f"{folder}/script.py:step"
    both = ("--topology", "V5E:2x2", "--topology", "v6e:2x2", "--topology", "v4:2x2x1", "--python", sys.executable)
    table = run(folder, "compile", script, *both).stdout.splitlines()
    check([line.split()[0] for line in table[1:]] == ["device", "v5e:2x2", "v6e:2x2", "v4:2x2x1"] and all("to spare" in line for line in table[2:]), f"one table: {table}")
    check(run(folder, "fit", script, *both).stdout.splitlines() == table, "tpu fit of a script")
    done = run(folder, "fit", script, "--generation", "v5e")
    check("--topology v5e:2x2" in done.stderr and done.returncode == 2, "a script and no topology")
    check("over by 24.2 GiB" in run(folder, "compile", script, *both, refuse="1").stdout, "how much it is over")
    test_cancel(folder, script)
    check(not list(folder.glob("hbmscope-compile-*")), "folders that stay")


def test_cancel(folder, script):
    environment = {**os.environ, "PYTHONPATH": str(folder), "dump": str(DUMP), "TMPDIR": str(folder), "slow": "1"}
    for how, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        job = subprocess.Popen([PROGRAM, "tpu", "compile", script, "--topology", "v5e:2x2", "--python", sys.executable],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
        while not list(folder.glob("hbmscope-compile-*")):
            time.sleep(0.01)
        time.sleep(0.5)
        if how == signal.SIGINT:
            os.killpg(job.pid, how)  # As a terminal does.
        else:
            job.send_signal(how)
        out, said = job.communicate(timeout=30)
        check(job.returncode == code and out == "", f"signal {how}: code {job.returncode}, {out}")
        check("cancelled" in said and "Traceback" not in said and "Interrupt" not in said, f"signal {how}: {said}")
        check(not list(folder.glob("hbmscope-compile-*")), f"signal {how}: its folder stays")
        try:
            os.killpg(job.pid, 0)
            check(False, f"signal {how}: the compiler runs on")
        except ProcessLookupError:
            pass


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
