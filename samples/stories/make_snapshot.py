#!/usr/bin/env python3
"""Writes a snapshot in the form of torch.cuda.memory._dump_snapshot(), of a made-up training loop.

    make_snapshot.py EVENTS FILE
"""

import pickle
import sys

MIB = 1 << 20


def frames(*lines):
    return [{"filename": "/home/me/train.py", "name": name, "line": line} for name, line in lines]


FORWARD = frames(("forward", 54), ("train_step", 88), ("main", 120))
LOSS = frames(("log_loss", 61), ("train_step", 90), ("main", 120))
GRADIENTS = frames(("backward", 92), ("train_step", 88), ("main", 120))
OPTIMIZER = frames(("adam", 101), ("train_step", 94), ("main", 120))


BASE = 0x7F0000000000
LAYERS, ACTIVATION, GRADIENT = 24, 96 * MIB, 48 * MIB
ACTIVATIONS_AT, GRADIENTS_AT, LOSSES_AT = BASE, BASE + 8192 * MIB, BASE + 16384 * MIB


class Loop:
    """Three segments: for activations and the optimizer's temporary arrays, for gradients, and for losses that are kept."""

    def __init__(self):
        self.events = []
        self.time_us = 0
        self.steps = 0

    def add(self, action, address, size, stack):
        self.time_us += 7
        self.events.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time_us, "frames": stack})

    def free(self, address, size, stack):
        self.add("free_requested", address, size, stack)
        self.add("free_completed", address, size, stack)

    def step(self):
        for layer in range(LAYERS):
            self.add("alloc", ACTIVATIONS_AT + layer * ACTIVATION, ACTIVATION, FORWARD)
        self.add("alloc", LOSSES_AT + self.steps * 512, 512, LOSS)
        for layer in reversed(range(LAYERS)):
            self.add("alloc", GRADIENTS_AT + layer * GRADIENT, GRADIENT, GRADIENTS)
            self.free(ACTIVATIONS_AT + layer * ACTIVATION, ACTIVATION, FORWARD)
        for layer in range(LAYERS):
            self.add("alloc", ACTIVATIONS_AT + layer * ACTIVATION, ACTIVATION, OPTIMIZER)
            self.free(GRADIENTS_AT + layer * GRADIENT, GRADIENT, GRADIENTS)
        for layer in range(LAYERS):
            self.free(ACTIVATIONS_AT + layer * ACTIVATION, ACTIVATION, OPTIMIZER)
        self.steps += 1

    def segments(self):
        """At the end only the losses are in use."""
        losses = [{"address": LOSSES_AT + i * 512, "size": 512, "requested_size": 512, "state": "active_allocated", "frames": LOSS} for i in range(self.steps)]
        rest = 2 * MIB * (self.steps * 512 // (2 * MIB) + 1) - self.steps * 512
        losses.append({"address": LOSSES_AT + self.steps * 512, "size": rest, "requested_size": 0, "state": "inactive", "frames": []})
        return [self.segment(ACTIVATIONS_AT, LAYERS * ACTIVATION), self.segment(GRADIENTS_AT, LAYERS * GRADIENT), self.segment(LOSSES_AT, self.steps * 512 + rest, losses)]

    @staticmethod
    def segment(address, size, blocks=None):
        blocks = blocks or [{"address": address, "size": size, "requested_size": 0, "state": "inactive", "frames": []}]
        active = sum(block["size"] for block in blocks if block["state"] != "inactive")
        return {"device": 0, "address": address, "total_size": size, "allocated_size": active, "active_size": active, "requested_size": active,
                "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}


def main():
    count, file = int(sys.argv[1]), sys.argv[2]
    loop = Loop()
    while len(loop.events) < count:
        loop.step()
    with open(file, "wb") as output:
        pickle.dump({"segments": loop.segments(), "device_traces": [loop.events], "allocator_settings": {}}, output, protocol=4)


if __name__ == "__main__":
    main()
