"""A TensorFlow job for pool_test.py: tensors and training steps at random, with quiet points.

    pool_tensorflow.py POINTS [oom] [cpu]
"""

import os
import random
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

points, kinds = int(sys.argv[1]), sys.argv[2:]
if "cpu" in kinds:
    os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"

import tensorflow as tf

import pool_marks

devices = range(len(tf.config.list_logical_devices("GPU")))
weights = tf.Variable(tf.ones((256, 256)))


def figures():
    names = {"cpu": "CPU:0"} if "cpu" in kinds else {str(device): f"GPU:{device}" for device in devices}
    return {
        "in_use": {key: tf.config.experimental.get_memory_info(name)["current"] for key, name in names.items()},
        "allocs": {},
        "arrays": [],
    }


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.relu(x @ weights))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return loss


choose = random.Random(1)
kept = []
for _ in range(points):
    for _ in range(5):
        kind = choose.randrange(3)
        if kind == 0 or not kept:
            with tf.device("CPU:0" if "cpu" in kinds else f"GPU:{choose.choice(devices)}"):
                kept.append(tf.zeros((choose.randrange(1, 1 << 20),)))
        elif kind == 1:
            kept.pop(choose.randrange(len(kept)))
        else:
            kept.append(step(tf.ones((64, 256))))
        while len(kept) > 40:
            kept.pop(0)
    pool_marks.mark(figures)
if "oom" in kinds:
    try:
        tf.zeros((1 << 38,))
    except tf.errors.ResourceExhaustedError:
        pass
    pool_marks.mark(figures)
