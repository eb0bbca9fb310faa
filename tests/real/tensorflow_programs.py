"""What runs in TensorFlow on emulated devices: prints one line for each program, "passed" or the error.

    emulated.py build/release/emulated build/real/tensorflow-2.20.0/bin/python tensorflow_programs.py [PROGRAM ...]
"""

import os
import shutil
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

import driver
from programs import run_programs

GPUS = tf.config.list_logical_devices("GPU")
assert GPUS, "TensorFlow sees no GPU"


def account():
    """What TensorFlow has in use is part of what the driver has handed out."""
    for device in range(len(GPUS)):
        in_use, used = tf.config.experimental.get_memory_info(f"GPU:{device}")["current"], driver.used_bytes(device)
        if used and not in_use <= used:
            raise AssertionError(f"device {device}: {in_use} B in use, the driver has {used} B")


def tensors():
    values = np.arange(1 << 20, dtype=np.float32)
    with tf.device("GPU:0"):
        assert (tf.identity(values).numpy() == values).all()


def training():
    model = tf.keras.Sequential([tf.keras.layers.Dense(512, activation="relu"), tf.keras.layers.Dense(10)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(np.zeros((256, 64), np.float32), np.zeros((256, 10), np.float32), batch_size=64, epochs=1, verbose=0)


def function():
    @tf.function
    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = tf.reduce_sum(tf.nn.relu(x @ w))
        return w - 0.1 * tape.gradient(loss, w)

    weights = tf.ones((256, 256))
    for _ in range(3):
        weights = step(tf.ones((64, 256)), weights)
    assert "GPU" in weights.device


def out_of_memory():
    try:
        tf.zeros((1 << 38,), tf.float32)
    except tf.errors.ResourceExhaustedError:
        pass
    else:
        raise AssertionError("a request for 1 TiB was served")
    tf.ones(1000).numpy()


def profiler():
    folder = tempfile.mkdtemp()
    try:
        tf.profiler.experimental.start(folder)
        tf.reduce_sum(tf.ones((1000, 1000))).numpy()
        tf.profiler.experimental.stop()
    finally:
        shutil.rmtree(folder)


def all_devices():
    for device in GPUS:
        with tf.device(device.name):
            tf.reduce_sum(tf.ones((512, 512)) @ tf.ones((512, 512))).numpy()


run_programs((tensors, training, function, out_of_memory, profiler, all_devices), account)
