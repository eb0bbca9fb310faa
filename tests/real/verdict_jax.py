"""Programs for verdict_test.py: python verdict_jax.py NAME."""

import sys

import jax
import jax.numpy as jnp


@jax.jit
def train_step(weights, batch):
    def loss_of(weights):
        x = batch
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return (x**2).mean()

    loss, gradients = jax.value_and_grad(loss_of)(weights)
    return [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients)], loss


def trains():
    weights, batch = [jnp.ones((512, 512)) for _ in range(4)], jnp.ones((256, 512))
    for _ in range(6):
        weights, loss = train_step(weights, batch)
        if float(loss) < 0:  # float of trains
            break
    print("pool", jax.devices()[0].memory_stats()["peak_bytes_in_use"])


def routes():
    chosen = jnp.tanh(jnp.ones((256, 1024)) @ jnp.ones((1024, 8)))[:, 0] > 0
    places = jnp.nonzero(chosen)[0]  # nonzero of routes
    print(places.shape)


def computes():
    x = jnp.ones((1024, 1024))
    (x @ x).block_until_ready()


@jax.jit
def outer(x):
    return jnp.sin(x)[:, None] * jnp.cos(x)[None, :]


def never_reads():
    y = outer(jnp.ones(200_000))  # 149 GiB. Since JAX 0.10 nothing is raised here.
    print(y.shape)


def goes_on():
    try:
        outer(jnp.ones(200_000)).block_until_ready()
    except jax.errors.JaxRuntimeError as error:
        assert "RESOURCE_EXHAUSTED" in str(error)  # It is as JAX made it.
        outer(jnp.ones(1_000)).block_until_ready()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
