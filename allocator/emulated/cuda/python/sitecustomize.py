"""What a Python process needs so that frameworks use the emulated devices: CUDA devices, or a TPU slice.

Python imports this module at its start, if this folder is on PYTHONPATH. Then it imports the user's own sitecustomize,
if there is one.
"""

import importlib.machinery
import importlib.util
import os.path
import sys

# JAX passes its CUDA plugin by unless one of the kernel driver's files exists (jax/_src/hardware_utils.py).
_DEVICE_FILE = "/dev/nvidiactl"
_really_exists = os.path.exists


def _exists(path):
    return path == _DEVICE_FILE or _really_exists(path)


def _run_next_sitecustomize():
    folder = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("HBMSCOPE_TPU_TOPOLOGY"):
    import hbmscope_tpu  # noqa: F401
else:
    os.path.exists = _exists
    # Otherwise JAX falls back to the CPU without a word if its plugin does not start.
    if not os.environ.get("JAX_PLATFORMS") and any(importlib.util.find_spec(f"jax_cuda{major}_plugin") for major in (12, 13)):
        os.environ["JAX_PLATFORMS"] = "cuda,cpu"
    # The CPU computes what is known (hbmscope_jax.py). The first platform stays the default, and must start.
    elif os.environ.get("JAX_PLATFORMS") in ("cuda", "gpu"):
        os.environ["JAX_PLATFORMS"] += ",cpu"
if os.environ.get("HBMSCOPE_DEVICE_REPORT"):
    import hbmscope_dry_run  # noqa: F401
    import hbmscope_values  # noqa: F401
_run_next_sitecustomize()
