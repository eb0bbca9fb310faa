#!/usr/bin/env python3
"""Makes the sample profiles again, by running the programs beside this file with JAX on the CPU.

    samples/make_profiles.py [--out FOLDER]          (make samples)

Uses the JAX of this interpreter; where it has none, JAX goes into a virtual environment in build/jax first.

A profile names the source file of every frame, and so reveals the folders of the machine that made it. The folders are
replaced by neutral ones: the programs' own by /srv/train, site-packages and Python's library by those of /srv/venv and
/usr. Nothing else in the files changes.
"""

import argparse
import gzip
import importlib.util
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
JAX = "jax==0.10.2"
ENVIRONMENT = HERE.parent / "build/jax"
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
RUNS = (
    ("arrays.py", {}),
    ("train.py", {}),
    ("sharded.py", {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}),
)
STRING_TABLE = 6  # Field number in the pprof message.


def neutral_folders():
    """(real prefix, neutral prefix), the longest real prefix first."""
    pairs = {
        str(HERE): "/srv/train",
        sysconfig.get_path("purelib"): f"/srv/venv/lib/{PYTHON}/site-packages",
        sysconfig.get_path("platlib"): f"/srv/venv/lib/{PYTHON}/site-packages",
        sysconfig.get_path("stdlib"): f"/usr/lib/{PYTHON}",
    }
    return sorted(pairs.items(), key=lambda pair: -len(pair[0]))


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def rewrite_strings(message, rewrite):
    """The same protobuf message with every string of its string table passed through `rewrite`."""
    out = bytearray()
    at = 0
    while at < len(message):
        begin = at
        tag, at = read_varint(message, at)
        if tag & 7 == 0:
            _, at = read_varint(message, at)
        elif tag & 7 == 2:
            length, at = read_varint(message, at)
            body = message[at : at + length]
            at += length
            if tag >> 3 == STRING_TABLE:
                text = rewrite(body.decode()).encode()
                out += varint(tag) + varint(len(text)) + text
                continue
        else:
            raise ValueError(f"wire type {tag & 7} at byte {begin}: JAX wrote no such field when this script was written")
        out += message[begin:at]
    return bytes(out)


def neutral(text):
    for real, replacement in neutral_folders():
        if text == real or text.startswith(real + os.sep):
            return replacement + text[len(real) :].replace(os.sep, "/")
    if text.startswith("/"):
        raise ValueError(f"{text} is in none of the folders for which this script has a neutral name")
    return text


def continue_with_jax():
    """Does not return: starts this script again with an interpreter that has JAX."""
    python = ENVIRONMENT / "bin/python"
    if pathlib.Path(sys.prefix) == ENVIRONMENT:
        sys.exit(f"{JAX} is not in {ENVIRONMENT}; remove that folder and try again")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", JAX], check=True)
    os.execv(python, [python, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="where the profiles go (default: samples/)")
    out = parser.parse_args().out
    if importlib.util.find_spec("jax") is None:
        continue_with_jax()
    out.mkdir(parents=True, exist_ok=True)
    for program, variables in RUNS:
        with tempfile.TemporaryDirectory() as made:
            environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONDONTWRITEBYTECODE": "1", **variables}
            subprocess.run([sys.executable, HERE / program, "--out", made], env=environment, check=True)
            for profile in sorted(pathlib.Path(made).iterdir()):
                message = rewrite_strings(gzip.decompress(profile.read_bytes()), neutral)
                (out / profile.name).write_bytes(gzip.compress(message, mtime=0))
                print(f"{out / profile.name}: {len(message)} bytes, from {program}")


if __name__ == "__main__":
    main()
