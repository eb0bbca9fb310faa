#!/usr/bin/env python3
"""watch --metrics and --otlp: what Prometheus reads and a collector gets is what watch --json prints, and bad clients and
collectors harm nobody.

    metrics_test.py HBMSCOPE ANNOTATED_PROGRAM
"""

import http.server
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
    """Until the first figures have arrived the server answers 503, as a scraper expects."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(address + path, timeout=10) as answer:
                return answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
        time.sleep(0.1)
    raise AssertionError("no figures in ten seconds")


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


class Collector(http.server.ThreadingHTTPServer):
    """An OpenTelemetry collector's HTTP receiver; answers with `status`."""

    allow_reuse_address = True

    def __init__(self, port=0):
        self.requests, self.status, self.answer = [], 200, b"{}"
        super().__init__(("127.0.0.1", port), Receiver)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait_for(self, count):
        for _ in range(200):
            if len(self.requests) >= count:
                return self.requests[-1]
            time.sleep(0.05)
        raise AssertionError(f"{len(self.requests)} of {count} requests came")


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, self.headers["Content-Type"], body))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, *words):
        pass


def points(request):
    """{(name, attributes): value}, by the rules of OTLP's JSON; 64-bit numbers are strings."""
    path, kind, body = request
    assert (path, kind) == ("/v1/metrics", "application/json"), request
    [resource] = json.loads(body)["resourceMetrics"]
    about = {each["key"]: each["value"]["stringValue"] for each in resource["resource"]["attributes"]}
    assert about["service.name"] == "hbmscope" and about["service.instance.id"].startswith(about["host.name"] + ":") and about["host.name"] == socket.gethostname(), about
    [scope] = resource["scopeMetrics"]
    found = {}
    for metric in scope["metrics"]:
        is_counter = "sum" in metric
        assert metric["unit"] == ("1" if is_counter else "By"), metric
        data = metric["sum"] if is_counter else metric["gauge"]
        assert not is_counter or (data["aggregationTemporality"], data["isMonotonic"]) == (2, True)
        for point in data["dataPoints"]:
            assert abs(int(point["timeUnixNano"]) / 1e9 - time.time()) < 60 and isinstance(point["timeUnixNano"], str)
            assert not is_counter or int(point["startTimeUnixNano"]) < int(point["timeUnixNano"])
            attributes = frozenset((each["key"], each["value"]["stringValue"]) for each in point["attributes"] if each["key"] != "process")
            assert (metric["name"], attributes) not in found
            found[metric["name"], attributes] = int(point["asInt"])
    return found


def check_otlp(hbmscope, job):
    collector = Collector()
    port = collector.server_address[1]
    watch = subprocess.Popen([hbmscope, "watch", str(job), "--otlp", f"http://localhost:{port}", "--every", "200ms"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "POD_NAME": 'a "pod"\\'})
    first, later = points(collector.wait_for(2)), points(collector.wait_for(5))
    heap = frozenset({"heap": "pool 0", "device": "0", "pod": 'a "pod"\\'}.items())
    assert later["hbmscope.pool", heap] == 16 << 20 and 0 < later["hbmscope.requested", heap] <= later["hbmscope.in_use", heap] <= later["hbmscope.peak_in_use", heap], later
    starts = {point["startTimeUnixNano"] for request in collector.requests for resource in json.loads(request[2])["resourceMetrics"] for scope in resource["scopeMetrics"] for metric in scope["metrics"] if "sum" in metric for point in metric["sum"]["dataPoints"]}
    assert len(starts) == 1, "the start of a counter moves"
    pod = frozenset({"pod": 'a "pod"\\'}.items())
    assert later["hbmscope.events", pod] > first["hbmscope.events", pod] and ("hbmscope.out_of_memory", pod) in later
    # A collector that refuses, that is gone, and that is back: said once each.
    collector.status = 503
    collector.wait_for(len(collector.requests) + 4)
    collector.shutdown()
    collector.server_close()
    time.sleep(1)
    back = Collector(port)
    points(back.wait_for(2))
    back.answer = b'{"partialSuccess": {"rejectedDataPoints": "3", "errorMessage": "no such metric"}}'
    back.wait_for(len(back.requests) + 2)
    return watch, port, back


