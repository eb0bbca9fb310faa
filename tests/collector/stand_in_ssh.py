#!/usr/bin/env python3
"""Stands in for ssh in tests: runs the command on this machine, with a shell and a home of its own, and can be told to
behave badly by files in the folder FAR_FOLDER, which are read at each start:

    refuse    its text is printed, and the end is ssh's own, 255
    banner    its text is printed to standard error first
    slow      seconds to wait before anything
    shell     which shell is the user's there; default /bin/sh
    cut       bytes of standard output after which the line is dead; the file is removed then, so that the next one lives
    path      PATH there
    glibc, machine   what getconf and uname say there
    nvml_library     folder of the pretend NVML there, which tells what the file nvml says

Each command is added to FAR_FOLDER/commands. `home` in that folder is the home there.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

FOLDER = pathlib.Path(os.environ["FAR_FOLDER"])


def reported(name):
    file = FOLDER / name
    return file.read_text() if file.exists() else ""


def words_of(arguments):
    """Host and command, behind the options that are given to ssh."""
    while arguments and arguments[0].startswith("-"):
        arguments = arguments[2 if arguments[0] in ("-o", "-p") else 1 :]
    return arguments[0], " ".join(arguments[1:])


def instead_of(name, output, environment):
    folder = FOLDER / "bin"
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\necho {output}\n")
    file.chmod(0o755)
    environment["PATH"] = f"{folder}:{environment['PATH']}"


def main():
    host, command = words_of(sys.argv[1:])
    with open(FOLDER / "commands", "a") as log:
        log.write(f"{host} {command}\n")
    if reported("slow"):
        time.sleep(float(reported("slow")))
    if reported("banner"):
        sys.stderr.write(reported("banner"))
        sys.stderr.flush()
    if reported("refuse"):
        sys.stderr.write(reported("refuse"))
        sys.exit(255)
    home = FOLDER / "home"
    home.mkdir(exist_ok=True)
    environment = {"HOME": str(home), "PATH": reported("path") or os.environ["PATH"], "XDG_RUNTIME_DIR": str(FOLDER / "runtime")}
    if reported("nvml_library"):
        environment |= {"LD_LIBRARY_PATH": reported("nvml_library"), "FAKE_NVML": str(FOLDER / "nvml")}
    (FOLDER / "runtime").mkdir(exist_ok=True, mode=0o700)
    if reported("glibc"):
        instead_of("getconf", reported("glibc"), environment)
    if reported("machine"):
        instead_of("uname", reported("machine"), environment)
    cut = int(reported("cut") or 0)
    shell = reported("shell") or "/bin/sh"
    if not cut:
        os.chdir(home)
        os.execve(shell, [shell, "-c", command], environment)
    child = subprocess.Popen([shell, "-c", command], stdout=subprocess.PIPE, env=environment, cwd=home)
    left = cut
    while left > 0:
        part = os.read(child.stdout.fileno(), min(left, 4096))
        if not part:
            sys.exit(child.wait())
        os.write(1, part)
        left -= len(part)
    (FOLDER / "cut").unlink()
    # Nothing is sent any more, not even to the other end: like a pulled cable.
    child.send_signal(signal.SIGKILL)
    sys.stderr.write("Connection to far.example closed by remote host.\n")
    sys.exit(255)


main()
