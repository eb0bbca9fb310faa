"""Compiles programs that were recorded with what the TPU's compiler said about their memory, and compares the figures.

    hbmscope run --emulate v5e:2x2 -- build/real/tpu-0.10.2/bin/python tpu_aot_programs.py FOLDER

FOLDER/v5e/NAME has before_optimizations.txt.gz (HLO text) and memory.json. libtpu must be of the same version, 0.0.51.
"""

import gzip
import importlib.metadata
import json
import os
import pathlib
import re
import sys

import jax
from jax._src.compiler import get_compile_options
from jax._src.lib import xla_client

COMPILER = "0.0.51"
FIGURES = ("argument_size_in_bytes", "output_size_in_bytes", "alias_size_in_bytes", "temp_size_in_bytes", "generated_code_size_in_bytes", "host_argument_size_in_bytes", "host_output_size_in_bytes", "host_temp_size_in_bytes")


def compiled(text):
    """A program of HLO text, through JAX's client."""
    module = xla_client.hlo.hlo_module_from_text(text.replace(", order=TOTAL", ", type=TOTALORDER"))  # As this jaxlib writes it.
    program = xla_client._xla.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
    partitions = re.search(r"num_partitions=(\d+)", text)
    devices = jax.devices()[: int(partitions[1]) if partitions else 1]
    options = get_compile_options(num_replicas=1, num_partitions=len(devices), device_assignment=[[device.id for device in devices]])
    return jax.devices()[0].client.compile_and_load(program, tuple(devices), options)


def compare(folder):
    """The figures that differ."""
    expected = json.loads((folder / "memory.json").read_text())
    text = gzip.decompress((folder / "before_optimizations.txt.gz").read_bytes()).decode()
    found = compiled(text).get_compiled_memory_stats()
    return [f"{figure} {getattr(found, figure)}, recorded {expected[figure]}" for figure in FIGURES if getattr(found, figure) != expected[figure]]


def main():
    generation = os.environ["HBMSCOPE_TPU_TOPOLOGY"].split(":")[0]
    folder = pathlib.Path(sys.argv[1] if sys.argv[1:] else "") / generation
    if not folder.is_dir():
        print(f"skipped: there is no folder {folder}; cmake -DHBMSCOPE_TPU_PROGRAMS=FOLDER names the one around it")
        sys.exit(77)
    if importlib.metadata.version("libtpu") != COMPILER:
        print(f"skipped: the programs were compiled by libtpu {COMPILER}")
        sys.exit(77)
    failed = 0
    for program in sorted(folder.iterdir()):
        if sys.argv[2:] and program.name not in sys.argv[2:]:
            continue
        try:
            wrong = "; ".join(compare(program))
        except Exception as error:
            wrong = f"{type(error).__name__}: {str(error)[:300]}"
        failed += bool(wrong)
        print(f"{program.name}: {wrong or 'passed'}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
