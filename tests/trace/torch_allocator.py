"""A caching allocator with PyTorch's rules on made-up addresses, and its snapshots: every moment of it is known.

The rules are those of c10/cuda/CUDACachingAllocator.cpp: requests are rounded up to 512 bytes; up to 1 MiB they come from
segments of 2 MiB, up to 10 MiB from segments of 20 MiB, else from segments of their own in steps of 2 MiB; the best fit is
taken; what remains is split off from 512 bytes on in small segments, from more than 1 MiB on in large ones.
"""

KIB, MIB = 1 << 10, 1 << 20


class Block:
    def __init__(self, segment, address, size):
        self.segment, self.address, self.size = segment, address, size
        self.requested, self.state, self.stack = 0, "inactive", []


class TorchAllocator:
    def __init__(self, device=0, base=0x7F0000000000, history=None):
        self.device, self.next_address, self.history = device, base, history
        self.segments = []  # Lists of blocks, in the order of addresses.
        self.entries, self.moments, self.time_us = [], [], 1_700_000_000_000_000
        # At each time: sizes of live blocks and of gaps. For each entry: the size of its block.
        self.blocks_at, self.sizes = [], []
        self.note()

    # The correct result after that many entries, which a report must match.
    def note(self):
        blocks = [block for segment in self.segments for block in segment]
        active = [block for block in blocks if block.state != "inactive"]
        free = [block.size for block in blocks if block.state == "inactive"]
        self.blocks_at.append(([block.size for block in active], free))
        self.moments.append(
            {
                "in_use_bytes": sum(block.size for block in active),
                "requested_bytes": sum(block.requested for block in active),
                "pending_bytes": sum(block.size for block in active if block.state == "active_pending_free"),
                "pool_bytes": sum(block.size for block in blocks),
                "free_bytes": sum(free),
                "largest_free_bytes": max(free, default=0),
                "live_blocks": len(active),
            }
        )

    def record(self, action, address, size, stack=(), block_size=None, **extra):
        self.time_us += 7
        self.sizes.append(block_size)
        self.entries.append(
            {"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time_us, "frames": list(stack), **extra}
        )
        self.note()

    def alloc(self, requested, stack):
        size = max(512, (requested + 511) // 512 * 512)
        is_small = size <= MIB
        fitting = [b for s in self.segments for b in s if b.state == "inactive" and b.size >= size and self.is_small(b) == is_small]
        if fitting:
            block = min(fitting, key=lambda b: (b.size, b.address))
        else:
            total = 2 * MIB if is_small else 20 * MIB if size < 10 * MIB else (size + 2 * MIB - 1) // (2 * MIB) * 2 * MIB
            block = Block(None, self.next_address, total)
            self.next_address += total + (0 if total % (4 * MIB) else 2 * MIB)  # Some segments touch, some don't.
            block.segment = [block]
            self.segments.append(block.segment)
            self.record("segment_alloc", block.address, total, stack)
        remaining = block.size - size
        if (is_small and remaining >= 512) or remaining > MIB:
            rest = Block(block.segment, block.address + size, remaining)
            block.segment.insert(block.segment.index(block) + 1, rest)
            block.size = size
        block.requested, block.state, block.stack = requested, "active_allocated", list(stack)
        self.record("alloc", block.address, requested, stack, block.size)
        return block

    @staticmethod
    def is_small(block):
        return sum(b.size for b in block.segment) == 2 * MIB

    def free_requested(self, block):
        block.state = "active_pending_free"
        self.record("free_requested", block.address, block.requested)

    def free_completed(self, block):
        block.state = "inactive"
        requested, size, segment = block.requested, block.size, block.segment
        at = segment.index(block)
        for other in (at + 1, at - 1):
            if 0 <= other < len(segment) and segment[other].state == "inactive" and segment[other] is not block:
                first, second = sorted((block, segment[other]), key=lambda b: b.address)
                first.size += second.size
                segment.remove(second)
                block = first
                at = segment.index(block)
        # The entry carries the address of the block that was freed, which may have merged with the one before it.
        self.record("free_completed", self.freed_address, requested, (), size)

    def free(self, block, is_delayed=False):
        self.free_requested(block)
        if not is_delayed:
            self.complete(block)

    def complete(self, block):
        self.freed_address = block.address
        self.free_completed(block)

    def release_cached(self):
        for segment in [s for s in self.segments if len(s) == 1 and s[0].state == "inactive"]:
            self.segments.remove(segment)
            self.record("segment_free", segment[0].address, segment[0].size)

    def out_of_memory(self, size, stack, device_free):
        entry = {"action": "oom", "size": size, "stream": 0, "device_free": device_free, "frames": list(stack)}
        self.time_us += 7
        self.sizes.append(None)
        self.entries.append({**entry, "time_us": self.time_us})
        self.note()

    def segments_of_snapshot(self):
        out = []
        for blocks in self.segments:
            active = [b for b in blocks if b.state != "inactive"]
            total = sum(b.size for b in blocks)
            out.append(
                {
                    "device": self.device,
                    "address": blocks[0].address,
                    "total_size": total,
                    "allocated_size": sum(b.size for b in active if b.state == "active_allocated"),
                    "active_size": sum(b.size for b in active),
                    "requested_size": sum(b.requested for b in active),
                    "stream": 0,
                    "segment_type": "small" if total == 2 * MIB else "large",
                    "segment_pool_id": (0, 0),
                    "is_expandable": False,
                    "frames": [],
                    "blocks": [
                        {"address": b.address, "size": b.size, "requested_size": b.requested, "state": b.state, "frames": b.stack}
                        for b in blocks
                    ],
                }
            )
        return out

    # The ring of the history keeps the newest entries only.
    def kept_entries(self):
        return self.entries if self.history is None else self.entries[-self.history :]

    def kept_moments(self):
        return self.moments if self.history is None else self.moments[-self.history - 1 :]


def snapshot_of(allocators):
    return {
        "segments": [segment for allocator in allocators for segment in allocator.segments_of_snapshot()],
        "device_traces": [allocator.kept_entries() for allocator in allocators],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": False},
        "external_annotations": [],
    }


def play(allocator, random, steps, stacks):
    """A seeded workload: allocations of all classes, frees, some of them delayed, caches released, one failure."""
    live, delayed = [], []
    for step in range(steps):
        if live and (random.random() < 0.45 or len(live) > 150):
            block = live.pop(random.randrange(len(live)))
            is_delayed = random.random() < 0.1
            allocator.free(block, is_delayed)
            if is_delayed:
                delayed.append(block)
        else:
            size = random.choice([random.randint(1, 4 * KIB), random.randint(1, MIB), random.randint(MIB, 9 * MIB), random.randint(10 * MIB, 64 * MIB)])
            live.append(allocator.alloc(size, random.choice(stacks)))
        if delayed and random.random() < 0.3:
            allocator.complete(delayed.pop(random.randrange(len(delayed))))
        if random.random() < 0.01:
            allocator.release_cached()
        if step == steps * 3 // 4:
            allocator.out_of_memory(1 << 34, random.choice(stacks), 12 * MIB)


MAIN, GRAPH, EXPANDABLE = (0, 0), (0, 1), (0, 7)


def heap_name(device, pool):
    return f"GPU {device}" + ("" if pool == MAIN else f" private pool ({pool[0]}, {pool[1]})")


def heap_name_of(segment):
    return heap_name(segment["device"], tuple(segment.get("segment_pool_id", (0, 0))))


# Twenty stacks, innermost frame first.
def make_stacks(chance):
    files = ["/home/me/train.py", "/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", "??"]
    frame = lambda: {"name": f"f{chance.randrange(30)}", "filename": chance.choice(files), "line": chance.randrange(1, 400)}
    return [[frame() for _ in range(chance.randint(1, 12))] for _ in range(20)]


class PooledAllocator:
    """Segments of the main pool and of private ones, over and over at the same addresses, in units of 4 MiB.

    Only segments of the main pool are given back, and pages of an expandable one that keeps others next to them: of
    whatever else is gone at the end no snapshot tells whose it was, unless its entries do.
    """

    UNIT, UNITS, PAGES_AT = 4 * MIB, 30, 100

    def __init__(self, base=0x7F0000000000, reports_pools=False):
        self.base, self.time_us, self.reports_pools = base, 1_700_000_000_000_000, reports_pools
        self.segments = {}  # By first unit: how many units, and the pool.
        self.blocks = {}  # By first unit: how many units, and the pool.
        self.entries, self.moments = [], []
        self.note()

    def address(self, unit):
        return self.base + unit * self.UNIT

    def note(self):
        heaps = {}
        for pool in (MAIN, GRAPH, EXPANDABLE):
            sizes = [count * self.UNIT for count, owner in self.blocks.values() if owner == pool]
            total = self.UNIT * sum(count for count, owner in self.segments.values() if owner == pool)
            heaps[heap_name(0, pool)] = {
                "in_use_bytes": sum(sizes),
                "requested_bytes": sum(sizes),
                "live_blocks": len(sizes),
                "pool_bytes": total,
                "free_bytes": total - sum(sizes),
            }
        self.moments.append(heaps)

    def record(self, action, unit, count, pool):
        self.time_us += 5
        entry = {"action": action, "addr": self.address(unit), "size": count * self.UNIT, "stream": 0, "frames": []}
        if self.reports_pools:
            entry["pool_id"] = tuple(list(pool))  # Each entry has its own object.
        self.entries.append({**entry, "time_us": self.time_us})
        self.note()

    def owner(self, unit):
        found = [pool for first, (count, pool) in self.segments.items() if first <= unit < first + count]
        return found[0] if found else None

    def is_taken(self, unit):
        return any(first <= unit < first + count for first, (count, _) in self.blocks.items())

    def take_segment(self, chance):
        first, count = chance.randrange(self.UNITS), chance.randint(1, 5)
        if all(self.owner(unit) is None for unit in range(first, first + count)):
            self.segments[first] = (count, GRAPH if chance.random() < 0.03 else MAIN)
            self.record("segment_alloc", first, count, self.segments[first][1])

    def give_back_segment(self, chance):
        for first, (count, pool) in list(self.segments.items()):
            is_empty = not any(self.is_taken(unit) for unit in range(first, first + count))
            may_go = pool == MAIN or (self.reports_pools and pool == GRAPH)
            if may_go and is_empty and chance.random() < 0.7:
                del self.segments[first]
                self.record("segment_free", first, count, pool)

    def map_page(self, chance):
        if self.PAGES_AT in self.segments:
            count = self.segments[self.PAGES_AT][0]
            if chance.random() < 0.5:
                if count > 1 and not self.is_taken(self.PAGES_AT + count - 1):
                    self.segments[self.PAGES_AT] = (count - 1, EXPANDABLE)
                    self.record("segment_unmap", self.PAGES_AT + count - 1, 1, EXPANDABLE)
                return
        else:
            count = 0
        self.segments[self.PAGES_AT] = (count + 1, EXPANDABLE)
        self.record("segment_map", self.PAGES_AT + count, 1, EXPANDABLE)

    def take_block(self, chance):
        first, (count, pool) = chance.choice(list(self.segments.items()))
        unit = first
        while unit < first + count and self.is_taken(unit):
            unit += self.blocks[unit][0]
        room = 0
        while unit + room < first + count and not self.is_taken(unit + room):
            room += 1
        if room > 0:
            self.blocks[unit] = (chance.randint(1, room), pool)
            self.record("alloc", unit, *self.blocks[unit])

    def free_block(self, chance):
        unit = chance.choice(list(self.blocks))
        count, pool = self.blocks[unit]
        self.record("free_requested", unit, count, pool)
        del self.blocks[unit]
        self.record("free_completed", unit, count, pool)

    def play(self, chance, steps):
        for _ in range(steps):
            what = chance.random()
            if what < 0.15 or not self.segments:
                self.take_segment(chance)
            elif what < 0.25:
                self.give_back_segment(chance)
            elif what < 0.35:
                self.map_page(chance)
            elif what < 0.65 or not self.blocks:
                self.take_block(chance)
            else:
                self.free_block(chance)

    def snapshot(self, history=None):
        segments = []
        for first, (count, pool) in self.segments.items():
            inside = [unit for unit in sorted(self.blocks) if first <= unit < first + count]
            active = [(self.address(unit), self.blocks[unit][0] * self.UNIT) for unit in inside]
            segments.append(made_up_segment(self.address(first), count * self.UNIT, active, pool))
        return {"segments": segments, "device_traces": [self.entries if history is None else self.entries[-history:]]}


# `active` blocks are an address and a size each, in order; what lies between them is free.
def made_up_segment(address, total, active, pool=MAIN, device=0):
    blocks, at = [], address
    for begin, size in [*active, (address + total, 0)]:
        for place, bytes_, state in ((at, begin - at, "inactive"), (begin, size, "active_allocated")):
            if bytes_ > 0:
                requested = bytes_ if state != "inactive" else 0
                blocks.append({"address": place, "size": bytes_, "requested_size": requested, "state": state})
                blocks[-1]["frames"] = []
        at = begin + size
    in_use = sum(size for _, size in active)
    return {
        "device": device,
        "address": address,
        "total_size": total,
        "allocated_size": in_use,
        "active_size": in_use,
        "requested_size": in_use,
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": pool,
        "is_expandable": pool == EXPANDABLE,
        "frames": [],
        "blocks": blocks,
    }


def made_up_entry(action, address, size, time_us=None, **extra):
    entry = {"action": action, "addr": address, "size": size, "stream": 0, "frames": [], **extra}
    return entry if time_us is None else {**entry, "time_us": time_us}
