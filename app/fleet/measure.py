"""Runs a command under hbmscope, and reads from its recording how much device memory it held at its peak, and at which lines."""

import collections
import json
import os
import pathlib
import signal
import subprocess

from commits import plain_environment

SECONDS_TO_END = 10

# `lines`: bytes at the peak by (function, file); `places`: of each, (bytes, number of the line), the largest first; `files`:
# all that have a line; `refused`: of an out-of-memory, the line and the bytes of the request, if the recording has them.
Measured = collections.namedtuple("Measured", "peak_bytes is_out_of_memory refused lines places files")


def run(words, folder, output):
    """The exit code. What it prints goes to a file; Ctrl+C ends the command and all that it started."""
    with output.open("wb") as log:
        process = subprocess.Popen(words, cwd=folder, env=plain_environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait()
        except BaseException:
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, number)
                    process.wait(SECONDS_TO_END)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    continue
            raise


def name_of(row):
    if row["name"] is not None:
        return row["name"]
    return "PyTorch's backward pass" if row["thread"] else "library code only" if row["has_stack"] else "no stack"


def peak_of(heap):
    """As in digest: of a heap that frameworks' pools take from, only what is outside of them."""
    outside = heap["outside_pools_bytes"]
    return heap["peak_in_use_bytes"] if outside is None else outside


def report_of(hbmscope, recording, at):
    words = [hbmscope, "report", str(recording), "--at", at, "--own", "0", "--top", "1", "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def read(hbmscope, recording, tree, exit_code):
    """Nothing if nothing was recorded, or if the command failed for another reason than a lack of memory."""
    if not recording.exists():
        return None
    report = report_of(hbmscope, recording, "peak")
    if report is None and exit_code != 0:
        report = report_of(hbmscope, recording, "end")  # There is no peak if the first request was refused.
    if report is None:
        return None
    # The driver's refusals are among them only if the program allocated nothing after: else it failed for another reason.
    is_out_of_memory = exit_code != 0 and bool(report["failures"])
    if exit_code != 0 and not is_out_of_memory:
        return None
    refused = [{"line": (failure["own_line"] or "").replace(f"{tree}/", "") or None, "requested_bytes": failure["asked_bytes"]} for failure in report["failures"] if is_out_of_memory]
    lines, places, files = collections.Counter(), collections.defaultdict(list), set()
    for row in report["own_code"]:
        path = pathlib.Path(row["file"]) if row["file"] else None
        files |= {path} if path else set()
        inside = str(path.relative_to(tree)) if path and tree in path.parents else row["file"] or ""
        key = (name_of(row), inside)
        lines[key] += row["bytes"]
        places[key].append((row["bytes"], row["line"]))
    return Measured(max(map(peak_of, report["heaps"]), default=0), is_out_of_memory, refused[-1] if refused else None, lines, places, files)
