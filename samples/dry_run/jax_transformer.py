#!/usr/bin/env python3
"""A transformer of the size of GPT-2 (124 M parameters) in JAX, trained with Adam; the batch decides whether it fits.

    hbmscope run --emulate a100-40,h100 --sweep batch=4,8,16,32 -- python samples/dry_run/jax_transformer.py --batch {batch}

With --shard, parameters, optimizer state and batch are split over all devices (fully sharded data parallel):

    hbmscope run --emulate h100:8 -- python samples/dry_run/jax_transformer.py --batch 64 --shard
"""

import argparse
import functools

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--batch", type=int, default=8)
options.add_argument("--steps", type=int, default=3)
options.add_argument("--shard", action="store_true")
options = options.parse_args()

WIDTH, LAYERS, HEADS, VOCABULARY, TOKENS = 768, 12, 12, 50304, 1024


def make_parameters():
    def weight(*shape):
        return jnp.zeros(shape, jnp.float32)

    block = {
        "query_key_value": weight(LAYERS, WIDTH, 3 * WIDTH),
        "out": weight(LAYERS, WIDTH, WIDTH),
        "up": weight(LAYERS, WIDTH, 4 * WIDTH),
        "down": weight(LAYERS, 4 * WIDTH, WIDTH),
    }
    return {"embedding": weight(VOCABULARY, WIDTH), "position": weight(TOKENS, WIDTH), "block": block}


def normalize(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(x, block):
    batch, tokens, _ = x.shape
    split = (x @ block["query_key_value"].astype(x.dtype)).reshape(batch, tokens, 3, HEADS, WIDTH // HEADS)
    query, key, value = split[:, :, 0], split[:, :, 1], split[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / (WIDTH // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)
    return mixed.reshape(batch, tokens, WIDTH) @ block["out"].astype(x.dtype)


def loss(parameters, tokens):
    x = (parameters["embedding"][tokens] + parameters["position"]).astype(jnp.bfloat16)

    def layer(x, block):
        x = x + attention(normalize(x), block)
        hidden = jax.nn.gelu(normalize(x) @ block["up"].astype(x.dtype))
        return x + hidden @ block["down"].astype(x.dtype), None

    x, _ = jax.lax.scan(layer, x, parameters["block"])
    logits = (x @ parameters["embedding"].T.astype(x.dtype)).astype(jnp.float32)
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[..., None], -1)
    return -chosen.mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(parameters, moments, tokens):
    gradients = jax.grad(loss)(parameters, tokens)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, moments[1], gradients)
    parameters = jax.tree.map(lambda p, m, v: p - 3e-4 * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)
    return parameters, (first, second)


def main():
    devices = jax.devices() if options.shard else jax.devices()[:1]
    mesh = Mesh(devices, ("data",))

    def split(array):
        """Over its largest axis that the devices divide; small arrays are on all of them."""
        axes = [axis for axis, size in enumerate(array.shape) if size % len(devices) == 0]
        best = max(axes, key=lambda axis: array.shape[axis], default=None)
        return NamedSharding(mesh, PartitionSpec(*("data" if axis == best else None for axis in range(array.ndim))))

    shapes = jax.eval_shape(make_parameters)
    make = jax.jit(make_parameters, out_shardings=jax.tree.map(split, shapes))
    parameters, moments = make(), (make(), make())
    tokens = jax.device_put(jnp.zeros((options.batch, TOKENS), jnp.int32), NamedSharding(mesh, PartitionSpec("data")))
    for _ in range(options.steps):
        parameters, moments = train_step(parameters, moments, tokens)
    jax.block_until_ready(parameters)


main()