DYING_JOB = """
import ctypes, time
cuda = ctypes.CDLL("libcuda.so.1")
context, block = ctypes.c_uint64(), ctypes.c_uint64()
cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context)
assert cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_uint64(1 << 30)) == 0
time.sleep(4)
raise SystemExit(cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_uint64(1 << 40)))
"""


def check_the_last_figures(hbmscope, folder):
    """They have the failure of a job that has died."""
    job, collector = pathlib.Path(folder, "dying.py"), Collector()
    job.write_text(DYING_JOB)
    observer = subprocess.Popen([hbmscope, "run", "--emulate", "h100", "--no-window", "--no-flight", "--record", pathlib.Path(folder, "dying.hbm"), "--", sys.executable, job],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(2)
    watch = subprocess.run([hbmscope, "watch", str(observer.pid), "--otlp", f"http://127.0.0.1:{collector.server_address[1]}", "--every", "1s"], capture_output=True, text=True, timeout=60)
    observer.wait(timeout=30)
    assert (watch.returncode, watch.stderr) == (0, ""), watch
    first, last = points(collector.requests[0]), points(collector.requests[-1])
    none = frozenset()
    assert (first["hbmscope.out_of_memory", none], last["hbmscope.out_of_memory", none]) == (0, 1), (first, last)
    collector.shutdown()


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
        otlp, port, collector = check_otlp(hbmscope, observer.pid)
        for wrong in ("https://localhost:4318", "localhost:4318", "http://", "http://a:b", "http://a:70000", "http://localhost:0", "http://u@localhost:1", "http://[::1]x:1", "http://[::1:1"):
            refused = subprocess.run([hbmscope, "watch", str(observer.pid), "--otlp", wrong], capture_output=True, text=True)
            assert refused.returncode == 2 and f"--otlp {wrong} " in refused.stderr, refused
        sample = pathlib.Path(__file__).resolve().parents[2] / "samples/fragments.hbm"
        exported = parse(subprocess.run([hbmscope, "export", sample, "--to", "prometheus", "--at", "oom"], capture_output=True, text=True, check=True).stdout)
        [heap] = json.loads(subprocess.run([hbmscope, "report", sample, "--at", "oom", "--json"], capture_output=True, text=True, check=True).stdout)["heaps"]
        assert [value for (name, _), value in exported.items() if name == "hbmscope_largest_free_bytes"] == [heap["largest_free_bytes"]]
        assert exported["hbmscope_out_of_memory_total", ""] == 2, exported
        # A dry run on an L40S: its memory, and JAX's three quarters of what its driver says is free.
        known = parse(subprocess.run([hbmscope, "export", sample.parent / "stories/finetune.hbm", "--to", "prometheus"], capture_output=True, text=True, check=True).stdout)
        [[limit], [device]] = ([value for (name, _), value in known.items() if name == f"hbmscope_{what}_bytes"] for what in ("limit", "device"))
        assert device == 47_695_611_822 and 0.74 * device < limit < 0.76 * device, known
        check_the_last_figures(hbmscope, folder)
        observer.send_signal(signal.SIGTERM)
        observer.wait(timeout=30)
        assert watch.wait(timeout=30) == 0, watch.stderr.read()
        assert watch.stdout.read() == ""
        said = otlp.communicate(timeout=30)
        assert otlp.returncode == 0 and said[0] == "", said
        lines = said[1].splitlines()
        assert lines == [f"hbmscope: the collector at localhost:{port} takes no figures: it answered HTTP/1.0 503 Service Unavailable; trying again with the next ones",
                         f"hbmscope: the collector at localhost:{port} takes figures again",
                         f"hbmscope: the collector at localhost:{port} takes no figures: it rejected 3 figures: no such metric; trying again with the next ones"], lines
        collector.shutdown()
        text = subprocess.run([hbmscope, "export", sample, "--to", "otlp", "--at", "oom"], capture_output=True, text=True, check=True).stdout
        [metric] = [metric for metric in json.loads(text)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"] if metric["name"] == "hbmscope.largest_free"]
        assert [int(point["asInt"]) for point in metric["gauge"]["dataPoints"]] == [heap["largest_free_bytes"]]


if __name__ == "__main__":
    main()
