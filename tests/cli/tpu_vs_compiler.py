#!/usr/bin/env python3
"""Six models as workload files, emulated, beside what the TPU compiler said of the real ones.

    tests/cli/tpu_vs_compiler.py HBMSCOPE

Argument, output and alias bytes have to be equal in all programs; of one program of each model the temporaries have to be
between half and twice the compiler's, of the others the ratio is printed. The compiler's
figures are in ${HBMSCOPE_DATA}/tpu/aot/programs (default: shared/data beside the checkout); exit code 77 without them.
"""
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Model, its changes, the compiler's program. The first program of each model must match the compiler's temporaries.
ROWS = [
    ("attention_fwd", [], "attention_fwd"),
    ("attention_grad", [], "attention_grad"),
    ("mlp", [], "mlp_sgd_donate"),
    ("mlp", ["donation=off"], "mlp_sgd_nodonate"),
    ("mlp_adam", [], "mlp_adam_4dev_fsdp"),
    ("mlp_adam", ["mesh.fsdp=1"], "mlp_adam_donate"),
    ("kv_decode", [], "kv_decode_donate"),
    ("kv_decode", ["donation=off"], "kv_decode_nodonate"),
    ("scan16_ffn_grad", [], "scan16_ffn_grad_remat_none"),
    ("scan16_ffn_grad", ["checkpointing=dots"], "scan16_ffn_grad_remat_dots"),
    ("scan16_ffn_grad", ["checkpointing=full"], "scan16_ffn_grad_remat_full"),
    ("scan16_ffn_grad", ["checkpointing=offload"], "scan16_ffn_grad_remat_offload"),
]


def emulated(program, model, changes, generation):
    command = [program, "tpu", "run", str(HERE / "tpu_models" / f"{model}.json"), "--generation", generation, "--json"]
    for change in changes:
        command += ["--what-if", change]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["programs"][0]


def main():
    data = pathlib.Path(os.environ.get("HBMSCOPE_DATA", HERE.parents[1].parent / "shared" / "data")) / "tpu" / "aot" / "programs"
    if not data.is_dir():
        print(f"skipped: no {data} (HBMSCOPE_DATA names the folder)")
        return 77
    wrong = compared = 0
    print(f"{'generation':10} {'program':32} {'argument':>12} {'output':>12} {'alias':>12} {'temp':>14} {'compiler':>14} {'ratio':>6}")
    for generation in sorted(path.name for path in data.iterdir() if path.is_dir()):
        held = set()
        for model, changes, name in ROWS:
            reported = data / generation / name / "memory.json"
            if not reported.is_file():
                continue
            compiler = json.loads(reported.read_text())
            ours = emulated(sys.argv[1], model, changes, generation)
            faults = [key for key in ("argument", "output", "alias") if ours[f"{key}_bytes"] != compiler[f"{key}_size_in_bytes"]]
            if ours["host_temp_bytes"] != compiler["host_temp_size_in_bytes"]:
                faults.append("temp on the host")
            temp, real = ours["temp_bytes"], compiler["temp_size_in_bytes"]
            ratio = 1.0 if temp == real else temp / real if real else float("inf")
            is_held = model not in held
            held.add(model)
            if is_held and not 0.5 <= ratio <= 2:
                faults.append("temp")
            print(f"{generation:10} {name:32} {ours['argument_bytes']:12} {ours['output_bytes']:12} {ours['alias_bytes']:12} {temp:14} {real:14} {ratio:6.2f}{' ' if is_held else '*'}"
                  + (f"  WRONG: {', '.join(faults)}" if faults else ""))
            wrong += bool(faults)
            compared += 1
    print(f"{compared} programs, {wrong} wrong (*: the ratio is told, not held)")
    return 1 if wrong or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
