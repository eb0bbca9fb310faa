#!/usr/bin/env python3
"""A training step of a multilayer perceptron in JAX, with donation.

    hbmscope run --emulate h100 -- python samples/dry_run/jax_mlp.py --batch 4096
"""

import argparse
import functools

import jax
import jax.numpy as jnp

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--batch", type=int, default=4096)
options.add_argument("--width", type=int, default=4096)
options.add_argument("--layers", type=int, default=8)
options = options.parse_args()


def loss(weights, inputs):
    for weight in weights:
        inputs = jnp.tanh(inputs @ weight)
    return (inputs**2).mean()


@functools.partial(jax.jit, donate_argnums=0)
def train_step(weights, inputs):
    gradients = jax.grad(loss)(weights, inputs)
    return [weight - 1e-3 * gradient for weight, gradient in zip(weights, gradients)]


weights = [jnp.zeros((options.width, options.width)) for _ in range(options.layers)]
inputs = jnp.ones((options.batch, options.width))
for _ in range(3):
    weights = train_step(weights, inputs)
jax.block_until_ready(weights)
