#!/usr/bin/env python3
"""The workloads of samples/tpu: the README's table is what they give today, and their recordings are whole.

    tests/cli/tpu_samples_test.py HBMSCOPE       from the root of the repository
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
SAMPLES = sorted(pathlib.Path("samples/tpu").glob("*.json"))
faults = []


def hbmscope(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        faults.append(f"{' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.strip()}")
        return "{}"
    return done.stdout


def check(holds, what):
    if not holds:
        faults.append(what)


def check_table():
    printed = subprocess.run([sys.executable, "samples/tpu_table.py", PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines()
    readme = pathlib.Path("samples/README.md").read_text().splitlines()
    for line in printed:
        check(line in readme, f"not in samples/README.md: {line}")
    check(len(printed) > 10, "the table is short")


def check_recording(sample, folder):
    """What the recording says of each memory is what the emulation says."""
    recording, log = folder / "w.hbm", folder / "oom.txt"
    reported = json.loads(hbmscope("tpu", "run", sample, "--json", "--record", recording, "--oom-log", log))
    report = json.loads(hbmscope("report", recording, "--json"))
    hbmscope("check", recording)
    heaps = {heap["name"]: heap for heap in report["heaps"]}
    for tier in reported["tiers"]:
        name = tier["memory_space"]
        heap = heaps.get("HBM" if name == "hbm" else {"tilespmem": "TileSpmem", "accumulator": "Accumulators", "host": "Host"}.get(name, name.upper()))
        check(heap is not None, f"{sample}: no heap of {name}")
        if heap:
            check(heap["peak_in_use_bytes"] == tier["peak_bytes"], f"{sample}: peak of {name}: {heap['peak_in_use_bytes']}, told {tier['peak_bytes']}")
            check(heap["in_use_bytes"] == tier["end_bytes"], f"{sample}: in use of {name}: {heap['in_use_bytes']}, told {tier['end_bytes']}")
    failures = len(reported["failures"]) + (len(reported["gpu"]["failures"]) if reported["gpu"] else 0)
    check(len(report["failures"]) == failures, f"{sample}: {len(report['failures'])} failures in the recording of {failures}")
    largest = max(reported["programs"], key=lambda each: each["needed_without_code_bytes"])
    for key in ("argument_bytes", "output_bytes", "alias_bytes", "temp_bytes"):
        check(report["program"][key] == largest[key], f"{sample}: {key} of the recording")
    check(reported["fits"] and log.read_text() == "", f"{sample} does not fit as it is written")


def check_figures(folder):
    def run(name, *changes):
        words = [word for change in changes for word in ("--what-if", change)]
        return json.loads(hbmscope("tpu", "run", f"samples/tpu/{name}.json", "--json", *words))

    donated, copied = run("decoder_training"), run("decoder_training", "donation=off")
    parameters = 16 * (4 * 2048 * 2048 + 2 * 2048 * 8192) + 32000 * 2048
    check(donated["programs"][0]["alias_bytes"] == parameters * (2 + 4 + 4), "what the decoder donates")
    check(copied["programs"][0]["needed_bytes"] is None and copied["programs"][0]["alias_bytes"] == 0, "without donation")
    check(copied["as_written"]["programs"][0]["alias_bytes"] == donated["programs"][0]["alias_bytes"], "as_written")
    temps = [run("decoder_training", f"checkpointing={policy}")["programs"][0]["temp_bytes"] for policy in ("none", "dots", "full")]
    check(temps == sorted(temps, reverse=True) and temps[0] > 3 * temps[2], f"checkpointing: {temps}")

    whole, divided = run("fsdp", "mesh.fsdp=1"), run("fsdp")
    of = lambda answer, name: next(row for row in answer["arrays"] if row["name"] == name)
    check(of(whole, "attention")["bytes"] == 8 * of(divided, "attention")["bytes"], "an eighth on each device")
    check(of(divided, "scales")["bytes"] == 4 * of(divided, "scales")["unpadded_bytes"], "eight columns are padded")
    check(of(divided, "table")["copies"] == 8, "a copy on each device")

    stalls = [run("matmul_buffers", f"rings={count}")["kernels"][0]["modelled_stall_ns"] for count in (1, 2, 3)]
    check(stalls[0] > 10 * stalls[1] > 10 * stalls[2], f"stalls by buffers: {stalls}")
    blocks = run("flash_attention")["kernels"][0]
    check(blocks["copies_in"] == 8 * 8 * (1 + 2 * 4), f"a block of q for each pair, k and v for each step: {blocks['copies_in']}")
    check(blocks["vmem_bytes"] == 2 * 4 * 128 * 1024 + 2 * 2 * 128 * 1024 * 2 - 2 * 4 * 128 * 1024 + 512 * 1024 * 4 + 3 * 512 * 128 * 4 + 2 * 2 * 512 * 128 * 2,
          f"buffers and scratch: {blocks['vmem_bytes']}")

    chain = run("weights_in_vmem")["programs"][0]["vmem"]
    offsets = {value["name"]: [each["offset"] for each in value["residences"]] for value in chain["values"]}
    # As libtpu 0.0.51 places the weights of such a chain, from the second product on.
    check([offsets.get(f"w{i}") for i in range(6)] == [None, [2**25], [0], [2**25], [0], [2**25]], f"weights at {offsets}")
    check(chain["modelled_kept_from_runs"] == 1 and chain["modelled_fetched_before_runs"] == 1, "x stays for the second run")

    table = of(run("embedding"), "table")
    check(table["bytes"] == 100_000_000 * 32 and table["unpadded_bytes"] == 100_000_000 * 12, "rows of 32 bytes")

    slid = run("server")
    check(len(slid["defragmentations"]) == 3 and not slid["failures"] and len(slid["gpu"]["failures"]) == 3, "the server")
    for row in slid["defragmentations"]:
        check(row["largest_free_before_bytes"] < row["asked_bytes"] <= row["largest_free_after_bytes"] == row["free_bytes"], f"{row}")
        check(abs(row["modelled_cost_ns"] - 1_000_000 - 2 * row["moved_bytes"] / 820) < 2, f"the cost of {row}")
    # The words of the runtime, read back by the reader of real ones.
    log = folder / "server.txt"
    stuck = json.loads(hbmscope("tpu", "run", "samples/tpu/server.json", "--json", "--what-if", "defragmentation=off", "--oom-log", log))
    read = json.loads(hbmscope("report", log, "--json"))["failures"]
    check(len(stuck["failures"]) == 3 and len(read) >= 1, "refused without sliding")
    for row in read:
        first = stuck["failures"][0]
        check(row["memory_space"] == "hbm" and row["asked_bytes"] == first["asked_bytes"], f"{row}")
        check(abs(row["largest_free_bytes"] - first["largest_free_bytes"]) < 2**20, f"{row}")


def check_fit(folder):
    """What `tpu fit` says would help does, by what `tpu run` says of it; where nothing is missing it says nothing."""
    def fit(text, *words):
        file = folder / "fit.json"
        file.write_text(text)
        return json.loads(hbmscope("tpu", "fit", file, "--json", *words))["programs"][0]["generations"]

    fsdp = pathlib.Path("samples/tpu/fsdp.json").read_text()
    on_v2, on_v5e = fit(fsdp, "--generation", "v2", "--generation", "v5e")
    check(on_v5e["fits"] and on_v5e["advice"] == [], f"fsdp on v5e: {on_v5e}")
    first = on_v2["advice"][0]
    check(not on_v2["fits"] and first["change"] == "mesh.fsdp=16" and first["suffices"], f"fsdp on v2: {on_v2}")
    for advice in on_v2["advice"]:
        run = json.loads(hbmscope("tpu", "run", "samples/tpu/fsdp.json", "--generation", "v2", "--what-if", advice["change"], "--json"))
        check(run["fits"] == advice["suffices"] and run["programs"][0]["spare_bytes"] >= advice["spare_bytes"], f"fsdp, {advice}")
    small = fit(fsdp, "--topology", "v5e:2x2")[0]
    check(not small["fits"] and small["devices"] == 4 and "larger than the topology" in small["text"], f"four devices: {small}")

    decoder = pathlib.Path("samples/tpu/decoder_training.json").read_text()
    keeps = fit(re.sub(r'"donate": \[[^]]*\],?', "", decoder), "--generation", "v5e")[0]
    donated = json.loads(hbmscope("tpu", "run", "samples/tpu/decoder_training.json", "--json"))["programs"][0]
    check(keeps["advice"][0]["change"] == "donate" and keeps["advice"][0]["spare_bytes"] <= donated["spare_bytes"], f"without donation: {keeps}")
    policies = fit(decoder.replace('"checkpointing": "full"', '"checkpointing": "none"'), "--generation", "v5e")[0]
    check(policies["advice"][0]["change"] == "checkpointing=dots", f"without checkpointing: {policies}")
    blocks = re.sub(r'"block_([qk])": *[0-9]+', r'"block_\1": 2048', pathlib.Path("samples/tpu/flash_attention.json").read_text())
    kernel = fit(blocks, "--generation", "v5e")[0]
    check(kernel["text"] == "over by 7.00 MiB of vmem" and kernel["advice"][0]["change"] == "block_q=1024", f"a kernel's blocks: {kernel}")


def main():
    check(len(SAMPLES) == 7, f"{len(SAMPLES)} samples")
    check_table()
    with tempfile.TemporaryDirectory() as name:
        for sample in SAMPLES:
            check_recording(sample, pathlib.Path(name))
        check_figures(pathlib.Path(name))
        check_fit(pathlib.Path(name))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
