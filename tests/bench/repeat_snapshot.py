#!/usr/bin/env python3
"""Makes a large PyTorch snapshot of a small real one, by repeating what its busiest device did.

    repeat_snapshot.py SNAPSHOT OUT BYTES

Only blocks that were allocated and freed within the trace are repeated, at addresses where nothing else stood, so that the
large one is as consistent as the small one; the real trace stands at its end, as it is. Texts and stacks are shared, as
PyTorch's own pickler shares them. Written opcode by opcode: Python's pickler would keep every entry in memory.
"""

import bisect
import pickle
import struct
import sys


def repeatable(snapshot, trace):
    """The entries of blocks that come and go within the trace, in order."""
    live, pairs, standing = {}, [], []
    for number, entry in enumerate(trace):
        action, address = entry["action"], entry["addr"]
        if action == "alloc":
            live[address] = [number]
        elif address in live and action == "free_requested":
            live[address].append(number)
        elif address in live and action in ("free_completed", "free"):
            pairs.append(live.pop(address) + [number])
        elif action == "free_requested" or action.startswith("segment"):
            standing.append((address, address + entry["size"]))
    for segment in snapshot["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"].startswith("active") and address not in live:
                standing.append((address, address + block["size"]))
            address += block["size"]
    standing.sort()
    reach, ends = 0, []
    for _, end in standing:
        reach = max(reach, end)
        ends.append(reach)
    begins = [begin for begin, _ in standing]

    def is_clear(begin, end):
        before = bisect.bisect_left(begins, end)
        return before == 0 or ends[before - 1] <= begin

    kept = [number for pair in pairs for number in pair
            if is_clear(trace[pair[0]]["addr"], trace[pair[0]]["addr"] + trace[pair[0]]["size"])]
    return [trace[number] for number in sorted(kept)]


class Writer:
    """Pickle protocol 4 with a memo of its own: equal texts and the same lists are written once."""

    def __init__(self, path):
        self.file = open(path, "wb", buffering=1 << 22)
        self.memo = {}
        self.write = self.file.write
        self.write(b"\x80\x04")

    def remember(self, key):
        number = struct.pack("<I", len(self.memo))
        self.memo[key] = b"j" + number
        self.write(b"r" + number)

    @staticmethod
    def integer(value):
        if 0 <= value < 1 << 31:
            return b"J" + struct.pack("<i", value)
        count = value.bit_length() // 8 + 1
        return b"\x8a" + bytes([count]) + value.to_bytes(count, "little", signed=True)

    @staticmethod
    def key_of(value):
        return ("text", value) if isinstance(value, str) else id(value)

    def put(self, value):
        key = self.key_of(value)
        if value is None or isinstance(value, bool):
            self.write({None: b"N", True: b"\x88", False: b"\x89"}[value])
        elif isinstance(value, int):
            self.write(self.integer(value))
        elif isinstance(value, float):
            self.write(b"G" + struct.pack(">d", value))
        elif key in self.memo:
            self.write(self.memo[key])
        elif isinstance(value, str):
            encoded = value.encode()
            self.write(b"X" + struct.pack("<I", len(encoded)) + encoded)
            self.remember(key)
        elif isinstance(value, tuple):
            self.write(b"(")
            self.put_all(value)
            self.write(b"t")
            self.remember(key)
        elif isinstance(value, list):
            self.write(b"]")
            self.remember(key)
            self.write(b"(")
            self.put_all(value)
            self.write(b"e")
        else:
            self.write(b"}")
            self.remember(key)
            self.write(b"(")
            self.put_all(part for item in value.items() for part in item)
            self.write(b"u")

    def put_all(self, values):
        for value in values:
            self.put(value)

    def head_of(self, entry):
        """An entry up to its time; everything in it was written before."""
        parts = [b"}("]
        for key, value in entry.items():
            if key == "time_us":
                continue
            parts.append(self.memo[("text", key)])
            if isinstance(value, int) and not isinstance(value, bool):
                parts.append(self.integer(value))
            else:
                parts.append(b"N" if value is None else self.memo[self.key_of(value)])
        return b"".join(parts) + self.memo[("text", "time_us")]

    def put_trace(self, trace, entries, wanted_bytes):
        # All texts and stacks get their numbers in a list that is thrown away.
        self.write(b"]")
        self.write(b"(")
        self.put_all(part for entry in entries for item in entry.items() for part in item if not isinstance(part, int))
        self.write(b"e0")
        heads = [(self.head_of(entry), entry["time_us"]) for entry in entries]
        period = trace[-1]["time_us"] - trace[0]["time_us"] + 1000
        rounds = max(0, (wanted_bytes - self.file.tell()) // max(1, sum(len(head) + 11 for head, _ in heads)))
        self.write(b"]")
        for number in range(rounds):
            shift = (number - rounds) * period
            self.write(b"(" + b"".join(head + b"\x8a\x08" + struct.pack("<q", time + shift) + b"u" for head, time in heads) + b"e")
        self.write(b"(")
        self.put_all(trace)
        self.write(b"e")
        return rounds * len(heads) + len(trace)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        snapshot = pickle.load(file)
    traces = snapshot["device_traces"]
    busiest = max(range(len(traces)), key=lambda device: len(traces[device]))
    entries = repeatable(snapshot, traces[busiest])
    writer = Writer(sys.argv[2])
    writer.write(b"}(")
    for key, value in snapshot.items():
        writer.put(key)
        if key != "device_traces":
            writer.put(value)
            continue
        writer.write(b"](")
        for device, trace in enumerate(value):
            if device == busiest:
                count = writer.put_trace(trace, entries, int(sys.argv[3]))
            else:
                writer.put(trace)
        writer.write(b"e")
    writer.write(b"u.")
    print(f"{count:,} entries, {writer.file.tell():,} bytes")
    writer.file.close()


if __name__ == "__main__":
    main()
