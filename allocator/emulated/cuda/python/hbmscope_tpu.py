"""What a program needs besides the plugin so that it runs on an emulated TPU slice.

One process has the devices of all hosts. For JAX there is nothing to connect: jax.distributed.initialize() says so and
returns. torch_xla starts a process for each chip of its host, with a thread for each device of the chip; here it starts
one process, with a thread for each device of the slice. sitecustomize imports this module if HBMSCOPE_TPU_TOPOLOGY is set.
"""

import os
import sys

import hbmscope_imports

_is_initialized = False


def _say(text):
    print(f"hbmscope: {text} of {os.environ.get('HBMSCOPE_TPU_TOPOLOGY')}", file=sys.stderr)


def _initialize(*arguments, **keywords):
    global _is_initialized
    _is_initialized = True
    _say("jax.distributed is emulated: this process, 0 of 1, has all devices")


def _shutdown():
    global _is_initialized
    _is_initialized = False


def _change_jax(module):
    module.initialize = _initialize
    module.shutdown = _shutdown
    module.is_initialized = lambda: _is_initialized


def _num_local_processes():
    _say("torch_xla starts one process, whose threads have all devices")
    return 1


def _change_torch_xla(module):
    module.num_local_processes = _num_local_processes
    # They limit the process to one chip.
    module.configure_topology = module.configure_one_chip_topology = lambda *arguments, **keywords: None


hbmscope_imports.change({"jax._src.distributed": _change_jax, "torch_xla._internal.tpu": _change_torch_xla})
