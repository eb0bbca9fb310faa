#!/usr/bin/env python3
"""What memory space assignment chooses for the compiler's own programs, beside what the compiler chose.

    tests/cli/tpu_spaces_vs_compiler.py HBMSCOPE

Each program of ${HBMSCOPE_DATA}/tpu/aot/programs (default: shared/data beside the checkout; exit code 77 without it) is the
compiler's result: copies to VMEM and back stand in it. They are taken out again, what is left becomes a workload file
(values with their bytes, operations in their order with the compiler's own estimate of what they take), and `tpu run` assigns
anew. What can't be known is left as it is: the compiler's options, its clock (below, assumed), the order of equal values, and what its
fusions did to fit VMEM, which is in the program already. Slices of a value are counted as one copy.

Which parameters may stay from run to run is said to `tpu run` by XLA's published rule (LooksLikeAnActivation): those that products read
as their right operand and nothing else reads.

Held: all that is in VMEM lies inside of the share and nothing is invented; of the chain of products the weights alternate at the
compiler's two offsets, 0 and 33,554,432; the parameter that stays from run to run is the compiler's in all but two programs (one
reduces its parameter, which by the rule is no weight, and the compiler keeps it); where the compiler wrote its own assignment down
(tpu/aot/msa), every stay and offset of two of the six. All else is printed, not held.
"""
import collections
import csv
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Cycles per second. Assumed: the published operations per second, divided by the products that the units compute per
# cycle.
CLOCK = {"v5e": 1.5e9, "v6e": 1.75e9}
BITS = {"pred": 8, "bf16": 16, "f16": 16, "s32": 32, "u32": 32, "f32": 32, "s8": 8, "u8": 8, "s16": 16, "u16": 16}
ARRAY = re.compile(r"([a-z]+\d*)\[([\d,]*)\](?:\{([^}]*)\})?")
INSTRUCTION = re.compile(r"^\s*(ROOT )?%([^\s]+) = (.*)$")
# Programs in which the compiler keeps values that the rule does not explain.
UNEXPLAINED = ("donate_unusable",)
# Programs in which every stay has the compiler's offset.
EXACT = ("v5e/attention", "v5e/matmul_chain")
# Another name for the same bytes.
ALIASES = ("bitcast", "get-tuple-element", "tuple", "copy-start", "copy-done", "slice-start", "slice-done")


