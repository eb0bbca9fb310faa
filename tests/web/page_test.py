#!/usr/bin/env python3
"""The page for browsers (app/web), in headless Chromium: its pictures are the native window's, and what a browser has of
its own works: dialogs, saving, copying, links.

    tests/web/page_test.py FOLDER_OF_THE_PAGE HBMSCOPE [-k part of a test's name] [--keep FOLDER]

`make test-web` prepares and calls it. Files of real jobs are compared too where HBMSCOPE_DATA names a folder of them.
"""

import functools
import http.server
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import numpy
from PIL import Image
from playwright.sync_api import sync_playwright

SOURCES = pathlib.Path(__file__).resolve().parents[2]
SIZE = {"width": 1600, "height": 1000}
BROWSER = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
# A pixel differs if one of its colours does by more than this (of 255); the edges of letters do.
LEVELS, SHARE = 8, 0.001
DAMAGED = b"\x80\x04\x95 not a snapshot"

PAGE = HBMSCOPE = KEEP = None  # Set by main().
# File, state. Those of DATA are looked for there.
SAMPLES = [("samples/fragments.hbm", "at=oom"), ("samples/fragments.hbm", "at=oom&view=blocks&theme=light"), ("samples/leak_step_200.pprof.gz", "view=flame"),
           ("samples/arrays.pprof.gz", ""), ("samples/tpu/fsdp.json", ""), ("samples/sharded.pprof.gz", "view=tree")]
DATA = pathlib.Path(os.environ.get("HBMSCOPE_DATA", SOURCES / "../shared/data"))
REAL = [line.split() for line in (pathlib.Path(__file__).parent / "real_files.txt").read_text().splitlines() if line and not line.startswith("#")]


