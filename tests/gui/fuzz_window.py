#!/usr/bin/env python3
"""Drives the real window as an impatient person would, by a seeded stream of sizes, keys, clicks and drags over files of
all kinds and live demos that are killed. It ends with 1 at the first hang or crash, and says how to repeat it.

    fuzz_window.py HBMSCOPE [--minutes 2] [--seed 1] [--slowest 20]

Needs Xvfb and xdotool, and says so where they are missing (77: skipped). The program writes the time of each frame to
the file that HBMSCOPE_FRAMES names. HBMSCOPE_DATA may name a folder with more files.
"""

import argparse
import os
import pathlib
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
LARGEST_FILE = 40 << 20
SCREEN = (1920, 1080)
KEYS = """w a s d W S z 0 l L p o O n N b B m y i f c r R u e v x Home End Left Right Up Down space Tab Return Escape Escape
    F1 F3 F5 F6 F11 bracketleft bracketright comma period shift+comma shift+period Page_Up Page_Down Delete BackSpace
    ctrl+o ctrl+f ctrl+l ctrl+p ctrl+b ctrl+e ctrl+shift+p ctrl+shift+o ctrl+shift+c ctrl+shift+e ctrl+c ctrl+v ctrl+w ctrl+z
    ctrl+equal ctrl+equal ctrl+minus ctrl+minus ctrl+0 alt+Left alt+Right ctrl+1 ctrl+2 ctrl+3 ctrl+4 ctrl+5 shift+F3 F7""".split()
# Typed into the palette. "theme" and the names of views are what people do most.
COMMANDS = ["theme", "theme", "text larger", "text smaller", "reset layout", "demo", "fragmentation", "flame", "heap map", "timeline",
            "what if", "why it failed", "blocks", "events", "sizes", "top", "summary", "tables", "call tree", "source", "import",
            "address x time", "strip", "rows by region", "compare", "unpin", "settings", "split", "lock", "swap", "recent", "failing",
            "sample", "all devices", "clear filter", "invert", "group by file", "help", "maximise", "close file", "attach"]
FILTERS = ["size>1MiB", "size>1GiB age>1s", "stack:step", "0x7f0000000000", "tag:opt (", "/[/", "lifetime<1ms", "-file:site", "zzz", ""]


