#!/usr/bin/env python3
"""`torch_dump` beside Python's own pickle, line by line.

    read_vs_python.py TORCH_DUMP [FILE...]

Without FILE: every file of $HBMSCOPE_DATA/torch (default ../shared/data/torch, next to the checkout), and snapshots
that are made up here, in all protocols and schemas. Exits with 1 and says what differs.
"""

import gzip
import io
import os
import pathlib
import pickle
import pickletools
import random
import subprocess
import sys
import tempfile
import zipfile

import make_snapshot

MASK = (1 << 64) - 1
ACTIONS = set(make_snapshot.ACTIONS) | {"free", "snapshot", "oom"}


def fnv(text, value=1469598103934665603):
    for byte in text.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 1099511628211) & MASK
    return value


def signed(value):
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def number(record, key, absent="-"):
    value = record.get(key)
    return absent if value is None else str(signed(int(value)))


class Dump:
    """Keeps the objects that it names by id() alive through self.snapshot."""

    def __init__(self, snapshot):
        self.snapshot, self.stacks, self.line_sum, self.out = snapshot, {}, 0, []

    def stack(self, frames):
        if not isinstance(frames, list):
            frames = []
        known = self.stacks.get(id(frames))
        if known is None:
            text = "".join(f"{f.get('name', '')}|{f.get('filename', '')}|{f.get('line', 0)}\n" for f in frames)
            known = (f"{fnv(text):016x}", sum(f.get("line", 0) for f in frames), frames)
            self.stacks[id(frames)] = known
        self.line_sum += known[1]
        return known[0]

    def text(self, value):
        return "" if value is None else str(value)

    def sums(self, prefix, rows):
        sums = {}
        for key, size in rows:
            count, total = sums.get(key, (0, 0))
            sums[key] = (count + 1, total + size)
        for key in sorted(sums, key=lambda text: text.encode()):
            self.out.append(f"{prefix} {key} {sums[key][0]} bytes {sums[key][1]}")

    def segments(self, segments):
        value, total = fnv(""), 0
        for s in segments:
            total += s.get("total_size", 0)
            pool = s.get("segment_pool_id", (0, 0))
            kind = s.get("segment_type")
            value = fnv(
                f"{s.get('device', 0)}|{s.get('address', 0) & MASK}|{s.get('total_size', 0)}"
                f"|{number(s, 'allocated_size')}|{number(s, 'active_size')}|{number(s, 'requested_size')}"
                f"|{s.get('stream', 0)}|{kind if kind in ('small', 'large') else 'unknown'}|{pool[0]},{pool[1]}"
                f"|{int(s.get('is_expandable', 0))}|{self.stack(s.get('frames'))}|{len(s['blocks'])}\n",
                value,
            )
        self.out.append(f"segments {len(segments)} bytes {total} {value:016x}")

    def blocks(self, segments):
        value, rows = fnv(""), []
        for s in segments:
            address = s.get("address", 0)
            for b in s["blocks"]:
                address = b.get("address", address)
                use = b.get("history", [{}])[0]
                state = b.get("state", "unknown").replace("awaiting", "pending")
                requested = {"is": b.get("requested_size", use.get("real_size"))}
                frames = b["frames"] if "frames" in b else use.get("frames")
                value = fnv(
                    f"{address & MASK}|{b['size']}|{number(requested, 'is')}|{state}|{self.stack(frames)}"
                    f"|{self.text(b.get('user_metadata'))}\n",
                    value,
                )
                rows.append((state, b["size"]))
                address += b["size"]
        self.sums("blocks", rows)
        self.out.append(f"blocks {len(rows)} {value:016x}")

    def trace(self, device, trace):
        value, rows = fnv(""), []
        for e in trace:
            action = e.get("action", "")
            value = fnv(
                f"{action}|{int(e.get('addr') or 0) & MASK}|{int(e.get('size', 0))}|{signed(e.get('stream', 0))}"
                f"|{number(e, 'time_us')}|{self.stack(e.get('frames'))}"
                f"|{number(e, 'device_free') if action == 'oom' else ''}"
                f"|{self.text(e.get('user_metadata'))}|{self.text(e.get('compile_context'))}\n",
                value,
            )
            rows.append((action, int(e.get("size", 0))))
        self.sums(f"device {device}", rows)
        self.out.append(f"device {device} entries {len(trace)} {value:016x}")

    def settings(self, settings, prefix=""):
        for key, value in settings.items():
            if isinstance(value, dict):
                yield from self.settings(value, f"{prefix}{key}.")
            else:
                yield f"{prefix}{key}={value}\n"

    def lines(self):
        bare = isinstance(self.snapshot, list)
        whole = {"segments": self.snapshot} if bare else self.snapshot
        self.segments(whole.get("segments", []))
        self.blocks(whole.get("segments", []))
        for device, trace in enumerate(whole.get("device_traces", [])):
            self.trace(device, trace)
        annotations = whole.get("external_annotations", [])
        text = "".join(f"{a['stage']}|{a['name']}|{a['device']}|{number(a, 'time_us')}\n" for a in annotations)
        settings = list(self.settings(whole.get("allocator_settings", {})))
        self.out.append(f"annotations {len(annotations)} {fnv(text):016x}")
        self.out.append(f"settings {len(settings)} {fnv(''.join(settings)):016x}")
        self.out.append(f"sum of frames' lines {self.line_sum}")
        return self.out


