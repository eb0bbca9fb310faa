"""A small training loop that leaks device memory, as real ones do: it keeps something "just to plot it later".

Saves a device memory profile at the steps given by --save-at. The parameters and the optimizer state stay the same
size; the memory that grows is allocated in one line of remember_activations.
"""

import argparse
import functools
import pathlib

import jax
import jax.numpy as jnp

BATCH = 256
WIDTHS = (784, 1024, 512, 10)
LEARNING_RATE = 1e-3


def init_params(key):
    params = []
    for fan_in, fan_out in zip(WIDTHS, WIDTHS[1:]):
        key, layer_key = jax.random.split(key)
        weight = jax.random.normal(layer_key, (fan_in, fan_out)) / jnp.sqrt(fan_in)
        params.append({"weight": weight, "bias": jnp.zeros(fan_out)})
    return params


def init_adam(params):
    mean = jax.tree.map(jnp.zeros_like, params)
    variance = jax.tree.map(jnp.zeros_like, params)
    return {"mean": mean, "variance": variance, "step": jnp.zeros((), jnp.int32)}


def make_batch(key):
    image_key, label_key = jax.random.split(key)
    images = jax.random.normal(image_key, (BATCH, WIDTHS[0]))
    labels = jax.random.randint(label_key, (BATCH,), 0, WIDTHS[-1])
    return images, labels


@jax.jit
def hidden_layer(params, images):
    for layer in params[:-1]:
        images = jax.nn.relu(images @ layer["weight"] + layer["bias"])
    return images


def loss_of(params, images, labels):
    last = params[-1]
    logits = hidden_layer(params, images) @ last["weight"] + last["bias"]
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
    return -chosen.mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, adam, images, labels):
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    step = adam["step"] + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, adam["mean"], gradients)
    variance = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, adam["variance"], gradients)
    rate = LEARNING_RATE * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, mean, variance)
    return params, {"mean": mean, "variance": variance, "step": step}, loss


class Diary:
    """What the loop plots at the end. Everything in it stays on the device until then."""

    def __init__(self):
        self.losses = []
        self.activations = []

    def remember_loss(self, loss):
        self.losses.append(float(loss))  # A Python number: nothing stays on the device.

    def remember_activations(self, params, images):
        activations = hidden_layer(params, images)  # The leak: 512 KiB a step, kept forever.
        self.activations.append(activations)


def train(steps, save_at, folder):
    key = jax.random.key(0)
    params = init_params(key)
    adam = init_adam(params)
    diary = Diary()
    for step in range(1, steps + 1):
        key, batch_key = jax.random.split(key)
        images, labels = make_batch(batch_key)
        params, adam, loss = train_step(params, adam, images, labels)
        diary.remember_loss(loss)
        diary.remember_activations(params, images)
        if step in save_at:
            jax.block_until_ready(params)
            jax.profiler.save_device_memory_profile(folder / f"leak_step_{step:03}.pprof.gz")
    return diary.losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--save-at", type=int, nargs="*", default=[10, 50, 100, 150, 200])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    arguments = parser.parse_args()
    losses = train(arguments.steps, set(arguments.save_at), arguments.out)
    print(f"loss {losses[0]:.3f} at step 1, {losses[-1]:.3f} at step {len(losses)}")


if __name__ == "__main__":
    main()
