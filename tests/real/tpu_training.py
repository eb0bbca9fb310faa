"""More programs of tpu_programs.py: training on one device and sharded, kernels, checkpoints."""

import functools
import shutil
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def perceptron(weights, x):
    for weight in weights:
        x = jax.nn.gelu(x @ weight)
    return jnp.mean(x**2)


@functools.partial(jax.jit, donate_argnums=0)
def train_step(weights, x):
    loss, gradients = jax.value_and_grad(perceptron)(weights, x)
    return jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, weights, gradients), loss


def train(weights, x):
    """Three steps; the weights stay where they were."""
    places = [weight.sharding for weight in weights]
    for _ in range(3):
        weights, loss = train_step(weights, x)
    assert float(loss) == 0
    assert all(weight.sharding.is_equivalent_to(place, 2) for weight, place in zip(weights, places))


def mesh():
    """Two axes; the second has two devices where there are as many."""
    count = jax.device_count()
    return Mesh(np.array(jax.devices()).reshape(-1, 2 if count % 2 == 0 else 1), ("data", "model"))


def placed(shape, *axes):
    return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh(), PartitionSpec(*axes)))


def gradient_step():
    train([jnp.ones((256, 1024)), jnp.ones((1024, 256))], jnp.ones((64, 256)))


def fsdp():
    train([placed((256, 1024), ("data", "model")), placed((1024, 256), ("data", "model"))], placed((64, 256), "data"))


def tensor_parallel():
    train([placed((256, 1024), None, "model"), placed((1024, 256), "model")], placed((64, 256), "data"))


def resharding():
    x = placed((256, 512), "data")
    for axes in ((None, "data"), ("model", "data"), (), (("data", "model"),)):
        x = jax.device_put(x, NamedSharding(mesh(), PartitionSpec(*axes)))
        assert (np.asarray(x) == 1).all(), axes
    x = jax.jit(lambda x: x * 2, out_shardings=NamedSharding(mesh(), PartitionSpec("data")))(x)
    jax.device_put(x, jax.devices()[0]).block_until_ready()
    whole = np.arange(64 * jax.device_count(), dtype=np.float32).reshape(-1, 8)
    place = NamedSharding(mesh(), PartitionSpec(("data", "model")))
    made = jax.make_array_from_callback(whole.shape, place, lambda index: whole[index])
    assert (np.asarray(made) == whole).all()
    again = jax.make_array_from_single_device_arrays(whole.shape, place, [shard.data for shard in made.addressable_shards])
    assert (np.asarray(again) == whole).all()


def pmap():
    count = jax.device_count()
    x = jnp.ones((count, 8, 128))
    assert jax.pmap(lambda x: jax.lax.psum(x * 2, "i"), axis_name="i")(x).shape == (count, 8, 128)
    jax.pmap(lambda x, y: x + y, donate_argnums=0)(x, x * 2).block_until_ready()


def shard_map():
    @jax.jit
    @functools.partial(jax.shard_map, mesh=mesh(), in_specs=PartitionSpec("data", "model"), out_specs=PartitionSpec(None, "model"))
    def gathered(x):
        size = jax.lax.axis_size("model") if hasattr(jax.lax, "axis_size") else jax.lax.psum(1, "model")
        x = jax.lax.ppermute(x, "model", [(i, (i + 1) % size) for i in range(size)])
        return jax.lax.psum(x, "data")

    assert gathered(placed((64 * jax.device_count(), 256), "data", "model")).shape == (64 * 2 if jax.device_count() % 2 == 0 else 64, 256)


def scan_with_checkpoints():
    def loss(weights, x):
        layer = jax.checkpoint(lambda x, weight: (jnp.tanh(x @ weight), None), policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)
        return jax.lax.scan(layer, x, weights)[0].sum()

    jax.jit(jax.grad(loss))(jnp.ones((8, 256, 256)), jnp.ones((64, 256))).block_until_ready()


def kernels():
    from jax.experimental import pallas

    def add(x, y, total):
        total[...] = x[...] + y[...]

    x = jnp.ones((1024, 512))
    block = pallas.BlockSpec((256, 512), lambda i: (i, 0))
    added = pallas.pallas_call(add, grid=(4,), in_specs=[block, block], out_specs=block, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))
    jax.jit(added)(x, x).block_until_ready()


def flash_attention():
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention as attention

    x = jnp.ones((1, 4, 512, 128), jnp.bfloat16)
    jax.jit(functools.partial(attention, causal=True))(x, x, x).block_until_ready()
    jax.jit(jax.grad(lambda x: attention(x, x, x).sum().astype(jnp.float32)))(x).block_until_ready()


def flax_training():
    import flax.linen as nn
    import optax

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.LayerNorm()(nn.Dense(512)(x))
            x = x + nn.MultiHeadDotProductAttention(4)(x)
            return nn.Dense(10)(nn.gelu(x))

    network, optimizer = Network(), optax.adamw(1e-3)
    x = jnp.ones((4, 64, 128))
    weights = network.init(jax.random.key(0), x)
    state = optimizer.init(weights)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(weights, state, x):
        loss, gradients = jax.value_and_grad(lambda weights: jnp.mean(network.apply(weights, x) ** 2))(weights)
        updates, state = optimizer.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), state, loss

    for _ in range(3):
        weights, state, loss = step(weights, state, x)
    assert float(loss) == 0


def nnx_training():
    import optax
    from flax import nnx

    class Network(nnx.Module):
        def __init__(self, rngs):
            self.first, self.second, self.dropout = nnx.Linear(128, 512, rngs=rngs), nnx.Linear(512, 10, rngs=rngs), nnx.Dropout(0.1, rngs=rngs)

        def __call__(self, x):
            return self.second(self.dropout(nnx.relu(self.first(x))))

    network = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(network, optax.adamw(1e-3), wrt=nnx.Param)

    @nnx.jit
    def step(network, optimizer, x):
        loss, gradients = nnx.value_and_grad(lambda network: jnp.mean(network(x) ** 2))(network)
        optimizer.update(network, gradients)
        return loss

    for _ in range(3):
        step(network, optimizer, jnp.ones((64, 128)))


def checkpoints():
    """Orbax writes what was copied to the devices, and reads into the same places; values go through a program then."""
    import orbax.checkpoint

    place = NamedSharding(mesh(), PartitionSpec(("data", "model")))  # Of replicated arrays, programs cut out parts to write.
    values = np.arange(512 * jax.device_count(), dtype=np.float32).reshape(-1, 64)
    state = {"weights": jax.device_put(values, place), "step": jnp.ones((), jnp.int32)}
    folder = tempfile.mkdtemp()
    try:
        with orbax.checkpoint.StandardCheckpointer() as checkpointer:
            checkpointer.save(folder + "/0", state)
            checkpointer.wait_until_finished()
            wanted = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding), state)
            restored = checkpointer.restore(folder + "/0", wanted)
        assert restored["weights"].sharding == place and restored["weights"].shape == values.shape
        wanted = jax.tree.map(lambda x: orbax.checkpoint.RestoreArgs(restore_type=np.ndarray), state)
        with orbax.checkpoint.PyTreeCheckpointer() as checkpointer:
            written = checkpointer.restore(folder + "/0", restore_args=wanted)
        assert (written["weights"] == values).all()
    finally:
        shutil.rmtree(folder)


PROGRAMS = (gradient_step, fsdp, tensor_parallel, resharding, pmap, shard_map, scan_with_checkpoints, kernels, flash_attention, flax_training, nnx_training, checkpoints)
