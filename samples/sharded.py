"""Four devices with different contents: a sharded weight, a replicated table, and one array on the first device only.

Run with XLA_FLAGS=--xla_force_host_platform_device_count=4, which makes four devices of one CPU.
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec


def make_mesh():
    return jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))


def shard_weights(mesh):
    layout = NamedSharding(mesh, PartitionSpec("data", "model"))  # A quarter on each device.
    return jax.device_put(jnp.ones((2048, 1024), jnp.float32), layout)


def replicate_table(mesh):
    layout = NamedSharding(mesh, PartitionSpec())  # A full copy on each device.
    return jax.device_put(jnp.zeros((512, 256), jnp.float32), layout)


def keep_on_first_device():
    return jax.device_put(jnp.arange(3 << 18, dtype=jnp.float32), jax.devices()[0])  # 3 MiB of imbalance.


@jax.jit
def forward(weights, table):
    return jnp.tanh(weights[:512, :256] * table)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    folder = parser.parse_args().out
    mesh = make_mesh()
    weights, table = shard_weights(mesh), replicate_table(mesh)
    kept = [weights, table, keep_on_first_device(), forward(weights, table)]
    jax.block_until_ready(kept)
    jax.profiler.save_device_memory_profile(folder / "sharded.pprof.gz")


if __name__ == "__main__":
    main()