def differences(torch_dump, path, snapshot):
    run = subprocess.run([torch_dump, path], capture_output=True, text=True, check=False)
    found = [line for line in run.stdout.splitlines() if not line.startswith("#")]
    wanted = Dump(snapshot).lines()
    if run.returncode != 0:
        return [f"exit {run.returncode}: {run.stdout}{run.stderr}"]
    return [f"{a!r} is not Python's {b!r}" for a, b in zip(found, wanted) if a != b] + (
        ["another number of lines"] if len(found) != len(wanted) else []
    )


def zipped(data, method, name="archive/data.pkl"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(name, data)
        archive.writestr("archive/version", "3\n")
    return out.getvalue()


def python2_pickle(snapshot):
    """The pickler written in Python with nothing in its memo: every frame and list by itself."""
    out = io.BytesIO()
    pickler = pickle._Pickler(out, 2)  # pylint: disable=protected-access
    pickler.fast = True
    pickler.dump(snapshot)
    return out.getvalue()


def made_up():
    """(what it is, bytes, the snapshot)."""
    for seed in range(8):
        source = random.Random(seed)
        make = make_snapshot.odd_snapshot if seed % 3 else lambda r: make_snapshot.random_snapshot(r, 400)
        snapshot = make(source)
        if seed % 5 == 4:
            snapshot = snapshot["segments"]  # torch.cuda.memory_snapshot()
        for protocol in (2, 3, 4, 5):
            data = pickle.dumps(snapshot, protocol)
            yield f"seed {seed} protocol {protocol}", data, snapshot
        data = pickle.dumps(snapshot, 2 + seed % 4)
        yield f"seed {seed} optimized", pickletools.optimize(data), snapshot
        yield f"seed {seed} without a memo", python2_pickle(snapshot), snapshot
        yield f"seed {seed} gzip", gzip.compress(data), snapshot
        yield f"seed {seed} stored zip", zipped(data, zipfile.ZIP_STORED), snapshot
        yield f"seed {seed} deflated zip", zipped(data, zipfile.ZIP_DEFLATED), snapshot
        yield f"seed {seed} upload", zipped(data, zipfile.ZIP_DEFLATED, "snapshot.pickle"), snapshot
        yield f"seed {seed} gzipped zip", gzip.compress(zipped(data, zipfile.ZIP_STORED)), snapshot


def real_files():
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(os.environ.get("HBMSCOPE_DATA", root / "../shared/data")) / "torch"
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    if not files:
        print(f"only made-up snapshots: no real ones in {folder}; HBMSCOPE_DATA names the folder that has them")
    return files


def main():
    torch_dump = sys.argv[1]
    files = [pathlib.Path(name) for name in sys.argv[2:]]
    compared = failed = 0
    for path in files or real_files():
        found = differences(torch_dump, path, pickle.loads(path.read_bytes()))
        compared += 1
        failed += len(found)
        for difference in found:
            print(f"{path.name}: {difference}")
    with tempfile.TemporaryDirectory() as folder:
        for what, data, snapshot in [] if files else made_up():
            path = pathlib.Path(folder) / "snapshot"
            path.write_bytes(data)
            found = differences(torch_dump, path, snapshot)
            compared += 1
            failed += len(found)
            for difference in found:
                print(f"{what}: {difference}")
    print(f"{compared} snapshots, {failed} differences")
    sys.exit(1 if failed or not compared else 0)


if __name__ == "__main__":
    main()
