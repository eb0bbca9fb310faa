#!/usr/bin/env python3
"""A second run of the same job compiles nothing, and its verdict is the first one's.

    tests/real/tpu_cache_test.py HBMSCOPE NAME SLICE        NAME: an environment of build/real, such as tpu-0.10.2
"""

import pathlib
import sys
import tempfile

import tpu_matrix

PROGRAMS = ("donation", "offload", "used_after_donation", "fsdp", "pmap", "scan_with_checkpoints", "flax_training")
SAME = ("executions", "compared_executions", "differing_executions", "not_emulated")


def main():
    hbmscope, name, machine = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        runs = [tpu_matrix.run(hbmscope, name, machine, PROGRAMS, pathlib.Path(folder)) for _ in range(2)]
    for lines, verdict, report in runs:
        assert lines == {program: "passed" for program in PROGRAMS}, lines
        assert not tpu_matrix.faults_of(verdict, report), tpu_matrix.faults_of(verdict, report)
    first, second = (verdict for _, verdict, _ in runs)
    assert first["tpu"]["compiled_programs"] > 0 and second["tpu"]["compiled_programs"] == 0, second["tpu"]
    assert second["tpu"]["cached_programs"] == first["tpu"]["compiled_programs"] + first["tpu"]["cached_programs"], (first["tpu"], second["tpu"])
    assert [first["tpu"][figure] for figure in SAME] == [second["tpu"][figure] for figure in SAME], (first["tpu"], second["tpu"])
    assert first["devices"] == second["devices"], (first["devices"], second["devices"])
    print(f"{first['tpu']['compiled_programs']} programs were compiled once; {len(first['devices'])} devices are alike")


if __name__ == "__main__":
    main()
