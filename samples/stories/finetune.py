"""Fine-tunes a multilayer perceptron, with Adam. With a larger batch it needs more memory than JAX takes by default."""

import argparse

import jax
import jax.numpy as jnp

LAYERS, WIDTH = 16, 8192


def load_weights():
    return [jnp.zeros((WIDTH, WIDTH), jnp.float32) for _ in range(LAYERS)]


def make_optimizer(weights):
    return {"mean": [jnp.zeros_like(w) for w in weights], "variance": [jnp.zeros_like(w) for w in weights]}


def loss_of(weights, batch):
    for weight in weights:
        batch = jnp.tanh(batch @ weight)
    return jnp.mean(batch**2)


@jax.jit
def train_step(weights, adam, batch):
    loss, gradients = jax.value_and_grad(loss_of)(weights, batch)
    mean = [0.9 * m + 0.1 * g for m, g in zip(adam["mean"], gradients)]
    variance = [0.999 * v + 0.001 * g * g for v, g in zip(adam["variance"], gradients)]
    weights = [w - 1e-3 * m / (jnp.sqrt(v) + 1e-8) for w, m, v in zip(weights, mean, variance)]
    return weights, {"mean": mean, "variance": variance}, loss


def evaluate(weights, batch):
    return [jnp.tanh(batch @ weight) for weight in weights]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16384)
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    weights = load_weights()
    adam = make_optimizer(weights)
    history = []
    for step in range(arguments.steps):
        batch = jnp.zeros((arguments.batch, WIDTH), jnp.float32)
        weights, adam, loss = train_step(weights, adam, batch)
        history.append(evaluate(weights, batch[:1024]))
        print("step", step, float(loss), flush=True)
