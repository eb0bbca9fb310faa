"""What is known on an emulated device is what the CPU computes; a program's requests are the same without it.

    values_jax.py values            compares expressions on both
    values_jax.py requests NAME     prints what the pool counted in a program of this file or of verdict_jax.py
"""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np

import verdict_jax

EXPRESSIONS = """
x | x[3] | x[2:5] | x[x > 4] | jnp.nonzero(x > 4) | jnp.unique(x // 3) | x.sum() | (x > 4).sum() | x.astype(jnp.float32).mean() | jnp.where(x > 5, x, -x) | x.astype(jnp.bfloat16) * 0.5
jnp.sort(-x) | jnp.argmax(x) | jnp.cumsum(x) | jnp.concatenate([x, x + 1]) | x.at[2].set(7) | x.reshape(2, 5).T | jnp.zeros((3, 2)) | jnp.full(4, 7) | jnp.linspace(0, 1, 5) | jnp.array([3, 1])
jax.lax.scan(lambda c, y: (c + y, c), jnp.int32(0), x) | jax.lax.fori_loop(0, 10, lambda i, c: c + i, jnp.int32(0)) | jax.lax.cond(x[3] > 2, lambda: 1, lambda: 0) | jax.vmap(lambda y: y * 2)(x)
jax.random.key_data(jax.random.key(3)) | jax.random.split(jax.random.PRNGKey(3)) | jax.random.normal(jax.random.key(1), (8,)) | jax.random.randint(jax.random.PRNGKey(1), (3,), 0, 100)
jax.random.permutation(jax.random.PRNGKey(3), 10) | jax.random.bernoulli(jax.random.key(2), 0.3, (20,)) | jax.random.key_data(jax.random.fold_in(jax.random.key(0), x[3])) | jnp.bincount(x % 3)
jnp.repeat(x, x % 3) | jnp.linalg.norm(x.astype(jnp.float32)) | jnp.any(x > 8) | x.max() | jax.nn.one_hot(x % 3, 3) | jax.jit(lambda y: (y + 1, jnp.zeros((1000, 1000))))(x)[0] | jax.device_put(x) + 1
"""


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, batch, key):
    """Of its outputs the step, the rate and the key need nothing that is unknown."""
    weights, step = state

    def loss_of(weights):
        return jnp.mean((jnp.tanh(batch @ weights) - 1) ** 2)

    loss, gradient = jax.value_and_grad(loss_of)(weights)
    rate = jnp.where(step < 10, 0.1, 0.01)
    return (weights - rate * gradient, step + 1), loss, jax.random.split(key)[0], {"rate": rate}


def trains_by_step():
    """Ends after 25 steps, and evaluates after 10 and 20."""
    state, key = (jnp.ones((512, 512)), jnp.zeros((), jnp.int32)), jax.random.key(0)
    evaluated = []
    while int(state[1]) < 25:
        state, loss, key, figures = train_step(state, np.ones((64, 512), np.float32), key)
        if int(state[1]) % 10 == 0:
            evaluated.append(jnp.zeros((256, 1024, int(state[1]))).shape)
    assert evaluated == [(256, 1024, 10), (256, 1024, 20)] and np.isclose(float(figures["rate"]), 0.01)
    expected = jax.random.key(0)
    for _ in range(25):
        expected = jax.random.split(expected)[0]
    assert (jax.random.key_data(key) == jax.random.key_data(expected)).all()
    return float(loss)


def plain(value):
    return jax.tree.map(lambda one: (str(one.dtype), np.asarray(one).astype(np.float64).tolist()), value)


def values():
    expressions = [one.strip() for line in EXPRESSIONS.strip().splitlines() for one in line.split("|")]
    for expression in expressions:
        of = {}
        for platform in ("cpu", "cuda"):
            with jax.default_device(jax.devices(platform)[0]):
                of[platform] = plain(eval(expression, globals(), {"x": jnp.arange(10)}))
        assert str(of["cpu"]) == str(of["cuda"]), (expression, of)
    assert 0 < trains_by_step() < 10
    # What no kernel computed is plausible.
    unknown = jnp.ones((512, 1024)) * 2
    assert 0 < float(unknown.sum()) < 10 and np.isfinite(np.asarray(unknown[0])).all()
    mask = unknown[0] > 3
    assert len(jnp.nonzero(mask)[0]) == 512 and 400 < len(unknown[0][mask]) < 600
    assert len(set(np.asarray(jnp.argmax(unknown, -1)).tolist())) > 128
    print(len(expressions), "expressions")


def requests(name):
    {**vars(verdict_jax), **globals()}[name]()
    figures = jax.devices()[0].memory_stats()
    # What is in use meanwhile depends on when the runtime frees.
    print("requests", *[figures[key] for key in ("num_allocs", "largest_alloc_size")])


if __name__ == "__main__":
    requests(sys.argv[2]) if sys.argv[1] == "requests" else values()
