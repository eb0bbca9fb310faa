"""Made-up traces of torch.profiler: what `hbmscope report` says at many moments, and of a recording made of them, held
against sums made here. Blocks that lived before the profile, several devices and threads, events in no order."""

import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
POOL = 1 << 30
BASE_NS = 1_759_000_000_000_000_000
DEVICES = [(1, 0, "CUDA 0"), (1, 1, "CUDA 1"), (0, -1, "CPU")]


def report(file, *arguments):
    answer = subprocess.run([PROGRAM, "report", "--json", str(file), *arguments], capture_output=True, text=True)
    if answer.returncode != 0:
        raise SystemExit(f"{file} {arguments}: {answer.stderr}")
    return json.loads(answer.stdout)


def expect(what, should, is_):
    if should != is_:
        raise SystemExit(f"{what}: should be {should}, is {is_}")


def make_trace(chance, count):
    """The events in the order of time, and what lives after each: (heap, address) to size."""
    live = {(chance.choice(DEVICES)[2], 512 * n): chance.randrange(1, 1 << 20) for n in range(1, 20)}
    # No event names the blocks that are never freed; the total includes them.
    moments, events, time_us, older, reported = [(0, dict(live), frozenset())], [], 1000.0, dict(live), frozenset()
    for number in range(count):
        time_us += chance.randrange(1, 9000) / 1000
        kind, index, name = chance.choice(DEVICES)
        places = [place for place in live if place[0] == name]
        if places and chance.random() < 0.5:
            place = chance.choice(places)
            size = -live.pop(place)
        else:
            place, size = (name, 1 << 20 | number << 12), 512 * chance.randrange(1, 4000)
            live[place] = size
        older = {key: value for key, value in older.items() if key != place}
        total = sum(value for key, value in live.items() if key[0] == name)
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7,
                       "tid": chance.choice([7, 8]), "ts": round(time_us, 3),
                       "args": {"Total Reserved": POOL, "Total Allocated": total, "Bytes": size, "Addr": place[1],
                                "Device Id": index, "Device Type": kind, "Ev Idx": number}})
        reported = reported | {name}
        moments.append((round(time_us, 3), dict(live), reported))
    return events, moments, older


def check_moment(name, live, older, reported, answer):
    for heap in answer["heaps"]:
        sizes = {place: size for place, size in live.items() if place[0] == heap["name"]}
        unnamed = [place for place in sizes if place in older]
        in_use = sum(sizes.values())
        expect(f"{name}: {heap['name']} in use", in_use, heap["in_use_bytes"])
        expect(f"{name}: {heap['name']} blocks", len(sizes) - max(0, len(unnamed) - 1), heap["live_blocks"])
        is_reported = heap["name"] in reported
        expect(f"{name}: {heap['name']} pool", POOL if is_reported else None, heap["pool_bytes"])
        expect(f"{name}: {heap['name']} free", POOL - in_use if is_reported else None, heap["free_bytes"])
        for key in ("requested_bytes", "largest_free_bytes", "external_fragmentation", "internal_fragmentation"):
            expect(f"{name}: {key}", None, heap[key])


def check(seed):
    chance = random.Random(seed)
    events, moments, older = make_trace(chance, 400)
    in_file = list(events)
    chance.shuffle(in_file)
    text = json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": BASE_NS, "traceEvents": in_file})
    with tempfile.TemporaryDirectory() as folder:
        bare, packed, recorded = (pathlib.Path(folder) / name for name in ("a.json", "b.json.gz", "c.hbm"))
        bare.write_text(text)
        packed.write_bytes(gzip.compress(text.encode()))
        subprocess.run([PROGRAM, "convert", str(bare), "-o", str(recorded)], check=True, capture_output=True)
        for file in (bare, packed, recorded):
            answer = report(file)
            expect("format", "recording" if file == recorded else "kineto", answer["format"])
            expect("heaps", sorted(device[2] for device in DEVICES), sorted(heap["name"] for heap in answer["heaps"]))
            check_moment(f"{file} at the end", moments[-1][1], older, moments[-1][2], answer)
            check_moment(f"{file} at the start", moments[0][1], older, moments[0][2], report(file, "--at", "start"))
            for heap in answer["heaps"]:
                peak = max(sum(size for place, size in live.items() if place[0] == heap["name"]) for _, live, _ in moments)
                expect(f"{file}: {heap['name']} peak", peak, heap["peak_in_use_bytes"])
            for time_us, live, reported in chance.sample(moments[1:], 8):
                since = (round(time_us * 1000) - round(moments[1][0] * 1000))
                answer = report(file, "--at", f"{since}ns")
                check_moment(f"{file} at {since} ns", live, older, reported, answer)
                second = (BASE_NS + round(time_us * 1000)) // 10**9 % 60
                if f":{second:02}." not in answer["moment"]["name"]:
                    raise SystemExit(f"{file}: {answer['moment']['name']} lacks the time of day")


if __name__ == "__main__":
    for seed in range(6):
        check(seed)
    print("6 made-up traces of torch.profiler, bare, gzipped and recorded: no difference")