def difference(one, other):
    """The share of pixels that differ."""
    a, b = (numpy.asarray(picture.convert("RGB"), dtype=numpy.int16) for picture in (one, other))
    if a.shape != b.shape:
        return 1.0
    return float((numpy.abs(a - b).max(axis=2) > LEVELS).mean())


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="hbmscope_page_"))
        for name in ("index.html", "index.js", "index.wasm"):
            (cls.folder / name).symlink_to(PAGE / name)
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=cls.folder))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.address = f"http://127.0.0.1:{cls.server.server_port}/"
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        cls.server.shutdown()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.requests, self.errors = [], []

    def tearDown(self):
        for context in self.browser.contexts:
            context.close()
        self.assertEqual([], self.errors)
        self.assertEqual([], [one for one in self.requests if not one.startswith((self.address, "blob:", "file:", "data:"))])

    def serve(self, path):
        """Makes the file reachable beside the page, under its own name."""
        place = self.folder / path.name
        if not place.exists():
            place.symlink_to(path.resolve())
        return path.name

    def go(self, address, scale=1, waits=True):
        context = self.browser.new_context(viewport=SIZE, device_scale_factor=scale, permissions=["clipboard-read", "clipboard-write"] if address.startswith("http") else [])
        page = context.new_page()
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" and "404" not in message.text else None)
        page.goto(address)
        if waits:
            page.wait_for_function("Module.calledRun === true", timeout=60e3)
        return page

    def open(self, path, state="", **more):
        return self.go(f"{self.address}index.html?url={urllib.parse.quote(self.serve(path))}#{state}", **more)

    def settled(self, page, name=None):
        """The picture, once it no longer changes."""
        last, since = b"", time.monotonic()
        while time.monotonic() - since < 60:
            page.wait_for_timeout(700)
            now = page.screenshot()
            if now == last:
                break
            last = now
        picture = Image.open(io.BytesIO(last))
        if KEEP and name:
            picture.save(KEEP / f"{name}.png")
        return picture

    def native(self, path, state="", scale=1, name=None):
        out = self.folder / "native.png"
        options = [f"--{part.replace('=', ' ', 1)}".split(" ", 1) for part in state.split("&") if part]
        command = [HBMSCOPE, "open", path.name, *sum(options, []), "--screenshot", out, "--size", f"{SIZE['width'] * scale}x{SIZE['height'] * scale}", "--scale", str(scale)]
        subprocess.run(command, cwd=path.parent, check=True, capture_output=True, env={**os.environ, "XDG_STATE_HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)})
        picture = Image.open(out)
        picture.load()
        if KEEP and name:
            picture.save(KEEP / f"{name}.native.png")
        return picture

    def compare(self, path, state, scale=1):
        name = f"{path.name}.{state.replace('&', '.').replace('=', '_')}.{scale}".replace("/", "_")
        begin = time.monotonic()
        page = self.open(path, state, scale=scale)
        seen = self.settled(page, name)
        heap = page.evaluate("Module.HEAPU8 ? Module.HEAPU8.length : HEAPU8.length")
        differing = difference(seen, self.native(path, state, scale, name))
        print(f"    {path.name} {state or '-'} x{scale}: {differing:.4%} of the pixels differ, {heap / 2**20:.0f} MiB, seen after {time.monotonic() - begin:.1f} s", flush=True)
        page.context.close()
        return differing

    def test_pictures_are_the_native_windows(self):
        for file, state in SAMPLES:
            with self.subTest(file=file, state=state):
                self.assertLess(self.compare(SOURCES / file, state), SHARE)

    def test_pictures_of_real_files_are_the_native_windows(self):
        found = [(DATA / file, "".join(state)) for file, *state in REAL if (DATA / file).exists()]
        if not found:
            self.skipTest("HBMSCOPE_DATA names no folder with the files of real_files.txt")
        for path, state in found:
            with self.subTest(file=path.name):
                self.assertLess(self.compare(path, state), SHARE)

    def test_a_screen_with_a_scale_of_two(self):
        self.assertLess(self.compare(SOURCES / "samples/fragments.hbm", "at=oom", scale=2), SHARE)

    def test_the_first_page(self):
        page = self.go(self.address + "index.html")
        self.settled(page, "first_page")
        self.assertEqual("hbmscope", page.title())

    def test_the_browsers_dialog_opens_files(self):
        page = self.go(self.address + "index.html")
        self.settled(page)
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Control+o")
        chooser.value.set_files([SOURCES / "samples/fragments.hbm"])
        seen = self.settled(page, "dialog")
        self.assertEqual("fragments.hbm - hbmscope", page.title())
        self.assertLess(difference(seen, self.native(SOURCES / "samples/fragments.hbm")), SHARE)

    def drop(self, page, files):
        page.evaluate("""(files) => {
          const data = new DataTransfer();
          for (const [name, bytes] of files) data.items.add(new File([new Uint8Array(bytes)], name));
          document.getElementById("canvas").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""", [[name, list(content)] for name, content in files])

    def message(self, page, words):
        page.wait_for_function("(words) => document.getElementById('message').textContent.includes(words)", arg=words, timeout=20e3)

    def test_odd_names_open(self):
        content = (SOURCES / "samples/fragments.hbm").read_bytes()
        page = self.go(self.address + "index.html")
        self.drop(page, [("a\nb%#&+é.hbm", content), ("..", content), ("same.hbm", content)])
        self.settled(page, "odd")
        self.assertEqual("same.hbm - hbmscope", page.title())
        self.drop(page, [("same.hbm", (SOURCES / "samples/arrays.pprof.gz").read_bytes())])
        self.settled(page)
        self.assertEqual("same (2).hbm - hbmscope", page.title())
        self.assertEqual(["a_b%#&+é.hbm", "file", "same.hbm", "same (2).hbm"], page.evaluate("[...page.opened.keys()]"))

    def test_a_drop_before_the_program_is_there_waits_for_it(self):
        context = self.browser.new_context(viewport=SIZE)
        page = context.new_page()
        page.route("**/index.wasm", lambda route: (time.sleep(2), route.continue_()))
        page.goto(self.address + "index.html", wait_until="commit")
        page.wait_for_function("typeof page !== 'undefined'")
        self.drop(page, [("early.hbm", (SOURCES / "samples/fragments.hbm").read_bytes())])
        page.wait_for_function("document.title === 'early.hbm - hbmscope'", timeout=60e3)

    def test_a_part_of_the_page_that_is_missing_is_reported(self):
        for part in ("index.wasm", "index.js"):
            page = self.browser.new_context(viewport=SIZE).new_page()
            page.route(f"**/{part}", lambda route: route.fulfill(status=404))
            page.goto(self.address + "index.html", wait_until="commit")
            self.message(page, "hbmscope's page has stopped")

    def test_a_page_that_is_cut_off_says_so(self):
        whole = (PAGE / "hbmscope.html").read_bytes()
        for at in (len(whole) // 2, len(whole) - 300):
            cut = self.folder / "cut.html"
            cut.write_bytes(whole[:at])
            page = self.browser.new_context(viewport=SIZE).new_page()
            page.goto(f"file://{cut}", wait_until="commit")
            self.message(page, "cut off")

    def test_a_browser_without_webgl_says_so(self):
        browser = self.playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--disable-3d-apis"])
        page = browser.new_page(viewport=SIZE)
        page.goto(self.address + "index.html?url=" + self.serve(SOURCES / "samples/fragments.hbm"))
        self.message(page, "WebGL 2")
        page.wait_for_timeout(1000)
        self.message(page, "WebGL 2")
        browser.close()

    def test_a_state_that_comes_while_its_file_is_read_is_the_one_that_counts(self):
        fragments = SOURCES / "samples/fragments.hbm"
        context = self.browser.new_context(viewport=SIZE)
        page = context.new_page()
        page.route("**/fragments.hbm", lambda route: (time.sleep(2), route.continue_()))
        page.goto(f"{self.address}index.html?url={self.serve(fragments)}#at=start", wait_until="commit")
        page.wait_for_function("typeof page !== 'undefined' && page.opensLink", timeout=60e3)
        page.evaluate("location.hash = '#at=oom&view=blocks'")
        page.wait_for_function("document.title === 'fragments.hbm - hbmscope'", timeout=60e3)
        self.assertLess(difference(self.settled(page), self.native(fragments, "at=oom&view=blocks")), SHARE)

    def test_what_can_be_read_of_several_addresses_opens(self):
        page = self.go(f"{self.address}index.html?url=missing.hbm&url={self.serve(SOURCES / 'samples/fragments.hbm')}")
        self.settled(page, "one_missing")
        self.assertEqual("fragments.hbm - hbmscope", page.title())

    def test_a_link_names_a_sample(self):
        page = self.go(self.address + "index.html?sample=fragments.hbm#at=oom&view=blocks")
        self.assertEqual("fragments.hbm - hbmscope", (self.settled(page), page.title())[1])
        self.assertIn("?sample=fragments.hbm#", self.copied_link(page))

    def test_dropped_files_open_together(self):
        page = self.go(self.address + "index.html")
        self.settled(page)
        files = [SOURCES / f"samples/leak_step_{step}.pprof.gz" for step in ("100", "200")]
        self.drop(page, [(file.name, file.read_bytes()) for file in files])
        self.settled(page, "dropped")
        self.assertEqual("leak_step_200.pprof.gz - hbmscope", page.title())
        self.assertEqual(2, page.evaluate("page.opened.size"))

    def test_pasted_text_opens(self):
        page = self.go(self.address + "index.html")
        self.settled(page)
        page.evaluate("navigator.clipboard.writeText('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 12.50 GiB is free.')")
        page.keyboard.press("Control+v")
        self.settled(page, "pasted")
        self.assertNotEqual("hbmscope", page.title())

    def run_command(self, page, words):
        """By the palette."""
        page.keyboard.press("Control+Shift+P")
        page.wait_for_timeout(500)
        page.keyboard.type(words)
        page.wait_for_timeout(500)
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)

    def copied_link(self, page):
        page.evaluate("navigator.clipboard.writeText('')")
        self.run_command(page, "copy link")
        page.wait_for_function("navigator.clipboard.readText().then((text) => text !== '')", timeout=20e3)
        return page.evaluate("navigator.clipboard.readText()")

    def test_a_copied_link_shows_the_same(self):
        page = self.open(SOURCES / "samples/fragments.hbm", "at=oom&view=blocks")
        self.settled(page)
        page.keyboard.press(",")
        self.settled(page)
        link = self.copied_link(page)
        self.assertIn("?url=fragments.hbm#", link)
        self.assertIn("view=blocks", link)
        page.keyboard.press("Escape")
        page.mouse.move(5, 5)
        before = self.settled(page, "link_from")
        after = self.settled(self.go(link), "link_to")
        self.assertLess(difference(before, after), 0.002)  # The status line still names the link.

    def test_another_state_in_the_address_is_followed(self):
        page = self.open(SOURCES / "samples/fragments.hbm", "at=start")
        self.settled(page)
        page.evaluate("location.hash = '#at=oom&view=blocks'")
        page.mouse.move(5, 5)
        self.assertLess(difference(self.settled(page), self.native(SOURCES / "samples/fragments.hbm", "at=oom&view=blocks")), 0.002)

    def test_a_written_picture_is_a_download(self):
        page = self.open(SOURCES / "samples/fragments.hbm", "at=oom")
        self.settled(page)
        with page.expect_download() as download:
            page.keyboard.press("Control+Shift+E")
        saved = Image.open(pathlib.Path(download.value.path())).convert("RGB")
        # A part of what was seen.
        self.assertGreater(len(set(saved.getdata())), 50)
        seen = set(Image.open(io.BytesIO(page.screenshot())).convert("RGB").getdata())
        self.assertLess(sum(color not in seen for color in set(saved.getdata())), 5)
        self.assertRegex(download.value.suggested_filename, r"^fragments\.png$")

    def test_a_written_table_is_a_download(self):
        page = self.open(SOURCES / "samples/fragments.hbm", "at=oom")
        self.settled(page)
        with page.expect_download() as download:
            self.run_command(page, "export all blocks")
        saved = pathlib.Path(download.value.path()).read_text()
        native = subprocess.run([HBMSCOPE, "export", SOURCES / "samples/fragments.hbm", "--to", "csv", "--what", "blocks", "--at", "oom"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(native, saved)

    def test_keys_are_the_windows(self):
        page = self.open(SOURCES / "samples/fragments.hbm", "at=oom")
        before = self.settled(page)
        page.keyboard.press("F1")
        with_help = self.settled(page, "help")
        self.assertGreater(difference(before, with_help), 0.05)
        page.keyboard.press("F1")
        page.keyboard.press("b")
        page.keyboard.press(",")
        self.assertGreater(difference(before, self.settled(page, "pinned")), 0.01)

    def test_the_wheel_zooms_and_the_middle_button_pans(self):
        page = self.open(SOURCES / "samples/fragments.hbm", "at=oom")
        before = self.settled(page)
        page.mouse.move(1100, 670)
        page.mouse.wheel(0, -400)
        zoomed = self.settled(page, "zoomed")
        self.assertGreater(difference(before, zoomed), 0.01)
        page.mouse.down(button="middle")
        page.mouse.move(900, 670, steps=5)
        page.mouse.up(button="middle")
        self.assertGreater(difference(zoomed, self.settled(page, "panned")), 0.005)

    def test_a_damaged_file_says_so(self):
        damaged = self.folder / "damaged.pickle"
        damaged.write_bytes(DAMAGED)
        page = self.open(damaged)
        seen = self.settled(page, "damaged")
        self.assertEqual("damaged.pickle - hbmscope", page.title())
        self.assertGreater(difference(seen, self.settled(self.go(self.address + "index.html"))), 0.02)

    def test_a_missing_address_says_so(self):
        page = self.go(self.address + "index.html?url=missing.hbm")
        self.message(page, "missing.hbm: 404")

    def test_one_file_with_a_recording_in_it(self):
        out = self.folder / "report.html"
        subprocess.run([HBMSCOPE, "export", SOURCES / "samples/fragments.hbm", "--to", "html", "--viewer", "-o", out], check=True)
        page = self.go(f"file://{out}#at=oom")
        seen = self.settled(page, "one_file")
        print(f"    report.html: {out.stat().st_size / 1e6:.2f} MB", flush=True)
        self.assertLess(difference(seen, self.native(SOURCES / "samples/fragments.hbm", "at=oom")), SHARE)


def main():
    global PAGE, HBMSCOPE, KEEP
    arguments = sys.argv[1:]
    if "--keep" in arguments:
        at = arguments.index("--keep")
        KEEP = pathlib.Path(arguments[at + 1])
        KEEP.mkdir(parents=True, exist_ok=True)
        del arguments[at:at + 2]
    PAGE, HBMSCOPE = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1]).resolve()
    unittest.main(argv=[sys.argv[0], "-v", *arguments[2:]])


if __name__ == "__main__":
    main()
