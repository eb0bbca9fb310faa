#!/usr/bin/env python3
"""export --to html --viewer: the files in the page are byte for byte those that were given.

    viewer_test.py HBMSCOPE

The page around them is a small one here; tests/web opens the real one in a browser.
"""

import base64
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"


def run(program, *words):
    return subprocess.run([program, "export", *words], capture_output=True, text=True)


def files_in(page):
    found = re.findall(r'<script type="application/octet-stream" data-name="([^"]*)">([^<]*)</script>', page)
    return {name: gzip.decompress(base64.b64decode(text, validate=True)) for name, text in found}


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / "bin" / "hbmscope"
        program.parent.mkdir()
        try:
            os.link(sys.argv[1], program)
        except OSError:
            shutil.copy2(sys.argv[1], program)
        recording, profile = SAMPLES / "fragments.hbm", SAMPLES / "arrays.pprof.gz"
        out = folder / "out.html"

        without = run(program, recording, "--to", "html", "--viewer", "-o", out)
        assert without.returncode != 0 and "make web" in without.stderr and not out.exists(), without

        viewer = folder / "share/hbmscope/hbmscope.html"
        viewer.parent.mkdir(parents=True)
        viewer.write_text("<html>before<!-- files -->after</html>")
        done = run(program, recording, profile, "--to", "html", "--viewer", "-o", out)
        assert done.returncode == 0 and done.stderr == "", done
        page = out.read_text()
        assert page.startswith("<html>before<script") and page.endswith("after</html>"), page[:80]
        assert files_in(page) == {file.name: file.read_bytes() for file in (recording, profile)}

        odd = folder / 'a "b" & <c>.hbm'
        shutil.copy(recording, odd)
        printed = run(program, odd, "--to", "html", "--viewer")
        assert list(files_in(printed.stdout)) == ["a &quot;b&quot; &amp; &lt;c&gt;.hbm"], list(files_in(printed.stdout))

        damaged = folder / "damaged.hbm"
        damaged.write_bytes(recording.read_bytes()[:40])
        for words, expected in (([damaged, "--to", "html"], "damaged.hbm"), ([recording, "--to", "csv"], "--viewer needs --to html"), ([folder, "--to", "html"], "neither folders nor"), (["-", "--to", "html"], "nor the standard input"),
                                ([recording, "--to", "html", "--where", "size>1MiB"], "--where does not apply to --viewer"), ([recording, "--to", "html", "-o", recording], str(recording))):
            refused = run(program, *words, "--viewer")
            assert refused.returncode != 0 and expected in refused.stderr and refused.stdout == "", (words, refused)

        viewer.write_text("<html>no place</html>")
        old = run(program, recording, "--to", "html", "--viewer")
        assert old.returncode != 0 and "another version" in old.stderr, old


if __name__ == "__main__":
    main()
