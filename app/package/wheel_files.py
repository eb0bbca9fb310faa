"""Puts what `cmake --install` has installed into the wheel: the program becomes a script, and all else lies in the same
folders below the environment (lib/hbmscope, share/hbmscope, include), where the program looks for it. Its description is
the README, without the links and the picture that only a clone has."""

import os
import pathlib
import platform
import re
import subprocess
import sys

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

FOLDER = "build/wheel/files"


class WheelFiles(BuildHookInterface):
    def initialize(self, version, build_data):
        if platform.system() != "Linux" or platform.libc_ver()[0] != "glibc":
            sys.exit("hbmscope's wheel is for Linux with glibc")
        if not os.environ.get("HBMSCOPE_WHEEL_FILES_ARE_NEW"):  # `make wheel` has just made them; `pip install .` has not.
            subprocess.run(["make", "wheel-files"], cwd=self.root, check=True)
        sys.path.insert(0, os.path.join(self.root, "app", "package"))
        from needed_glibc import needed_by_all

        glibc = "_".join(map(str, needed_by_all(pathlib.Path(self.root) / FOLDER)))
        build_data["pure_python"] = False
        machine = os.environ.get("HBMSCOPE_WHEEL_MACHINE") or platform.machine()
        build_data["tag"] = f"py3-none-manylinux_{glibc}_{machine}"
        build_data["shared_scripts"][f"{FOLDER}/bin/hbmscope"] = "hbmscope"
        for name in ("lib", "share", "include"):
            build_data["shared_data"][f"{FOLDER}/{name}"] = name


class WheelReadme(MetadataHookInterface):
    def update(self, metadata):
        text = (pathlib.Path(self.root) / "README.md").read_text()
        text = re.sub(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", "", text)
        text = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)
        text += "\nThe pages that are named here are installed in `share/doc/hbmscope` of the environment.\n"
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
