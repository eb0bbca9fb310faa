#!/usr/bin/env python3
"""Makes one self-contained page of the three files of `make web`.

    one_file.py FOLDER/index.html FOLDER/hbmscope.html

Program and script are compressed and in base64; the browser unpacks them (DecompressionStream). `hbmscope export --to
html --viewer` puts files into this page.
"""

import base64
import gzip
import pathlib
import sys

LOADER = """<script>
"use strict";
(async () => {
  page.show("unpacking\\u2026");
  Module.wasmBinary = await unpacked(document.getElementById("wasm").textContent);
  const program = document.createElement("script");
  program.textContent = new TextDecoder().decode(await unpacked(document.getElementById("script").textContent));
  document.body.append(program);
})().catch((error) => page.stop(error.message));
</script>
"""


def element(name, path):
    packed = base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode()
    return f'<script type="application/octet-stream" id="{name}">{packed}</script>\n'


def main():
    index, out = map(pathlib.Path, sys.argv[1:])
    page = index.read_text()
    tag = '<script async type="text/javascript" src="index.js"></script>'
    if page.count(tag) != 1:
        sys.exit(f"{index} doesn't load index.js as this script knows it: {tag}")
    parts = element("wasm", index.with_suffix(".wasm")) + element("script", index.with_suffix(".js"))
    out.write_text(page.replace(tag, parts + LOADER))


if __name__ == "__main__":
    main()
