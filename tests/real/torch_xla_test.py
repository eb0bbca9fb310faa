#!/usr/bin/env python3
"""Runs torch_xla_programs.py on an emulated TPU slice.

    tests/real/torch_xla_test.py HBMSCOPE EMULATED NAME SLICE

PyTorch of that environment wants libraries of CUDA; EMULATED is the folder with those of the emulated device.
"""

import pathlib
import sys
import tempfile

import tpu_matrix

ALONE = (("tensors", "training", "donation", "checkpointing", "out_of_memory"), ("spmd_training",), ("launch",))


def main():
    hbmscope, emulated, name, machine = sys.argv[1:]
    failed = 0
    for programs in ALONE:
        with tempfile.TemporaryDirectory() as folder:
            lines, verdict, report = tpu_matrix.run(
                hbmscope, name, machine, programs, pathlib.Path(folder), "torch_xla_programs.py", LD_LIBRARY_PATH=f"{emulated}/lib"
            )
        faults = {program: text for program, text in lines.items() if text != "passed"}
        faults.update({program: "did not run" for program in programs if program not in lines})
        if verdict is not None:
            faults.update(tpu_matrix.faults_of(verdict, report))
        failed += len(faults)
        print(f"{', '.join(programs)}: {faults or 'passed'}, {verdict and verdict['tpu']['executions']} executions", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
