#!/usr/bin/env python3
"""The allocation requests of a small training job as JAX makes them on a GPU, for `hbmscope replay`.

    samples/make_requests.py > samples/training.requests.jsonl

Parameters and the two moments of an optimizer stay allocated; each step allocates activations, gradients and temporary
memory and replaces the parameters; every tenth step evaluates a batch three times as large. The file has requests only,
no answers that `replay --check` could compare.
"""
import json
import random

MIB = 1 << 20


class Requests:
    def __init__(self, config):
        self.lines = [json.dumps({"config": config}, separators=(",", ":"))]
        self.last_id = 0

    def take(self, size, **details):
        self.last_id += 1
        line = ["a", self.last_id, size] + ([details] if details else [])
        self.lines.append(json.dumps(line, separators=(",", ":")))
        return self.last_id

    def free(self, identifier):
        self.lines.append(json.dumps(["f", identifier], separators=(",", ":")))


def main():
    chance = random.Random(7)
    requests = Requests({"total_bytes": 752 * MIB, "allow_growth": 0, "spatial": 1})
    layers = [chance.randrange(2, 24) * MIB + chance.randrange(0, 4096) for _ in range(12)]
    parameters = [requests.take(size) for size in layers]
    for size in layers * 2:  # The two moments.
        requests.take(size)
    requests.take(8 * MIB, end="u", align=2 * MIB)
    for step in range(40):
        scale = 3 if step % 10 == 9 else 1
        activations = [requests.take(scale * size // 2 + chance.randrange(0, 256) * 1024) for size in layers]
        temporary = requests.take(scale * 48 * MIB)
        gradients = []
        for size, activation in zip(reversed(layers), reversed(activations)):
            gradients.insert(0, requests.take(size))
            requests.free(activation)
        requests.free(temporary)
        updated = []
        for index, size in enumerate(layers):
            updated.append(requests.take(size))
            requests.free(parameters[index])
            requests.free(gradients[index])
        parameters = updated
    print("\n".join(requests.lines))


main()
