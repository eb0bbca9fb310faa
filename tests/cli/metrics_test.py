#!/usr/bin/env python3
"""watch --metrics: what Prometheus reads is what watch --json prints, and bad clients harm nobody.

    metrics_test.py HBMSCOPE ANNOTATED_PROGRAM
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (\d+)')


def parse(text):
    """{(name, labels): value}, by the rules of the text format; each metric has its help and type, once."""
    found, heads, series = {}, [], set()
    for line in text.splitlines():
        if line.startswith("# "):
            heads.append(line.split(" ")[1:3])
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        assert heads[-1][1] == sample[1], f"{line} is not below its TYPE"
        # Processes have numbers that differ from run to run; a test looks for the others.
        key = sample[1], re.sub(r',?process="\d+"', "", sample[2] or "")
        assert (sample[1], sample[2]) not in series, f"{line} comes twice"
        series.add((sample[1], sample[2]))
        found[key] = int(sample[3])
    assert len(heads) == len({tuple(head) for head in heads})
    return found


def get(address, path="/metrics"):
    with urllib.request.urlopen(address + path, timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def drip(connection):
    """A byte every half second, for as long as the server takes them."""
    try:
        while True:
            connection.sendall(b"G")
            time.sleep(0.5)
    except OSError:
        pass


def start_watch(hbmscope, job, *words, **variables):
    watch = subprocess.Popen([hbmscope, "watch", str(job), "--metrics", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **variables})
    said = watch.stderr.readline()
    address = re.search(r"(http://127\.0\.0\.1:\d+)/metrics", said)
    assert address, said
    return watch, address[1]


def check(hbmscope, job):
    watch, address = start_watch(hbmscope, job, "0", SLURM_JOB_ID="77", POD_NAME='a "pod"\\')
    kind, text = get(address)
    assert kind.startswith("text/plain; version=0.0.4"), kind
    figures = parse(text)
    labels = 'heap="pool 0",device="0",pod="a \\"pod\\"\\\\",slurm_job="77"'
    assert figures["hbmscope_pool_bytes", labels] == 16 << 20, figures
    assert 0 < figures["hbmscope_requested_bytes", labels] <= figures["hbmscope_in_use_bytes", labels] <= figures["hbmscope_peak_in_use_bytes", labels]
    # The job goes on, and so do the figures.
    lines = subprocess.run([hbmscope, "watch", str(job), "--json", "--for", "1s"], capture_output=True, text=True, check=True).stdout
    [heap] = json.loads(lines.splitlines()[-1])["heaps"]
    later = parse(get(address)[1])
    assert later["hbmscope_events_total", 'pod="a \\"pod\\"\\\\",slurm_job="77"'] > figures["hbmscope_events_total", 'pod="a \\"pod\\"\\\\",slurm_job="77"']
    assert heap["pool_bytes"] == later["hbmscope_pool_bytes", labels] and later["hbmscope_peak_in_use_bytes", labels] >= heap["peak_in_use_bytes"]
    for path in ("/", "/metricsx"):
        try:
            get(address, path)
            raise AssertionError(path)
        except urllib.error.HTTPError as error:
            assert error.code == 404
    # One that says nothing, one that hangs up, one that never ends its head.
    host, port = address.removeprefix("http://").split(":")
    silent, endless = socket.create_connection((host, int(port))), socket.create_connection((host, int(port)))
    endless.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 20_000)
    slow = socket.create_connection((host, int(port)))
    dripping = threading.Thread(target=drip, args=(slow,), daemon=True)
    dripping.start()
    socket.create_connection((host, int(port))).close()
    parse(get(address)[1])
    dripping.join(timeout=30)
    assert not dripping.is_alive(), "a request that comes byte by byte is never given up"
    silent.close()
    endless.close()
    taken = subprocess.run([hbmscope, "watch", str(job), "--metrics", port], capture_output=True, text=True)
    assert taken.returncode == 2 and f"cannot listen at 127.0.0.1:{port}" in taken.stderr, taken
    for wrong in ("notaport", "1.2.3:9400", "70000"):
        refused = subprocess.run([hbmscope, "watch", str(job), "--metrics", wrong], capture_output=True, text=True)
        assert refused.returncode == 2 and f"--metrics {wrong} is not a port" in refused.stderr, refused
    return watch


def main():
    hbmscope, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        observer = subprocess.Popen([hbmscope, "run", "--no-window", "--no-flight", "--record", pathlib.Path(folder, "job.hbm"), "--", program, "--forever", "--pace", "20"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            time.sleep(0.1)
            if subprocess.run([hbmscope, "watch", str(observer.pid), "--json", "--for", "200ms"], capture_output=True, text=True).stdout:
                break
        watch = check(hbmscope, observer.pid)
        sample = pathlib.Path(__file__).resolve().parents[2] / "samples/fragments.hbm"
        exported = parse(subprocess.run([hbmscope, "export", sample, "--to", "prometheus", "--at", "oom"], capture_output=True, text=True, check=True).stdout)
        [heap] = json.loads(subprocess.run([hbmscope, "report", sample, "--at", "oom", "--json"], capture_output=True, text=True, check=True).stdout)["heaps"]
        assert [value for (name, _), value in exported.items() if name == "hbmscope_largest_free_bytes"] == [heap["largest_free_bytes"]]
        assert exported["hbmscope_out_of_memory_total", ""] == 2, exported
        observer.send_signal(signal.SIGTERM)
        observer.wait(timeout=30)
        assert watch.wait(timeout=30) == 0, watch.stderr.read()
        assert watch.stdout.read() == ""


if __name__ == "__main__":
    main()
