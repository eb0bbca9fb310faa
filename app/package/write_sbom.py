#!/usr/bin/env python3
"""Writes what hbmscope's programs are made of as a bill of materials (CycloneDX 1.6), from the tables of third_party/README.md.

    write_sbom.py FILE VERSION

Of Debian's packages the version is that of the machine which builds. What only tests use, and what is opened at run time, is left out. The same sources and packages give the same file.
"""

import json
import pathlib
import re
import subprocess
import sys
import uuid

TABLES = pathlib.Path(__file__).resolve().parents[2] / "third_party" / "README.md"
NOT_INSIDE = ("tests only", "benchmarks only", "at run time", "the libraries are opened at run time", "linked into tests only")
# As SPDX names them; what is in no list of theirs keeps its words.
LICENSES = {"zlib": "Zlib", "bzip2 licence (BSD-like)": "bzip2-1.0.6", "LGPL-3.0+ or GPL-2.0+": "LGPL-3.0-or-later OR GPL-2.0-or-later", "MIT or public domain": "MIT"}
EXPRESSION = re.compile(r"^[A-Za-z0-9.+-]+(( OR | AND )[A-Za-z0-9.+-]+)*$")
RUNTIME = [("GNU C++ standard library and libgcc", "gcc-12-base", "GPL-3.0-or-later WITH GCC-exception-3.1"), ("GNU C library (in the programs for servers)", "libc6-dev", "LGPL-2.1-or-later")]


def rows(text):
    """(What, version or packages, licence, why) of each row of a table whose third column is the licence."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) >= 4 and cells[2] != "licence" and not set(cells[0]) <= {"-"}:
            yield cells[:4]


def installed_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def component(name, version, licence, package=None):
    licence = LICENSES.get(licence.split(" (")[0] if licence not in LICENSES else licence, licence.split(" (")[0])
    kind = {"expression": licence} if EXPRESSION.match(licence) or " WITH " in licence else {"license": {"name": licence}}
    return {"type": "library", "name": name, "version": version, "licenses": [kind], **({"purl": f"pkg:deb/debian/{package}@{version}"} if package else {})}


def components():
    found = []
    for what, version, licence, why in rows(TABLES.read_text()):
        if any(words in why for words in NOT_INSIDE):
            continue
        package = re.match(r"(lib[a-z0-9-]+-dev|[a-z0-9-]+-dev)", version)
        if package is None:
            found.append(component(what, version, licence))
        elif installed := installed_version(package.group(1)):
            found.append(component(what.replace(", optional", ""), installed, licence, package.group(1)))
    found += [component(what, version, licence, package) for what, package, licence in RUNTIME if (version := installed_version(package))]
    return found


def main():
    file, version = sys.argv[1:]
    parts = components()
    content = json.dumps(parts)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "hbmscope", "version": version, "licenses": [{"expression": "Apache-2.0"}]}},
        "components": parts,
    }
    pathlib.Path(file).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
