#!/usr/bin/env python3
"""Makes samples/window.png, the picture in the root README: the window at the failure in fragments.hbm.

    samples/make_picture.py [HBMSCOPE] [--out FILE]          (make samples)

HBMSCOPE is the program, by default build/release/app/hbmscope; it draws the picture without a display. A palette of
256 colors makes the file several times smaller: the most frequent colors stay as they are, every other color becomes
the nearest of them.
"""

import argparse
import collections
import pathlib
import struct
import subprocess
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZE = "1600x1000"


def read_rgb(data):
    """(width, height, rows of RGB bytes) of a PNG with 8 bits a channel, three channels, and no interlacing."""
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, *rest = struct.unpack(">IIBBBBB", body)
            assert rest == [8, 2, 0, 0, 0], f"not an RGB picture with 8 bits a channel: {rest}"
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    return width, height, unfilter(zlib.decompress(packed), width * 3, height)


def unfilter(raw, stride, height):
    """Undoes the five filters of PNG (https://www.w3.org/TR/png/#9Filters)."""
    above, rows = bytes(stride), []
    for y in range(height):
        kind = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for x in range(stride if kind else 0):
            left, up, corner = (row[x - 3], above[x], above[x - 3]) if x >= 3 else (0, above[x], 0)
            near = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]
            row[x] = row[x] + (0, left, up, (left + up) // 2, near)[kind] & 255
        rows.append(bytes(row))
        above = row
    return rows


def palette_of(rows):
    """(up to 256 colors, color -> its number for every color of the rows)."""
    counts = collections.Counter()
    for row in rows:
        counts.update(row[x : x + 3] for x in range(0, len(row), 3))
    colors = [color for color, _ in counts.most_common(256)]
    numbers = {color: number for number, color in enumerate(colors)}
    for color in counts:
        if color not in numbers:
            numbers[color] = min(range(len(colors)), key=lambda n: sum((a - b) ** 2 for a, b in zip(colors[n], color)))
    return colors, numbers


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def write_palette(width, height, rows):
    colors, numbers = palette_of(rows)
    pixels = b"".join(b"\0" + bytes(numbers[row[x : x + 3]] for x in range(0, len(row), 3)) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", b"".join(colors)), (b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hbmscope", nargs="?", default=ROOT / "build/release/app/hbmscope", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "samples/window.png", type=pathlib.Path)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        drawn = pathlib.Path(folder) / "window.png"
        # Run from the root, so that the window shows the path as a person types it.
        command = [wanted.hbmscope.resolve(), "open", "samples/fragments.hbm", "--at", "oom", "--size", SIZE, "--screenshot", drawn]
        subprocess.run(command, cwd=ROOT, check=True)
        wanted.out.write_bytes(write_palette(*read_rgb(drawn.read_bytes())))
    print(f"{wanted.out}: {wanted.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
