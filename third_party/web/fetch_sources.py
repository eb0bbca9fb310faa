#!/usr/bin/env python3
"""Gets the sources of Debian's packages that the page in a browser is made of, and unpacks them.

    fetch_sources.py FOLDER

From http://deb.debian.org, or the mirror that HBMSCOPE_DEBIAN_MIRROR names; each archive must have its hash. SQLite's
sources become one file, as its authors publish it.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request

UNICODE = "/usr/share/unicode"
MIRROR = os.environ.get("HBMSCOPE_DEBIAN_MIRROR", "http://deb.debian.org/debian")

# Of Debian 12: the package, its archive, and the archive's SHA-256.
ARCHIVES = {
    "bzip2": ("bzip2_1.0.8.orig.tar.gz", "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269"),
    "libdeflate": ("libdeflate_1.14.orig.tar.gz", "89e7df898c37c3427b0f39aadcf733731321a278771d20fc553f92da8d4808ac"),
    "libzstd": ("libzstd_1.5.4+dfsg2.orig.tar.xz", "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953"),
    "protobuf": ("protobuf_3.21.12.orig.tar.gz", "930c2c3b5ecc6c9c12615cf5ad93f1cd6e12d0aba862b572e076259970ac3a53"),
    "re2": ("re2_20220601+dfsg.orig.tar.xz", "3bc61251da3b0b97be40a8a127818c517c62516e4eda11fc901d29496663df54"),
    "sqlite3": ("sqlite3_3.40.1.orig.tar.xz", "aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655"),
    "xxhash": ("xxhash_0.8.1.orig.tar.gz", "3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c"),
    "xz-utils": ("xz-utils_5.4.1.orig.tar.xz", "5d9827aa1875b21c288f78864bb26d2650b436ea8d2cad364e4921eb6266a5a5"),
    "zlib": ("zlib_1.2.13.dfsg.orig.tar.bz2", "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1"),
}


def archive_of(package, name, sha256):
    letter = package[:4] if package.startswith("lib") else package[:1]
    address = f"{MIRROR}/pool/main/{letter}/{package}/{name.replace('+', '%2B')}"
    with urllib.request.urlopen(address, timeout=60) as answer:
        data = answer.read()
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        sys.exit(f"{address} has the hash {found}, not {sha256}")
    return data


def make_tables(folder):
    """Debian's archive has the scripts that make RE2's tables of Unicode, which read Debian's package unicode-data."""
    script = folder / "unicode.py"
    lines = [f'_UNICODE_DIR = "{UNICODE}"' if line.startswith("_UNICODE_DIR") else line for line in script.read_text().splitlines()]
    script.write_text("\n".join(lines) + "\n")
    for table, program in (("unicode_casefold", "python3"), ("unicode_groups", "python3"), ("perl_groups", "perl")):
        with open(folder / f"{table}.cc", "w") as out:
            subprocess.run([program, f"make_{table}.{'py' if program == 'python3' else 'pl'}"], cwd=folder, check=True, stdout=out)


def fetch(package, name, sha256, folder):
    print(f"getting {name} from {MIRROR}", flush=True)
    with tempfile.TemporaryDirectory(dir=folder) as unpacked:
        archive = pathlib.Path(unpacked) / name
        archive.write_bytes(archive_of(package, name, sha256))
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked)
        (source,) = (entry for entry in pathlib.Path(unpacked).iterdir() if entry.is_dir())
        if package == "re2":
            make_tables(source / "re2")
        if package == "sqlite3":
            (source / "amalgamation").mkdir()
            for command in (["../configure", "--disable-tcl"], ["make", "sqlite3.c"]):
                done = subprocess.run(command, cwd=source / "amalgamation", env={**os.environ, "CC": "cc"}, capture_output=True, text=True)  # CMake has set CC to emcc.
                if done.returncode != 0:
                    sys.exit(f"{package}: {' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        shutil.move(source, folder / package)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for package, (name, sha256) in ARCHIVES.items():
        if not (folder / package).exists():
            fetch(package, name, sha256, folder)


if __name__ == "__main__":
    main()
