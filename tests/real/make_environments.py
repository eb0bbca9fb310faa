#!/usr/bin/env python3
"""Makes Python environments in build/real, each with one framework, from PyPI, for the tests of this folder.

    tests/real/make_environments.py NAME ...     rows of the table below, or all; those that are there stay

One is made at a time, and what pip downloads isn't kept. Wheels of NVIDIA's CUDA libraries are left out: the emulated
device replaces them. JAX needs ptxas and libdevice.
"""

import pathlib
import shutil
import subprocess
import sys

# Name -> packages with their dependencies, packages without; the oldest Python that has them, where it isn't any.
ENVIRONMENTS = {
    "jax-0.4.38": (
        ["jax==0.4.38", "jaxlib==0.4.38", "numpy==2.2.6", "scipy==1.15.3"],
        ["jax-cuda12-plugin==0.4.38", "jax-cuda12-pjrt==0.4.38", "nvidia-cuda-nvcc-cu12==12.9.86"],
    ),
    "jax-0.6.2": (
        ["jax==0.6.2", "jaxlib==0.6.2", "numpy==2.2.6", "scipy==1.15.3"],
        ["jax-cuda12-plugin==0.6.2", "jax-cuda12-pjrt==0.6.2", "nvidia-cuda-nvcc-cu12==12.9.86"],
    ),
    "jax-0.10.2": (
        ["jax==0.10.2", "jaxlib==0.10.2", "numpy==2.2.6", "scipy==1.15.3"],
        [
            "jax-cuda13-plugin==0.10.2",
            "jax-cuda13-pjrt==0.10.2",
            "lammps-jax-pjrt-cpu==0.11.2",  # A CPU plugin, for arrays_test.py.
            "nvidia-cuda-nvcc==13.0.88",
            "nvidia-cuda-crt==13.0.88",
            "nvidia-nvvm==13.0.88",
        ],
    ),
    "jax-0.12.0.1": (
        ["jax==0.12.0.1", "jaxlib==0.12.0.1", "numpy==2.3.5", "scipy==1.16.3"],
        [
            "jax-cuda13-plugin==0.12.0.1",
            "jax-cuda13-pjrt==0.12.0.1",
            "nvidia-cuda-nvcc==13.0.88",
            "nvidia-cuda-crt==13.0.88",
            "nvidia-nvvm==13.0.88",
        ],
        (3, 12),
    ),
    # For TPUs: libtpu's compiler, and what JAX programs are written with.
    "tpu-0.7.2": (
        ["jax==0.7.2", "jaxlib==0.7.2", "libtpu==0.0.23", "numpy==2.2.6", "scipy==1.15.3", "flax==0.12.0", "optax==0.2.6", "orbax-checkpoint==0.11.25"],
        [],
    ),
    "tpu-0.9.0": (
        ["jax==0.9.0", "jaxlib==0.9.0", "libtpu==0.0.34", "numpy==2.2.6", "scipy==1.15.3", "flax==0.12.4", "optax==0.2.6", "orbax-checkpoint==0.11.32"],
        [],
    ),
    "tpu-0.10.2": (
        ["jax==0.10.2", "jaxlib==0.10.2", "libtpu==0.0.51", "numpy==2.2.6", "scipy==1.15.3", "flax==0.12.8", "optax==0.2.8", "orbax-checkpoint==0.12.8"],
        [],
    ),
    "tpu-0.12.0.1": (
        ["jax==0.12.0.1", "jaxlib==0.12.0.1", "libtpu==0.0.50.1", "numpy==2.3.5", "scipy==1.16.3", "flax==0.12.8", "optax==0.2.8", "orbax-checkpoint==0.12.8"],
        [],
        (3, 12),
    ),
    "torch_xla-2.9.0": (
        ["filelock", "typing_extensions", "sympy", "networkx", "jinja2", "fsspec", "numpy==2.2.6", "absl-py", "pyyaml", "requests", "libtpu==0.0.21"],
        ["torch==2.9.0", "torch_xla==2.9.0"],
    ),
    "torch-2.4.1": (
        ["filelock", "typing_extensions", "sympy", "networkx", "jinja2", "fsspec", "numpy==1.26.4"],
        ["torch==2.4.1", "nvidia-nvtx-cu12==12.1.105"],  # Its NVTX is a library.
    ),
    "torch-2.6.0": (
        ["filelock", "typing_extensions", "sympy==1.13.1", "networkx", "jinja2", "fsspec", "numpy==2.2.6"],
        ["torch==2.6.0"],
    ),
    "torch-2.9.1": (
        ["filelock", "typing_extensions", "sympy", "networkx", "jinja2", "fsspec", "numpy==2.2.6", "pillow"],
        ["torch==2.9.1", "torchvision==0.24.1", "triton==3.5.1"],
    ),
    "torch-2.15.0": (
        ["filelock", "typing_extensions", "sympy", "networkx", "jinja2", "fsspec", "numpy==2.2.6"],
        ["torch==2.15.0"],
    ),
    "tensorflow-2.20.0": (
        ["tensorflow==2.20.0"],
        [],
    ),
}


def find_python(oldest):
    """An interpreter of that version or a newer one: this one, or one of the PATH."""
    if sys.version_info[:2] >= oldest:
        return sys.executable
    for minor in range(oldest[1], 15):
        python = shutil.which(f"python3.{minor}")
        if python and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            return python
    sys.exit(f"There is no Python {oldest[0]}.{oldest[1]} or newer on the PATH.")


def make_environment(name, folder):
    with_dependencies, alone, *oldest = ENVIRONMENTS[name]
    subprocess.run([find_python(*(oldest or [(3, 8)])), "-m", "venv", folder], check=True)
    install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    try:
        subprocess.run([*install, *with_dependencies], check=True)
        if alone:
            subprocess.run([*install, "--no-deps", *alone], check=True)
    except BaseException:
        shutil.rmtree(folder)  # Half an environment would be taken for a whole one.
        raise


def main():
    names = list(ENVIRONMENTS) if sys.argv[1:] == ["all"] else sys.argv[1:]
    if not names or any(name not in ENVIRONMENTS for name in names):
        sys.exit(f"usage: {sys.argv[0]} NAME ...\nNAME is all, or one of {', '.join(ENVIRONMENTS)}")
    for name in names:
        folder = pathlib.Path(__file__).resolve().parents[2] / "build" / "real" / name
        if folder.exists():
            continue
        print(f"making {folder}: up to 1 GB from PyPI", flush=True)
        make_environment(name, folder)


if __name__ == "__main__":
    main()
