"""Checks at the end: pictures of what was recorded, and that nothing is left behind."""

import shutil
import struct
import time
import zlib

from machine import Missed, NotJudged, last_words
from verdict import MIB, Check

COLORS_LEAST = 40
RETURNED_MAX = 64 * MIB


def colors_of(path):
    """How many colors a PNG of 8 bits a channel has, before its filters are undone: enough to tell a picture from an empty one."""
    data, at, pixels = path.read_bytes(), 8, b""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise Missed(f"{path.name} is no PNG")
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, _, _, color = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            pixels += body
        at += size + 12
    row = 1 + width * (4 if color == 6 else 3)
    pixels, step = zlib.decompress(pixels), 4 if color == 6 else 3
    return len({pixels[start + i : start + i + step] for start in range(0, len(pixels), row) for i in range(1, row, step)})


def pictures(machine, figures, is_planted):
    full = machine.full_program()
    if not machine.recordings:
        raise NotJudged("no other check has recorded a job")
    if is_planted:
        first = next(iter(machine.recordings.values()))
        first.write_bytes(first.read_bytes()[:8] + bytes(first.stat().st_size - 8))
    drawn, colors = 0, []
    wrapper = ["xvfb-run", "-a"] if shutil.which("xvfb-run") else []
    for name, recording in machine.recordings.items():
        picture = machine.folder / f"{name}.png"
        done = machine.processes.run([*wrapper, full, "open", recording, "--view", "heap-map", "--screenshot", picture], machine.plain_environment(), 60)
        if done.code != 0 or not picture.exists():
            figures.true(f"picture of {name}", False, f"exit code {done.code}: {last_words(done.errors)}")
            continue
        drawn += 1
        colors.append(colors_of(picture))
    figures.equal("recorded jobs with a picture", drawn, len(machine.recordings))
    figures.at_least("colors in the plainest picture", min(colors, default=0), COLORS_LEAST)


def leftovers(machine, figures, is_planted):
    if is_planted:
        machine.processes.run(["sh", "-c", "setsid sleep 300 >/dev/null 2>&1 </dev/null &"], machine.plain_environment())
    left = machine.processes.leftovers + machine.processes.sweep(1)
    figures.equal("processes that outlived their command" + (f" ({left[0][:100]})" if left else ""), len(left), 0)


def memory_back(machine, figures, is_planted):
    """Other users of the device disturb this figure: the judge wants it for itself."""
    until = time.monotonic() + 5
    while (missing := machine.free_at_start - machine.free_bytes()) > RETURNED_MAX and time.monotonic() < until:
        time.sleep(0.5)
    figures.at_most(f"{machine.free_at_start} B were free at the start; missing at the end", max(0, missing), RETURNED_MAX)


CHECKS = [
    Check("pictures", "hbmscope open FILE --view heap-map --screenshot, of each recorded job", f"a picture of at least {COLORS_LEAST} colors", "one recording is overwritten with zeros", pictures),
    Check("leftovers", "the judge's token in /proc/PID/environ", "no process outlives its command", "a command leaves a process in a session of its own", leftovers),
    Check("memory_back", "cuMemGetInfo before and after", f"at most {RETURNED_MAX // MIB} MiB less", "", memory_back),
]
