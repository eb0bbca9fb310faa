// The script with which `run --emulate` asks the job's Python which frameworks it has. It imports none of them and
// prints one JSON object.
#pragma once

namespace hbmscope::cli {

inline constexpr const char* python_probe = R"PYTHON(
import glob, importlib.metadata, importlib.util, json, mmap, os, shutil


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def folders_of(package):
    spec = importlib.util.find_spec(package)
    return list(spec.submodule_search_locations or []) if spec is not None else []


def names_in(package, *path):
    """What a file of the package defines, which imports nothing."""
    names = {}
    try:
        with open(os.path.join(folders_of(package)[0], *path)) as file:
            exec(file.read(), names)
    except Exception:
        return {}
    return names


def libtpu():
    """Its library, and the package's version."""
    files = [os.path.join(folder, "libtpu.so") for folder in folders_of("libtpu")]
    found = [file for file in files if os.path.exists(file)]
    return (found[0], version("libtpu") or version("libtpu-nightly")) if found else (None, None)


def find(*patterns):
    return [file for folder in folders_of("nvidia") for pattern in patterns for file in glob.glob(os.path.join(folder, pattern))]


def xla_knows(flag):
    """XLA ends the process on a flag that it doesn't know. One that it has is a C string; the description of its options keeps
    the names of others."""
    files = [file for folder in folders_of("jax_plugins") for file in glob.glob(os.path.join(folder, "xla_cuda*", "*.so"))]

    def has_it(name):
        with open(name, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return text.find(flag + b"\0") >= 0

    return bool(files) and all(map(has_it, files))


plugins = {major: version(f"jax-cuda{major}-plugin") for major in (12, 13)}
print(
    json.dumps(
        {
            "jax": version("jax"),
            "jax_cuda": [major for major, found in plugins.items() if found],
            "torch": version("torch"),
            "torch_xla": version("torch_xla"),
            "torch_cuda": names_in("torch", "version.py").get("cuda"),
            "tensorflow": version("tensorflow"),
            "tensorflow_cuda": names_in("tensorflow", "python", "platform", "build_info.py").get("build_info", {}).get("cuda_version"),
            "libtpu": libtpu()[0],
            "libtpu_version": libtpu()[1],
            "cudnn": [found for major in (12, 13) if (found := version(f"nvidia-cudnn-cu{major}"))],
            "can_split_k": xla_knows(b"xla_gpu_enable_split_k_autotuning"),
            "has_cupy": importlib.util.find_spec("cupy") is not None,
            "has_ptxas": bool(find("cuda_nvcc/bin/ptxas", "cu*/bin/ptxas") or shutil.which("ptxas")),
            "has_libdevice": bool(find("cuda_nvcc/nvvm/libdevice/*.bc", "cu*/nvvm/libdevice/*.bc") or glob.glob("/usr/local/cuda*/nvvm/libdevice/*.bc")),
        }
    )
)
)PYTHON";

}  // namespace hbmscope::cli
