"""Programs whose memory the compiler itself adds up, for emulated devices and for plain ahead-of-time compilation.

    tpu_compiled.py TOPOLOGY        compiles them with no device, and prints {"name": {figure: bytes}}
"""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

FIGURES = ("argument_size_in_bytes", "output_size_in_bytes", "alias_size_in_bytes", "temp_size_in_bytes", "generated_code_size_in_bytes", "host_temp_size_in_bytes")


def perceptron(weights, x):
    first, second = weights
    return jax.nn.gelu(x @ first) @ second


def step(weights, x):
    gradients = jax.grad(lambda given: jnp.mean(perceptron(given, x) ** 2))(weights)
    return jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, weights, gradients)


def attention(query, key, value):
    scores = jax.nn.softmax(query @ key.swapaxes(-1, -2) / 8, axis=-1)
    return scores @ value


def layers(weights, x):
    layer = jax.checkpoint(lambda x, weight: (jnp.tanh(x @ weight), None))
    return jax.lax.scan(layer, x, weights)[0].sum()


def programs(devices):
    """(name, jitted function, arguments without values) for one device and for all of them."""

    def of(shape, sharding, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)

    def some(place, split, halves):
        weights = (of((2048, 8192), split), of((8192, 2048), split))
        yield "step", jax.jit(step), (weights, of((4096, 2048), halves))
        yield "donated step", jax.jit(step, donate_argnums=0), (weights, of((4096, 2048), halves))
        yield "padded", jax.jit(lambda x, y: (x * 2, y + x[:, :1])), (of((1000, 3), place), of((1000, 1), place))
        yield "small types", jax.jit(lambda x, y: (x.astype(jnp.float32).sum(), y * 2)), (of((300, 300), place, jnp.int8), of((4, 7, 129), place, jnp.bfloat16))
        yield "attention", jax.jit(attention), (of((8, 2048, 64), place, jnp.bfloat16),) * 3
        yield "layers", jax.jit(jax.grad(layers)), (of((12, 1024, 1024), place), of((8192, 1024), halves))

    one = SingleDeviceSharding(devices[0])
    for name, function, arguments in some(one, one, one):
        yield f"{name}, one device", function, arguments
    if len(devices) == 1:
        return
    mesh = Mesh(np.array(devices).reshape(-1, 2), ("data", "model"))
    place, split, halves = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((), ("data", "model"), ("data",)))
    for name, function, arguments in some(place, split, halves):
        yield f"{name}, {len(devices)} devices", function, arguments


def figures(devices):
    found = {}
    for name, function, arguments in programs(devices):
        analysis = function.lower(*arguments).compile().memory_analysis()
        found[name] = {figure: getattr(analysis, figure) for figure in FIGURES}
    return found


def main():
    topology = sys.argv[1]
    options = {"chip_config_name": "megacore"} if topology.startswith("v4:") else {}
    try:
        described = topologies.get_topology_desc(platform="tpu", topology_name=topology, **options)
    except Exception:
        if not topology.endswith(":1x1"):
            raise
        described = topologies.get_topology_desc(platform="tpu", topology_name=topology, chips_per_host_bounds=(1, 1, 1), **options)
    print(json.dumps(figures(described.devices)))


if __name__ == "__main__":
    main()
