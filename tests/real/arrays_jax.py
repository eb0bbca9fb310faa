"""A JAX job for arrays_test.py, on a plugin whose allocator hbmscope does not see: arrays, jit, donation and copies at
random. Prints at quiet points how many arrays there are, and their bytes.

    arrays_jax.py POINTS PLUGIN
"""

import gc
import json
import os
import random
import sys

os.environ.update(PJRT_NAMES_AND_LIBRARY_PATHS="arrays:" + sys.argv[2], JAX_PLATFORMS="arrays")

import jax
import jax.numpy as jnp
import numpy as np

MARK_BYTES = 5_000_000
devices = jax.devices()
choose = random.Random(7)
kept = []
step = jax.jit(lambda x: jnp.tanh(x @ x.T).sum(axis=0))
donating = jax.jit(lambda x: x * 0.5, donate_argnums=0)


def change():
    kind = choose.randrange(4)
    if kind == 0 or not kept:
        kept.append(jax.device_put(np.zeros(choose.randrange(1, 1 << 16), np.float32), choose.choice(devices)))
    elif kind == 1:
        kept.append(step(jnp.ones((64, choose.choice((64, 128))))))
    elif kind == 2:
        at = choose.randrange(len(kept))
        kept[at] = donating(kept[at])
    else:
        array = choose.choice(kept)
        others = [device for device in devices if device not in array.devices()]  # On its own device it would be shared.
        kept.append(jax.device_put(array, choose.choice(others)))
    while len(kept) > 20:
        kept.pop(choose.randrange(len(kept)))


for point in range(int(sys.argv[1])):
    for _ in range(5):
        change()
    jax.block_until_ready(kept)
    gc.collect()
    live = {array.unsafe_buffer_pointer(): array.nbytes for array in jax.live_arrays()}
    print(json.dumps({"mark": MARK_BYTES + point, "bytes": sum(live.values()), "count": len(live)}), flush=True)
    jax.device_put(np.zeros(MARK_BYTES + point, np.int8)).block_until_ready()
