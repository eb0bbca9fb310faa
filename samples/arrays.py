"""The smallest thing worth looking at: a few arrays made in different places, and a few compiled functions."""

import argparse
import pathlib

import jax
import jax.numpy as jnp
import numpy as np


def load_table():
    # Comes from the host: its stack ends in device_put, not in a computation.
    return jax.device_put(np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024))


def load_tokens():
    return [jnp.asarray(np.full((64, 128), row, np.int32)) for row in range(16)]


@jax.jit
def gram(table):
    return table @ table.T


@jax.jit
def normalise(table):
    return (table - table.mean(axis=0)) / (table.std(axis=0) + 1e-6)


def decompose(table):
    small = table[:256, :256]  # A slice is a separate array.
    return jnp.linalg.svd(small, full_matrices=False)


def one_freed_again():
    scratch = jnp.ones((2048, 2048), jnp.float32)
    return float(scratch.sum())  # 16 MiB that are freed before the profile is saved, so it does not have them.


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    folder = parser.parse_args().out
    table = load_table()
    kept = {
        "tokens": load_tokens(),
        "gram": gram(table),
        "normal": normalise(table),
        "halves": jnp.ones((512, 512), jnp.bfloat16),
        "svd": decompose(table),
        "empty": jnp.zeros((0, 7)),  # An array of no bytes is still an array.
    }
    one_freed_again()
    jax.block_until_ready(kept)
    jax.profiler.save_device_memory_profile(folder / "arrays.pprof.gz")


if __name__ == "__main__":
    main()
