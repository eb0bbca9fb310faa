"""Failures whose causes are known by construction: what a job would have left, and what is true of it.

make_failures(FOLDER, HBMSCOPE) writes the files and returns a list of Failure. The figures of a log or a snapshot are
chosen here. Those of a recording of `hbmscope demo`, whose workload has the cause by design, are counted here from its
exported events, one by one.
"""

import csv
import dataclasses
import io
import pathlib
import pickle
import random
import subprocess

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
POOL_BASE = 0x7F0000000000


@dataclasses.dataclass
class Failure:
    cause: str  # In the words of the table.
    name: str
    file: pathlib.Path
    facts: dict  # Keys of the tool explain, and their values. None: must be unknown.
    holder: tuple | None = None  # What held the most, and its bytes.
    evidence: str = ""  # A part of it.
    advice: str = ""  # A part of what is to change.


# PyTorch's snapshots: every block and its line.


class Snapshot:
    """One segment with blocks in a row, some freed again, then a request that fails."""

    def __init__(self, sizes, freed, request, device_free):
        self.entries, self.blocks = [], []
        lines = [(f"layer_{number}", 10 + number) for number in range(5)]
        self.held = {}
        address = POOL_BASE
        self.add("segment_alloc", address, sum(sizes), "main", 1)
        for number, size in enumerate(sizes):
            name, line = lines[number % 5]
            self.add("alloc", address, size, name, line)
            gone = number in freed
            self.blocks.append({"size": size, "requested_size": 0 if gone else size, "address": address, "state": "inactive" if gone else "active_allocated", "frames": [] if gone else self.frames(name, line)})
            if not gone:
                key = f"{name}  model.py:{line}"
                self.held[key] = self.held.get(key, 0) + size
            address += size
        for number in sorted(freed):
            for action in ("free_requested", "free_completed"):
                self.add(action, self.blocks[number]["address"], sizes[number], "train", 90)
        self.add("oom", 0, request, "attention", 77)
        self.entries[-1]["device_free"] = device_free
        self.in_use = sum(self.held.values())
        self.free = sum(sizes) - self.in_use
        self.largest = max((sizes[number] for number in freed), default=0)  # No two neighbours are freed.
        self.pool = sum(sizes)

    def frames(self, name, line):
        return [{"name": name, "filename": "/srv/train/model.py", "line": line}, {"name": "main", "filename": "/srv/train/train.py", "line": 5}]

    def add(self, action, address, size, name, line):
        self.entries.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": 1_770_000_000_000_000 + len(self.entries) * 1000, "frames": self.frames(name, line)})

    def write(self, file):
        segment = {"device": 0, "address": POOL_BASE, "total_size": self.pool, "allocated_size": self.in_use, "active_size": self.in_use, "requested_size": self.in_use, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": self.blocks}
        file.write_bytes(pickle.dumps({"segments": [segment], "device_traces": [self.entries]}, protocol=4))


def snapshot(folder, verdict, seed):
    choose = random.Random(seed)
    sizes = [choose.randrange(40, 200) * 2 * MIB for _ in range(choose.randrange(30, 60))]
    freed = set(range(1, len(sizes), 2)) if verdict == "fragmentation" else set(choose.sample(range(1, len(sizes), 4), 4))
    whole = Snapshot(sizes, freed, 0, 0)
    device_free = choose.randrange(10, 40) * 2 * MIB
    request = {
        "fragmentation": whole.largest + choose.randrange(1, 50) * 2 * MIB,
        "cannot_grow": whole.free + choose.randrange(1, 10) * 2 * MIB,
        "too_big": whole.free + device_free + choose.randrange(1, 999) * 2 * MIB,
    }[verdict]
    if verdict == "cannot_grow":
        device_free = request - 2 * MIB  # Not enough alone, more than enough together.
    made = Snapshot(sizes, freed, request, device_free)
    file = folder / f"torch_{verdict}_{seed}.pickle"
    made.write(file)
    facts = {"verdict": verdict, "requested_bytes": request, "requested_by": "attention /srv/train/model.py:77", "in_use_bytes": made.in_use, "free_bytes": made.free, "largest_free_bytes": made.largest, "pool_bytes": made.pool, "free_outside_the_pool_bytes": device_free}
    return Failure(f"PyTorch snapshot: {verdict}", file.stem, file, facts, max(made.held.items(), key=lambda one: one[1]), advice="expandable_segments:True" if verdict == "fragmentation" else "")


# Logs of BFC allocators (JAX, TensorFlow): every chunk, without lines.


def mebibytes(size):
    return f"{size / MIB:.2f}MiB"


def bfc_log(folder, verdict, seed):
    choose = random.Random(1000 + seed)
    kinds = [choose.choice((16, 24)) * MIB, choose.choice((32, 48)) * MIB, choose.choice((64, 96)) * MIB]
    chunks = []  # (size, is in use)
    for number in range(choose.randrange(40, 80)):
        chunks.append((choose.choice(kinds), True))
        if number % (2 if verdict == "fragmentation" else 9) == 0:
            chunks.append((choose.randrange(4, 30) * MIB, False))
    held = {}
    for size, in_use in chunks:
        if in_use:
            held[size] = held.get(size, 0) + size
    ranked = sorted(held.items(), key=lambda one: one[1])
    if len(ranked) > 1 and ranked[-1][1] == ranked[-2][1]:
        chunks.append((ranked[-1][0], True))  # Who holds the most is then certain.
        held[ranked[-1][0]] += ranked[-1][0]
    in_use, free = (sum(size for size, used in chunks if used is wanted) for wanted in (True, False))
    largest = max(size for size, used in chunks if not used)
    pool = in_use + free
    left = choose.randrange(500, 900) * MIB if verdict == "cannot_grow" else 0
    limit = pool + left
    request = {
        "fragmentation": largest + choose.randrange(1, 40) * MIB,
        "pool_limit": free + choose.randrange(1, 400) * MIB,
        "cannot_grow": max(free, 400 * MIB) + choose.randrange(1, 40) * MIB,
        "too_big": limit + choose.randrange(1, 4000) * MIB,
    }[verdict]
    start = "W0314 09:12:44.120301    4711 bfc_allocator.cc:"
    lines = [
        f"{start}514] Allocator (GPU_0_bfc) ran out of memory trying to allocate {mebibytes(request)} (rounded to {request})requested by op dot.{seed}",
        "Current allocation summary follows.",
        f"{start}1092] BFCAllocator dump for GPU_0_bfc",
        f"{start}1128] Next region of size {pool}",
    ]
    address = POOL_BASE
    for number, (size, used) in enumerate(chunks):
        following = 18446744073709551615 if number == len(chunks) - 1 else number + 1
        lines.append(f"{start}1148] {'InUse' if used else 'Free '} at {address:x} of size {size} next {following}")
        address += size
    lines += [
        f"{start}1153]      Summary of in-use Chunks by size: ",
        f"{start}1160] Sum Total of in-use chunks: {mebibytes(in_use)}",
        f"{start}1162] Total bytes in pool: {pool} memory_limit_: {limit} available bytes: {left} curr_region_allocation_bytes_: {2 * pool}",
        f"{start}1171] Stats: ",
        *(f"{name + ':':<20}{value:>20}" for name, value in (("Limit", limit), ("InUse", in_use), ("MaxInUse", pool), ("NumAllocs", len(chunks)), ("MaxAllocSize", max(kinds)), ("Reserved", 0), ("PeakReserved", 0), ("LargestFreeBlock", 0))),
        "",
        f"{start}525] {'*' * 100}",
    ]
    file = folder / f"bfc_{verdict}_{seed}.log"
    file.write_text("\n".join(["step 1 loss 2.31"] + lines) + "\n")
    most, size = max((total, size) for size, total in held.items())
    facts = {"verdict": verdict, "requested_bytes": request, "in_use_bytes": in_use, "free_bytes": free, "largest_free_bytes": largest, "pool_bytes": pool, "limit_bytes": limit, "line": 2}
    return Failure(f"JAX log with a dump: {verdict}", file.stem, file, facts, (f"blocks of {size / MIB:.1f} MiB", most))


# Sentences.


def torch_words(request, capacity, free, used, allocated, reserved, other=None):
    """As PyTorch 2 prints it; all in MiB."""
    gib = lambda size: f"{size / 1024:.2f} GiB"
    neighbour = f"Process 4711 has {gib(other)} memory in use. " if other else ""
    return (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {gib(request)}. GPU 0 has a total capacity of {gib(capacity)} of which {gib(free)} is free. {neighbour}"
        f"Including non-PyTorch memory, this process has {gib(used)} memory in use. Of the allocated memory {gib(allocated)} is allocated by PyTorch, and {gib(reserved)} is reserved by PyTorch but unallocated."
    )


def torch_sentence(folder, cause, verdict, name, *figures, other=None):
    request, capacity, free, used, allocated, reserved = figures
    file = folder / f"{name}.log"
    file.write_text(f"[rank0]: step 7\n[rank0]: {torch_words(*figures, other=other)}\n")
    facts = {"verdict": verdict, "requested_bytes": request * MIB, "free_outside_the_pool_bytes": free * MIB, "in_use_bytes": allocated * MIB, "free_bytes": reserved * MIB, "line": 2}
    return Failure(cause, name, file, facts, evidence=f"process 4711: {other / 1024:.1f} GiB" if other else "")


def sentence(folder, cause, name, text, **facts):
    file = folder / f"{name}.log"
    file.write_text(f"starting\n{text}\nbye\n")
    return Failure(cause, name, file, facts)


def sentences(folder):
    G = 1024  # MiB
    yield torch_sentence(folder, "PyTorch log: fragmentation", "fragmentation", "torch_log_holes_1", 2 * G, 80 * G, G, 79 * G, 70 * G, 8 * G)
    yield torch_sentence(folder, "PyTorch log: fragmentation", "fragmentation", "torch_log_holes_2", 3 * G, 24 * G, G // 2, 23 * G, 18 * G, 4 * G)
    yield torch_sentence(folder, "PyTorch log: too big for the device", "too_big", "torch_log_device_1", 100 * G, 80 * G, 79 * G, G, G // 2, G // 4)
    yield torch_sentence(folder, "PyTorch log: too big for the device", "too_big", "torch_log_device_2", 40 * G, 24 * G, 20 * G, 4 * G, 3 * G, G // 2)
    yield torch_sentence(folder, "PyTorch log: all free memory together is too little", "too_big", "torch_log_full_1", 4 * G, 80 * G, G, 79 * G, 77 * G, G // 2)
    yield torch_sentence(folder, "PyTorch log: all free memory together is too little", "too_big", "torch_log_full_2", 6 * G, 40 * G, 2 * G, 38 * G, 36 * G, G)
    yield torch_sentence(folder, "PyTorch log: another process holds the memory", "held_elsewhere", "torch_log_other_1", 2 * G, 80 * G, G, 19 * G, 18 * G, G // 2, other=60 * G)
    yield torch_sentence(folder, "PyTorch log: another process holds the memory", "held_elsewhere", "torch_log_other_2", 4 * G, 24 * G, G, 3 * G, 2 * G, G // 4, other=20 * G)
    yield torch_sentence(folder, "PyTorch log: the pool can't grow", "cannot_grow", "torch_log_grow_1", 4 * G, 24 * G, 3 * G, 21 * G, 18 * G, 2 * G)
    yield torch_sentence(folder, "PyTorch log: the pool can't grow", "cannot_grow", "torch_log_grow_2", 8 * G, 80 * G, 6 * G, 74 * G, 66 * G, 7 * G)
    compiler = "TPU log: the program does not fit"
    yield sentence(folder, compiler, "tpu_compile_1", "Ran out of memory in memory space hbm. Used 68.50M of 64.00M hbm. Exceeded hbm capacity by 4.50M.", verdict="compile_time", requested_bytes=int(68.5 * MIB), limit_bytes=64 * MIB, memory_space="hbm", line=2)
    yield sentence(folder, compiler, "tpu_compile_2", "Ran out of memory in memory space vmem while allocating on stack for %kernel = f32[8,128]{1,0} custom-call(). Scoped allocation with size 64.00M and limit 16.00M exceeded scoped vmem limit by 48.00M.", verdict="compile_time", requested_bytes=64 * MIB, limit_bytes=16 * MIB, memory_space="vmem", line=2)
    yield sentence(folder, "TPU log: an array does not fit", "tpu_full", "Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There are 6.50M free.; (0x0x1_HBM0)", verdict="too_big", requested_bytes=8 * MIB, free_bytes=int(6.5 * MIB), line=2)
    yield sentence(folder, "TPU log: fragmentation", "tpu_holes", "Error allocating device buffer: Attempting to allocate 4.00M. That was not possible. There are 6.50M free. Due to fragmentation, the largest contiguous region of free memory is 16.0K.; (0x0x1_HBM0)", verdict="fragmentation", requested_bytes=4 * MIB, free_bytes=int(6.5 * MIB), largest_free_bytes=16 * KIB, line=2)
    library = "A library found too little outside the pool"
    yield sentence(folder, library, "cublas", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", verdict="outside_pool_starved", allocator="cuBLAS", line=2)
    yield sentence(folder, library, "nccl", "node1:4711:4800 [0] NCCL WARN Cuda failure 2 'out of memory'", verdict="outside_pool_starved", allocator="NCCL", line=2)
    yield sentence(folder, "The host's memory ran out", "host", "Out of host memory while trying to allocate 4294967296 bytes.", verdict="host_memory", requested_bytes=4 * GIB, line=2)
    yield sentence(folder, "CuPy or RMM: the pool's limit", "cupy", "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: 17,179,869,184 bytes, limit set to: 20,000,000,000 bytes).", verdict="pool_limit", requested_bytes=8 * GIB, pool_bytes=16 * GIB, limit_bytes=20_000_000_000, line=2)
    yield sentence(folder, "CuPy or RMM: the pool's limit", "rmm", "RMM failure at: pool_memory_resource.hpp:277: Maximum pool size exceeded (failed to allocate 1.00 GiB)", verdict="pool_limit", requested_bytes=GIB, line=2)
    unknown = "The text does not say why: unknown"
    yield sentence(folder, unknown, "torch_bare", "CUDA out of memory. Tried to allocate 4.50 GiB", verdict="unknown", requested_bytes=9 * GIB // 2, free_bytes=None, line=2)
    yield sentence(folder, unknown, "jax_bare", "Out of memory while trying to allocate 34359738496 bytes.", verdict="unknown", requested_bytes=34359738496, free_bytes=None, line=2)


# Recordings of emulated workloads.


def counted(recording, hbmscope):
    """The facts at the first failure, from the rows of all events before it."""
    rows = subprocess.run([hbmscope, "export", recording, "--to", "csv", "--what", "events", "-o", "/dev/stdout"], check=True, capture_output=True, text=True).stdout
    live, regions, row = {}, [], None
    for row in csv.DictReader(io.StringIO(rows)):
        if row["kind"] == "region_grow":
            regions.append((int(row["address"], 16), int(row["size_bytes"])))
        elif row["kind"] == "alloc":
            live[row["address"]] = (int(row["size_bytes"]), f"{row['own_function']}  {row['own_file']}:{row['own_line']}")
        elif row["kind"] == "free":
            live.pop(row["address"])
        elif row["kind"] == "out_of_memory":
            break
    assert row and row["kind"] == "out_of_memory", f"nothing failed in {recording}"
    blocks = sorted((int(address, 16), size) for address, (size, _) in live.items())
    gaps = []
    for begin, size in regions:
        at = begin
        for address, length in [block for block in blocks if begin <= block[0] < begin + size] + [(begin + size, 0)]:
            gaps.append(address - at)
            at = address + length
    held = {}
    for size, line in live.values():
        held[line] = held.get(line, 0) + size
    in_use = sum(held.values())
    facts = {"requested_bytes": int(row["requested_bytes"]), "requested_by": f"{row['own_function']} {row['own_file']}:{row['own_line']}", "in_use_bytes": in_use, "free_bytes": sum(gaps), "largest_free_bytes": max(gaps), "pool_bytes": sum(size for _, size in regions)}
    return facts, max(held.items(), key=lambda one: one[1])


def emulated(folder, hbmscope, workload, verdict, seed, *options, speed):
    """About a second of it, at SPEED times 600 events a second: long enough for the first failure."""
    file = folder / f"demo {workload} {seed}.hbm"
    subprocess.run([hbmscope, "demo", "--headless", "--workload", workload, "--seed", str(seed), "--for", "1", "--speed", str(speed), "--record", file, *options], check=True, capture_output=True)
    facts, holder = counted(file, hbmscope)
    assert (facts["requested_bytes"] <= facts["free_bytes"]) == (verdict == "fragmentation"), facts
    return Failure(f"Recording of the workload {workload}: {verdict}", file.stem, file, {"verdict": verdict, **facts}, holder, advice="keep metrics.py:17" if workload == "leak" else "")


def make_failures(folder, hbmscope):
    made = [snapshot(folder, verdict, seed) for verdict, count in (("fragmentation", 6), ("cannot_grow", 5), ("too_big", 5)) for seed in range(count)]
    made += [bfc_log(folder, verdict, seed) for verdict, count in (("fragmentation", 5), ("pool_limit", 5), ("cannot_grow", 4), ("too_big", 3)) for seed in range(count)]
    made += sentences(folder)
    made += [emulated(folder, hbmscope, "leak", "leak", seed, speed=120) for seed in (1, 2)]
    made += [emulated(folder, hbmscope, "leak", "leak", 3, "--device-bytes", "40GiB", speed=160)]
    made += [emulated(folder, hbmscope, "fragments", "fragmentation", seed, speed=30) for seed in (1, 2)]
    made += [emulated(folder, hbmscope, "growing", "pool_limit", 2, "--device-bytes", "16GiB", speed=20)]
    return made