def closing(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i
    raise ValueError(text[at : at + 80])


def arrays_of(shape):
    """(bytes, memory space) of each array in a shape, in order."""
    found = []
    for dtype, sizes, layout in ARRAY.findall(shape):
        sizes = [int(size) for size in sizes.split(",") if size]
        order = [int(each) for each in re.match(r"[\d,]*", layout).group().split(",") if each]
        tile = re.search(r"T\(([\d,]+)\)", layout)
        tile = [int(each) for each in tile.group(1).split(",")] if tile else []
        count = 1
        for k in range(max(len(order), len(tile))):
            size = sizes[order[k]] if k < len(order) else 1
            step = tile[len(tile) - 1 - k] if k < len(tile) else 1
            count *= -(-size // step) * step
        space = re.search(r"S\((\d+)\)", layout)
        found.append((max(count * BITS.get(dtype, 32) // 8, 1), int(space.group(1)) if space else 0))
    return found


def parse(line):
    """(name, shape, kind, operands, the text between the brackets, attributes, is the root), or None."""
    match = INSTRUCTION.match(line)
    if not match:
        return None
    rest = match.group(3)
    end = closing(rest, 0) + 1 if rest.startswith("(") else rest.index(" ")
    shape, rest = rest[:end], rest[end:].strip()
    kind = rest[: rest.index("(")]
    last = closing(rest, len(kind))
    inside = rest[len(kind) + 1 : last]
    return match.group(2), shape, kind, re.findall(r"%([^\s,()]+)", inside), inside, rest[last:], match.group(1) is not None


class Computations:
    """Of a module, for one question: is a value read as weights, as XLA tells them?"""

    def __init__(self, text):
        self.computations = {}
        for match in re.finditer(r"^(?:ENTRY )?%([^\s]+) \(.*?^}", text, re.M | re.S):
            self.computations[match.group(1)] = [parsed for parsed in map(parse, match.group().splitlines()[1:-1]) if parsed]

    def is_activation(self, computation, value):
        for name, _, kind, operands, _, attributes, _ in self.computations[computation]:
            for i, operand in enumerate(operands):
                if operand == value and self.reads_as_activation(computation, name, kind, i, attributes):
                    return True
        return False

    def reads_as_activation(self, computation, name, kind, operand, attributes):
        if kind in ("convolution", "dot"):
            return operand == 0
        if kind == "gather":
            return operand == 1
        if kind == "fusion":
            inner = re.search(r"calls=%([^\s,]+)", attributes).group(1)
            parameter = next(each[0] for each in self.computations[inner] if each[2] == "parameter" and each[4].strip() == str(operand))
            return self.is_activation(inner, parameter)
        if kind in ALIASES and kind != "tuple" or "ConcatBitcast" in attributes:  # The copies are the compiler's result.
            return self.is_activation(computation, name)
        return True


class Program:
    """The entry computation: values, operations in their order, and where the compiler put each value."""

    def __init__(self, text):
        self.values = {}  # Name: [bytes, is a parameter].
        self.operations = []  # (name, ns, [(value, in VMEM)], [(value, in VMEM)])
        self.prefetched, self.evicted, self.across = collections.Counter(), collections.Counter(), set()
        self.outputs = []
        self.has_loops = False
        self.names = {}  # Instruction: by element the value that it is.
        self.spaces = {}  # Instruction: by element its memory space.
        computations = Computations(text)
        entry = re.search(r"^ENTRY %([^\s]+)", text, re.M).group(1)
        for each in computations.computations[entry]:
            self.add(*each)
        aliased = re.search(r"input_output_alias=\{(.*?)\}, entry", text)
        taken = set(re.findall(r"\((\d+), \{\}", aliased.group(1))) if aliased else set()
        self.weights = [each[0] for each in computations.computations[entry]
                        if each[2] == "parameter" and each[4] not in taken and not computations.is_activation(entry, each[0])]

    def add(self, name, shape, kind, operands, _, attributes, is_root):
        arrays = arrays_of(shape)
        given = [self.names.get(operand, []) for operand in operands]
        self.spaces[name] = [space for _, space in arrays]
        if kind == "get-tuple-element":
            index = int(re.search(r"index=(\d+)", attributes).group(1))
            self.names[name] = given[0][index : index + 1]
        elif kind in ALIASES or 'custom_call_target="ConcatBitcast"' in attributes:
            self.names[name] = [value for list_ in given for value in list_] if kind == "tuple" else given[0][:1]
            if kind in ("copy-start", "slice-start"):
                self.note_copy(kind, name, given[0][:1], attributes, operands[0])
        else:
            self.has_loops = self.has_loops or kind in ("while", "conditional", "call")
            self.operate(name, kind, arrays, given, operands, attributes)
        if is_root:
            self.outputs = list(self.names[name])

    def note_copy(self, kind, name, value, attributes, source):
        # For a copy the first element is the result, for a slice the second.
        to = self.spaces[name][0 if kind == "copy-start" else 1]
        # Only the first of the slices of a value counts.
        if not value or (kind == "slice-start" and re.search(r"\[[1-9]\d*:", re.search(r"slice=\{(.*?)\}", attributes).group(1))):
            return
        if "cross_program_prefetch_index" in attributes:
            self.across.add(value[0])
        elif to == 1:
            self.prefetched[value[0]] += 1
        elif self.spaces[source][:1] == [1]:
            self.evicted[value[0]] += 1

    def operate(self, name, kind, arrays, given, operands, attributes):
        made = [name if len(arrays) == 1 else f"{name}#{i}" for i in range(len(arrays))]
        self.names[name] = made
        for value, (size, _) in zip(made, arrays):
            self.values[value] = [size, kind == "parameter"]
        if kind in ("parameter", "constant", "partition-id", "iota") and kind != "parameter":
            for value in made:
                del self.values[value]
            self.names[name] = []
            return
        if kind == "parameter":
            return
        cycles = re.search(r'"estimated_cycles":"(\d+)"', attributes)
        reads = []
        for operand, values in zip(operands, given):
            spaces = self.spaces[operand]
            reads += [(value, spaces[min(i, len(spaces) - 1)] == 1) for i, value in enumerate(values)]
        writes = [(value, space == 1) for value, (_, space) in zip(made, arrays)]
        self.operations.append((name, int(cycles.group(1)) if cycles else 0, reads, writes))


def workload_of(program, generation):
    size = lambda name: {"dtype": "s8", "shape": [program.values[name][0]]}
    parameters = [name for name, (_, is_parameter) in program.values.items() if is_parameter]
    outputs = [value for value in dict.fromkeys(program.outputs) if value in program.values and value not in parameters]
    temporaries = [value for value in program.values if value not in parameters and value not in outputs]
    operations = [{"name": name, "compute_ns": int(cycles / CLOCK[generation] * 1e9), "writes": [value for value, _ in writes],
                   "reads": list(dict.fromkeys(value for value, _ in reads if value in program.values))}
                  for name, cycles, reads, writes in program.operations]
    entry = {"arguments": parameters, "weights": [name for name in program.weights if name in parameters], "outputs": {name: name for name in outputs},
             "temporaries": {name: size(name) for name in temporaries}, "operations": operations}
    return {"hbmscope_tpu_workload": 1, "generation": generation, "vmem": {"assignment": True},
            "arrays": {name: size(name) for name in parameters + outputs}, "programs": {"entry": entry},
            "steps": [{"put": parameters}, {"run": "entry"}, {"run": "entry"}]}


def assigned(hbmscope, program, generation):
    workload = json.dumps(workload_of(program, generation))
    done = subprocess.run([hbmscope, "tpu", "run", "-", "--json"], input=workload, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)["programs"][0]["vmem"]


def compare_stays(hbmscope, folder, generation):
    """Of a program whose assignment the compiler wrote down: stays in VMEM as (value, last operation, offset)."""
    table = lambda name: list(csv.DictReader(open(next(folder.glob(f"*-{name}.txt")))))
    program = Program(gzip.open(folder / "hlo.txt.gz", "rt").read())
    names = {row["buffer_id"]: re.sub(r"^<\d+ (.*)>$", r"\1", row["buffer_name"]).replace("{", "#").replace("}", "") for row in table("bufferinfo")}
    schedule = {row["instruction_name"]: int(row["time"]) for row in table("scheduleinfo")}
    times = [schedule[name] for name, *_ in program.operations] + [len(schedule)]
    ours, compiler = collections.Counter(), collections.Counter()
    for value in assigned(hbmscope, program, generation)["values"]:
        for each in value["residences"]:
            ours[value["name"], times[each["end"]], each["offset"]] += 1
    for row in table("allocinfo"):  # What stays across programs is not in the table of buffers.
        name = names.get(row["buffer_id"]) or next(iter(program.across))
        compiler[name, int(row["end_time"]), int(row["offset"])] += 1
    without_offset = lambda stays: collections.Counter((name, end) for name, end, _ in stays.elements())
    alike, placed = without_offset(ours) & without_offset(compiler), ours & compiler
    return sum(ours.values()), sum(compiler.values()), sum(alike.values()), sum(placed.values())


class Row:
    pass


def compare(hbmscope, program, generation):
    """Where the compiler and we have each use and each result; bytes at least 64 KiB, for small ones hardly matter."""
    ours = assigned(hbmscope, program, generation)
    residences = {value["name"]: value for value in ours["values"]}
    row = Row()
    row.both = row.ours = row.compiler = row.neither = 0
    for time, (_, _, reads, writes) in enumerate(program.operations):
        for value, in_vmem in dict(reads).items():
            size = program.values[value][0] if value in program.values else 0
            if size < 65536:
                continue
            here = any(each["begin"] <= time <= each["end"] and (each["prefetched_before"] is None or each["prefetched_before"] <= time)
                       for each in residences.get(value, {"residences": []})["residences"])
            # A value that is evicted is held until the copy's end, not used.
            row.both += here and in_vmem
            row.ours += here and not in_vmem
            row.compiler += in_vmem and not here
            row.neither += not here and not in_vmem
    row.prefetches, row.evictions = ours["prefetches"], ours["evictions"]
    row.compiler_prefetches, row.compiler_evictions = sum(program.prefetched.values()), sum(program.evicted.values())
    row.across = {name for name, value in residences.items() if any(each["from_last_run"] for each in value["residences"])}
    row.offsets = {name: [each["offset"] for each in value["residences"]] for name, value in residences.items()}
    row.is_inside = ours["peak_bytes"] <= ours["share_bytes"] and set(residences) <= set(program.values)
    row.stall_ns = ours["modelled_stall_ns"]
    return row


def main():
    root = pathlib.Path(os.environ.get("HBMSCOPE_DATA", HERE.parents[1].parent / "shared" / "data")) / "tpu" / "aot"
    data = root / "programs"
    if not data.is_dir():
        print(f"skipped: no {data} (HBMSCOPE_DATA names the folder)")
        return 77
    faults, totals, skipped = [], collections.Counter(), []
    for folder in sorted(root.glob("msa/*/*")):
        ours, compiler, alike, placed = compare_stays(sys.argv[1], folder, folder.parent.name)
        name = f"{folder.parent.name}/{folder.name}"
        print(f"{name:22} {compiler:3} stays in VMEM that the compiler wrote down, {ours:3} here; until the same operation {alike:3}, at the same offset too {placed:3}")
        if name in EXACT and not ours == compiler == placed:
            faults.append(f"{name}: other stays than the compiler's")
    print("reads of values of 64 KiB or more in VMEM: by both, by us alone, by the compiler alone, by neither; copies ours/compiler's")
    print(f"{'generation':10} {'program':34} {'both':>5} {'ours':>5} {'comp.':>5} {'none':>5}  {'prefetches':>10} {'evictions':>9}  across programs")
    for generation in sorted(path.name for path in data.iterdir() if path.is_dir()):
        for folder in sorted((data / generation).iterdir()):
            program = Program(gzip.open(folder / "hlo.txt.gz", "rt").read())
            if program.has_loops:
                skipped.append(f"{generation}/{folder.name}: its work is in a loop, which the assignment here does not know")
                continue
            row = compare(sys.argv[1], program, generation)
            alike = "alike" if row.across == program.across else f"ours {', '.join(sorted(row.across)) or 'none'}; compiler {', '.join(sorted(program.across)) or 'none'}"
            print(f"{generation:10} {folder.name:34} {row.both:5} {row.ours:5} {row.compiler:5} {row.neither:5}  "
                  f"{row.prefetches:4} / {row.compiler_prefetches:<3} {row.evictions:4} / {row.compiler_evictions:<2}  {alike}")
            for key in ("both", "ours", "compiler", "neither"):
                totals[key] += getattr(row, key)
            totals["programs"] += 1
            totals["across"] += row.across == program.across
            totals["across of the compiler"] += bool(program.across)
            if row.across != program.across and folder.name not in UNEXPLAINED:
                faults.append(f"{generation}/{folder.name}: another parameter stays from run to run")
            if not row.is_inside:
                faults.append(f"{generation}/{folder.name}: outside of its share, or no value of the program")
            if folder.name == "matmul_chain":
                weights = {offset for name in program.prefetched for offset in row.offsets.get(name, [])}
                if weights != {0, 33554432}:
                    faults.append(f"{generation}/{folder.name}: weights at {sorted(weights)}, the compiler's at 0 and 33554432")
    for line in skipped:
        print(f"left out: {line}")
    reads = sum(totals[key] for key in ("both", "ours", "compiler", "neither"))
    print(f"{totals['programs']} programs; of {reads} reads {totals['both'] + totals['neither']} are where the compiler has them, {totals['ours']} in VMEM here alone, "
          f"{totals['compiler']} there alone; across programs alike in {totals['across']} (the compiler keeps something in {totals['across of the compiler']})")
    for fault in faults:
        print(f"WRONG: {fault}")
    return 1 if faults or totals["programs"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
