#!/usr/bin/env python3
"""Emulates the workloads in samples/tpu and prints the table in samples/README.md.

    samples/tpu_table.py HBMSCOPE       from the root of the repository
"""
import json
import subprocess
import sys

ROWS = [
    ("decoder_training", []),
    ("decoder_training", ["donation=off"]),
    ("decoder_training", ["checkpointing=none"]),
    ("decoder_training", ["checkpointing=dots"]),
    ("decoder_training", ["checkpointing=offload"]),
    ("fsdp", []),
    ("fsdp", ["mesh.fsdp=4"]),
    ("flash_attention", []),
    ("flash_attention", ["block_q=128", "block_k=128"]),
    ("flash_attention", ["block_q=2048", "block_k=2048"]),
    ("matmul_buffers", ["rings=1"]),
    ("matmul_buffers", []),
    ("matmul_buffers", ["rings=3"]),
    ("weights_in_vmem", []),
    ("weights_in_vmem", ["vmem.assignment=off"]),
    ("weights_in_vmem", ["n=512"]),
    ("weights_in_vmem", ["n=512", "vmem.assignment=off"]),
    ("embedding", []),
    ("embedding", ["gathered=8192"]),
    ("server", []),
    ("server", ["defragmentation=off"]),
]


def size(count):
    """As the commands print sizes: binary units, three digits."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            break
        count /= 1024
    digits = 0 if unit == "B" or count >= 99.95 else 1 if count >= 9.995 else 2
    return f"{count:.{digits}f} {unit}"


def run(program, name, changes):
    command = [program, "tpu", "run", f"samples/tpu/{name}.json", "--json"]
    for change in changes:
        command += ["--what-if", change]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def outcome(answer, changes):
    words = []
    for kernel in answer["kernels"]:
        stall = kernel["modelled_stall_ns"] / kernel["modelled_ns"] * 100
        words.append(f"{size(kernel['vmem_bytes'])} of VMEM, {kernel['modelled_ns'] / 1000:.0f} us modelled, {stall:.0f} % of it stalled")
    for each in answer["programs"]:
        if each["vmem"]:
            words.append(f"{size(each['vmem']['peak_bytes'])} of VMEM, {each['vmem']['prefetches']} prefetches, {each['vmem']['cross_program_prefetches']} kept from run to run, "
                         f"{answer['modelled_ns'] / 1000:.1f} us modelled, {each['vmem']['modelled_stall_ns'] / 1000:.1f} us waiting for copies")
        elif any(change.startswith("vmem.") for change in changes):
            words.append(f"{answer['modelled_ns'] / 1000:.1f} us modelled")
    if answer["defragmentations"]:
        moved = sum(row["moved_bytes"] for row in answer["defragmentations"])
        words.append(f"defragmented {len(answer['defragmentations'])} times, {size(moved)} moved")
    if answer["failures"]:
        first = answer["failures"][0]
        requested, limit = size(first["asked_bytes"]), size(first["limit_bytes"])
        if requested == limit:
            requested, limit = f"{first['asked_bytes']:,} B", f"{first['limit_bytes']:,} B"
        words.append(f"does not fit: {requested} requested of {first['memory_space']}, limit {limit}")
        if first["largest_free_bytes"] is not None:
            words[-1] = f"does not fit: {size(first['asked_bytes'])} requested, {size(first['total_free_bytes'])} free, largest free block {size(first['largest_free_bytes'])}"
    else:
        words.append("fits")
    if answer["gpu"]:
        words.append(f"a GPU's pool refuses {len(answer['gpu']['failures'])} requests")
    return "; ".join(words)


def main():
    print("| workload | what if | arguments | temporaries | needed | result |")
    print("|---|---|---|---|---|---|")
    for name, changes in ROWS:
        answer = run(sys.argv[1], name, changes)
        program = max(answer["programs"], key=lambda each: each["needed_without_code_bytes"])
        cells = [f"`{name}`", ", ".join(f"`{change}`" for change in changes), size(program["argument_bytes"]),
                 size(program["temp_bytes"]), size(program["needed_without_code_bytes"]), outcome(answer, changes)]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