def write_segments(path, count):
    """A snapshot of torch with this many segments, each with one block in use."""
    base, size = 0x7F0000000000, 2 << 20
    frames = [{"filename": "/home/me/train.py", "name": "forward", "line": 54}]
    segments = [{"address": base + 2 * i * size, "total_size": size, "allocated_size": size // 2, "active_size": size // 2, "device": 0, "stream": 0,
                 "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames,
                 "blocks": [{"address": base + 2 * i * size, "size": size // 2, "requested_size": size // 2, "state": "active_allocated", "frames": frames},
                            {"address": base + 2 * i * size + size // 2, "size": size // 2, "requested_size": size // 2, "state": "inactive", "frames": []}]}
                for i in range(count)]
    with open(path, "wb") as out:
        pickle.dump({"segments": segments, "device_traces": [], "allocator_settings": {}}, out)


def find_files(folder):
    files = [path for root in (SAMPLES, os.environ.get("HBMSCOPE_DATA")) if root for path in pathlib.Path(root).rglob("*")]
    files = sorted(str(path) for path in files if path.is_file() and path.stat().st_size <= LARGEST_FILE)
    for count in (1, 6000, 20000):
        path = f"{folder}/segments_{count}.pickle"
        write_segments(path, count)
        files += [path] * (1 + len(files) // 40)
    return files


class Window:
    """One start of the program, and the hand over it."""

    def __init__(self, fuzzer, arguments):
        self.fuzzer = fuzzer
        self.frames, self.unfinished = open(fuzzer.frames_path, "w+"), ""
        self.said = open(f"{fuzzer.folder}/stderr.txt", "w+b")
        self.process = subprocess.Popen([fuzzer.program, *arguments], env=fuzzer.env, cwd=fuzzer.folder, stdout=self.said, stderr=self.said,
                                        start_new_session=True)
        self.id, self.size = None, (1600, 1000)
        end = time.monotonic() + fuzzer.slowest
        while self.id is None and self.process.poll() is None and time.monotonic() < end:
            found = fuzzer.xdotool("search", "--onlyvisible", "--pid", str(self.process.pid)).split()
            self.id = found[0] if found else None
            if self.id is None:
                time.sleep(0.05)
        if self.id:
            fuzzer.xdotool("windowfocus", self.id)

    def do(self, *words):
        self.fuzzer.xdotool(*words)

    def place(self):
        return [str(self.fuzzer.random.randrange(max(1, side))) for side in self.size]

    def count_frames(self):
        """Frames since the last call, and the longest of them: its seconds, and those that it computed."""
        lines, _, self.unfinished = (self.unfinished + self.frames.read()).rpartition("\n")
        times = [tuple(int(one) / 1e6 for one in line.split()) for line in lines.splitlines()]
        return len(times), max(times, default=(0, 0))

    def answers(self):
        """Whether it draws a frame after the pointer moved, and the longest frame until then."""
        start = time.monotonic()
        count, longest = 0, (0, 0)
        while time.monotonic() - start < self.fuzzer.slowest and self.process.poll() is None:
            self.do("mousemove", "--window", self.id, *self.place())
            for _ in range(20):
                time.sleep(0.01)
                more, slow = self.count_frames()
                count, longest = count + more, max(longest, slow)
                if count:
                    return count, longest
        return 0, (time.monotonic() - start, 0)

    def end(self, how):
        """SIGKILL for the whole group, so that jobs which the window started end too."""
        if self.process.poll() is None and how != signal.SIGKILL:
            self.do("key", "--window", self.id, "Escape")
            self.process.send_signal(how)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


class Fuzzer:
    def __init__(self, options, folder, display):
        self.program, self.slowest, self.folder = os.path.abspath(options.hbmscope), options.slowest, folder
        self.random = random.Random(options.seed)
        self.frames_path = f"{folder}/frames.txt"
        self.env = dict(os.environ, DISPLAY=display, HBMSCOPE_FRAMES=self.frames_path, HOME=folder, XDG_CONFIG_HOME=f"{folder}/config",
                        XDG_STATE_HOME=f"{folder}/state", LIBGL_ALWAYS_SOFTWARE="1")
        self.env.pop("WAYLAND_DISPLAY", None)
        self.files = find_files(folder)
        self.actions = self.frames = self.starts = 0
        self.opened = set()
        self.longest = ((0, 0), "", [])
        self.story = []

    def xdotool(self, *words):
        return subprocess.run(["xdotool", *words], env=self.env, capture_output=True, text=True).stdout

    # Actions. Each gets the window.
    def resize(self, window):
        width, height = self.random.choice([(200, 150), (420, 500), (900, 600), (1200, 800), (1280, 690), (1600, 1000), SCREEN,
                                            (self.random.randrange(200, SCREEN[0]), self.random.randrange(150, SCREEN[1]))])
        window.size = (width, height)
        window.do("windowsize", window.id, str(width), str(height))
        return f"size {width}x{height}"

    def press(self, window):
        key = self.random.choice(KEYS)
        window.do("key", key)
        return f"key {key}"

    def click(self, window):
        x, y = window.place()
        button, times = self.random.choice([("1", "1"), ("1", "1"), ("1", "1"), ("1", "2"), ("3", "1"), ("2", "1"), ("8", "1"), ("9", "1")])
        window.do("mousemove", "--window", window.id, x, y, "click", "--repeat", times, "--delay", "30", button)
        return f"click {button} x{times} at {x},{y}"

    def wheel(self, window):
        x, y = window.place()
        button, times = self.random.choice("4567"), str(self.random.randrange(1, 12))
        held = self.random.choice([[], [], ["ctrl"], ["shift"]])
        down = [word for key in held for word in ("keydown", key)]
        up = [word for key in held for word in ("keyup", key)]
        window.do("mousemove", "--window", window.id, x, y, *down, "click", "--repeat", times, "--delay", "5", button, *up)
        return f"wheel {button} x{times} {' '.join(held)} at {x},{y}"

    def drag(self, window):
        x, y = window.place()
        to_x, to_y = window.place()
        if self.random.random() < 0.4:  # Most splitters are moved along one axis.
            to_x, to_y = self.random.choice([(x, to_y), (to_x, y), ("0", y), (str(window.size[0] - 1), y), (x, "0")])
        button = self.random.choice("1113")
        window.do("mousemove", "--window", window.id, x, y, "mousedown", button)
        steps = self.random.randrange(1, 5)
        for step in range(1, steps + 1):
            at = [str(int(a) + (int(b) - int(a)) * step // steps) for a, b in ((x, to_x), (y, to_y))]
            window.do("mousemove", "--window", window.id, *at, "sleep", "0.02")
        window.do("mouseup", button)
        return f"drag {button} {x},{y} to {to_x},{to_y}"

    def command(self, window):
        words = self.random.choice(COMMANDS)
        window.do("key", "Escape", "key", "ctrl+shift+p", "sleep", "0.15", "type", "--delay", "2", words)
        window.do("sleep", "0.05", "key", "Return")
        return f"palette {words}"

    def filter(self, window):
        words = self.random.choice(FILTERS)
        window.do("key", "ctrl+l", "sleep", "0.1", "key", "ctrl+a", "type", "--delay", "5", words or " ")
        window.do("key", self.random.choice(["Return", "Escape", "Tab", "Down"]))
        return f"filter {words}"

    def kill_job(self, window):
        """A process that the window started, such as the program of the demo."""
        children = subprocess.run(["pgrep", "-g", str(window.process.pid)], capture_output=True, text=True).stdout.split()
        children = [child for child in children if int(child) != window.process.pid]
        if not children:
            return self.press(window)
        try:
            os.kill(int(self.random.choice(children)), signal.SIGKILL)
        except ProcessLookupError:
            pass  # It ended by itself.
        return "kill a job"

    ACTIONS = [resize] * 4 + [press] * 10 + [click] * 8 + [wheel] * 4 + [drag] * 6 + [command] * 4 + [filter] * 2 + [kill_job]

    def arguments(self):
        kind = self.random.random()
        if kind < 0.1:
            return []
        if kind < 0.25:
            return ["demo", "--speed", self.random.choice(["1", "8"])]
        files = self.random.sample(self.files, self.random.choice([1, 1, 1, 2, 3]))
        self.opened.update(files)
        return ["open", *(self.copy(file) for file in files)]

    def copy(self, file):
        """What is opened may also be written over, by the dialog that exports."""
        place = pathlib.Path(self.folder) / "files" / str(self.files.index(file))
        place.mkdir(parents=True, exist_ok=True)
        return str(shutil.copyfile(file, place / pathlib.Path(file).name))

    def trouble(self, window, what):
        backtrace = ""
        if window.process.poll() is None and shutil.which("gdb"):
            backtrace = subprocess.run(["gdb", "-p", str(window.process.pid), "-batch", "-ex", "thread apply all backtrace 25"], capture_output=True,
                                       text=True).stdout
        window.end(signal.SIGKILL)
        window.said.seek(0)
        print(f"fuzz_window: {what}\n  its actions: " + "\n    ".join(self.story))
        print(window.said.read().decode(errors="replace")[-2000:], backtrace[-6000:])
        return 1

    def start(self, end):
        """One start of the program. 1 if it hung or crashed."""
        arguments = self.arguments()
        self.story = [" ".join(arguments) or "the start page"]
        self.starts += 1
        window = Window(self, arguments)
        if window.id is None:
            return self.trouble(window, f"no window within {self.slowest} s, or it ended with {window.process.poll()}")
        for _ in range(self.random.randrange(20, 80)):
            if time.monotonic() > end:
                break
            self.story.append(self.random.choice(self.ACTIONS)(self, window))
            self.actions += 1
            count, longest = window.answers()
            self.frames += count
            if longest > self.longest[0]:
                self.longest = (longest, self.story[-1], self.story[0])
            if window.process.poll() is not None:
                break
            if count == 0:
                return self.trouble(window, f"no frame within {self.slowest} s")
        ended = window.process.poll()
        if ended is None:
            window.end(self.random.choice([signal.SIGKILL, signal.SIGTERM]))
        else:
            window.end(signal.SIGKILL)  # What it started.
        if ended not in (None, 0):
            return self.trouble(window, f"it ended with {ended}")
        return 0


def start_display(folder):
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{SCREEN[0]}x{SCREEN[1]}x24", "-nolisten", "tcp", "-noreset"],
                              pass_fds=[writing], stderr=open(f"{folder}/xvfb.txt", "wb"))
    os.close(writing)
    with os.fdopen(reading) as said:
        return server, ":" + said.readline().strip()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("hbmscope")
    options.add_argument("--minutes", type=float, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--slowest", type=float, default=20, help="a window that draws nothing for this many seconds hangs")
    options = options.parse_args()
    missing = [tool for tool in ("Xvfb", "xdotool") if not shutil.which(tool)]
    if missing:
        print(f"fuzz_window: skipped, there is no {' and no '.join(missing)} (apt install xvfb xdotool)")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="hbmscope-fuzz-") as folder:
        server, display = start_display(folder)
        begun = time.monotonic()
        fuzzer = Fuzzer(options, folder, display)
        failed = 0
        try:
            while not failed and time.monotonic() - begun < options.minutes * 60:
                failed = fuzzer.start(begun + options.minutes * 60)
        finally:
            server.terminate()
            server.wait()
        longest, action, arguments = fuzzer.longest
        print(f"fuzz_window: seed {options.seed}, {time.monotonic() - begun:.0f} s, {fuzzer.starts} starts, {len(fuzzer.opened)} files, {fuzzer.actions} actions, "
              f"{fuzzer.frames} frames, longest {longest[0] * 1000:.0f} ms, of which {longest[1] * 1000:.0f} ms computed ({action}; {arguments}), " + ("no hang, no crash" if not failed else "FAILED"))
        return failed


if __name__ == "__main__":
    sys.exit(main())
