"""Puts what `cmake --install` has installed into the wheel: the program becomes a script, and all else lies in the same
folders below the environment (lib/hbmscope, share/hbmscope, include), where the program looks for it."""

import pathlib
import platform
import subprocess

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "build/wheel/files"
# The oldest glibc whose symbols our binaries need; tests/package/symbols_test.py checks them.
GLIBC = "2_34"


class WheelFiles(BuildHookInterface):
    def initialize(self, version, build_data):
        installed = pathlib.Path(self.root) / FOLDER
        if not (installed / "bin" / "hbmscope").exists():  # pip install of a clone.
            subprocess.run(["make", "wheel-files"], cwd=self.root, check=True)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_{GLIBC}_{platform.machine()}"
        build_data["shared_scripts"][f"{FOLDER}/bin/hbmscope"] = "hbmscope"
        for name in ("lib", "share", "include"):
            build_data["shared_data"][f"{FOLDER}/{name}"] = name
