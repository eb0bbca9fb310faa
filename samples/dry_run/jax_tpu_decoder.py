"""A decoder of a billion parameters, trained with Adam on a TPU slice, with one of three shardings.

    pip install jax optax libtpu
    hbmscope run --emulate v5e:4x4 -- python jax_tpu_decoder.py --sharding fsdp --batch 64
"""

import argparse, functools
import jax, jax.numpy as jnp, numpy as np, optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--sharding", choices=["replicated", "fsdp", "tensor"], default="fsdp")
given = parser.parse_args()
LAYERS, WIDTH, HEADS, LENGTH, WORDS = 20, 2048, 16, 512, 32768

devices = np.array(jax.devices())
mesh = Mesh(devices.reshape(-1, 4 if given.sharding == "tensor" else 1), ("data", "model"))
WEIGHTS = {  # Of the last two dimensions: into the layer, out of it.
    "replicated": (P(), P()),
    "fsdp": (P("data", None), P(None, "data")),
    "tensor": (P(None, "model"), P("model", None)),
}[given.sharding]
placed = lambda spec: NamedSharding(mesh, spec)
layered = lambda spec: P(None, *spec) if spec else P()

SHAPES = {
    "words": ((WORDS, WIDTH), WEIGHTS[0]),
    "qkv": ((LAYERS, WIDTH, 3 * WIDTH), layered(WEIGHTS[0])),
    "out": ((LAYERS, WIDTH, WIDTH), layered(WEIGHTS[1])),
    "up": ((LAYERS, WIDTH, 4 * WIDTH), layered(WEIGHTS[0])),
    "down": ((LAYERS, 4 * WIDTH, WIDTH), layered(WEIGHTS[1])),
}

def layer(x, w):
    b, t, _ = x.shape
    h = x * jax.lax.rsqrt(jnp.mean(x.astype(jnp.float32) ** 2, -1, keepdims=True) + 1e-6).astype(x.dtype)
    q, k, v = jnp.split((h @ w["qkv"].astype(x.dtype)).reshape(b, t, 3 * HEADS, WIDTH // HEADS), 3, axis=2)
    h = jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(b, t, WIDTH)
    x = x + h @ w["out"].astype(x.dtype)
    return x + jax.nn.gelu(x @ w["up"].astype(x.dtype)) @ w["down"].astype(x.dtype), None

def loss(weights, tokens):
    x = weights["words"].astype(jnp.bfloat16)[tokens[:, :-1]]
    layers = {name: w for name, w in weights.items() if name != "words"}
    x, _ = jax.lax.scan(jax.checkpoint(layer), x, layers)
    logits = (x @ weights["words"].T.astype(x.dtype)).astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

adam = optax.adam(3e-4)

@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(weights, state, tokens):
    value, gradients = jax.value_and_grad(loss)(weights, tokens)
    updates, state = adam.update(gradients, state, weights)
    return optax.apply_updates(weights, updates), state, value

shardings = {name: placed(spec) for name, (_, spec) in SHAPES.items()}
weights = jax.jit(lambda: {name: jnp.zeros(shape) for name, (shape, _) in SHAPES.items()}, out_shardings=shardings)()
state = adam.init(weights)
print(sum(w.size for w in jax.tree.leaves(weights)), "parameters")
for step in range(2):
    tokens = jax.device_put(np.zeros((given.batch, LENGTH + 1), np.int32), placed(P("data")))
    weights, state, value = train_step(weights, state, tokens)
print("loss", float(value))
