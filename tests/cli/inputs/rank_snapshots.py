"""Writes made-up PyTorch snapshots of the ranks of a job: rank_snapshots.py FOLDER RANKS. Each has a pool of 1 GiB; rank r has
allocated (r * 37) % 90 blocks of 10 MiB in it, and rank 2 then ran out of memory."""
import pathlib
import pickle
import sys

MIB = 1 << 20
POOL, BLOCK = 1024 * MIB, 10 * MIB


def snapshot(rank):
    entries, blocks = [], []
    base, time_us = 0x7F0000000000 + (rank << 32), 1_770_000_000_000_000 + rank * 7_000
    frames = [{"name": "forward", "filename": "/srv/train/model.py", "line": 54}]

    def add(action, address, size):
        entries.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us + len(entries) * 1000,
                        "frames": frames})

    add("segment_alloc", base, POOL)
    count = rank * 37 % 90
    for number in range(count):
        add("alloc", base + number * BLOCK, BLOCK)
        blocks.append({"size": BLOCK, "requested_size": BLOCK, "address": base + number * BLOCK, "state": "active_allocated",
                       "frames": frames})
    rest = POOL - count * BLOCK
    blocks.append({"size": rest, "requested_size": 0, "address": base + count * BLOCK, "state": "inactive", "frames": []})
    if rank == 2:
        entries.append({"action": "oom", "size": 2048 * MIB, "device_free": 100 * MIB, "stream": 0,
                        "time_us": time_us + len(entries) * 1000, "frames": frames})
    segment = {"device": 0, "address": base, "total_size": POOL, "allocated_size": count * BLOCK, "active_size": count * BLOCK,
               "requested_size": count * BLOCK, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
               "is_expandable": False, "frames": [], "blocks": blocks}
    return {"segments": [segment], "device_traces": [entries]}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    for rank in range(int(sys.argv[2])):
        (folder / f"rank_{rank}.pickle").write_bytes(pickle.dumps(snapshot(rank), protocol=4))


if __name__ == "__main__":
    main()
