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
        self.note()

    # The truth after so many entries: what a report must say then.
    def note(self):
        blocks = [block for segment in self.segments for block in segment]
        active = [block for block in blocks if block.state != "inactive"]
        free = [block.size for block in blocks if block.state == "inactive"]
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

    def record(self, action, address, size, stack=(), **extra):
        self.time_us += 7
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
        self.record("alloc", block.address, requested, stack)
        return block

    @staticmethod
    def is_small(block):
        return sum(b.size for b in block.segment) == 2 * MIB

    def free_requested(self, block):
        block.state = "active_pending_free"
        self.record("free_requested", block.address, block.requested)

    def free_completed(self, block):
        block.state = "inactive"
        requested, segment = block.requested, block.segment
        at = segment.index(block)
        for other in (at + 1, at - 1):
            if 0 <= other < len(segment) and segment[other].state == "inactive" and segment[other] is not block:
                first, second = sorted((block, segment[other]), key=lambda b: b.address)
                first.size += second.size
                segment.remove(second)
                block = first
                at = segment.index(block)
        # The entry carries the address of the block that was freed, which may have merged with the one before it.
        self.record("free_completed", self.freed_address, requested)

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
