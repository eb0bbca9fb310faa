#!/usr/bin/env python3
"""The schema of workload files and their reader agree: on the samples, and on what is wrong in them.

    tests/cli/tpu_schema_test.py HBMSCOPE       from the root of the repository

Each sample and model is valid by the schema, and together with inputs/tpu_every_key.json they have every key of it. Then, place by
place, a key is added, a key is left out, and a value becomes one of another kind: what the schema refuses the reader has to refuse,
and an added key both, where names are not a person's own.
"""
import copy
import json
import pathlib
import re
import subprocess
import sys

SCHEMA = json.loads(pathlib.Path("analysis/read/tpu_workload/workload.schema.json").read_text())
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "null": type(None)}


def is_kind(value, kind):
    return isinstance(value, KINDS[kind]) and not (kind == "integer" and isinstance(value, bool))


def is_valid(value, schema):
    """The part of JSON Schema that the file uses."""
    if "$ref" in schema:
        return is_valid(value, SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]])
    if "anyOf" in schema:
        return any(is_valid(value, each) for each in schema["anyOf"])
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        return False
    kinds = schema.get("type", [])
    if kinds and not any(is_kind(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return False
    if isinstance(value, list):
        return all(is_valid(each, schema.get("items", {})) for each in value)
    if not isinstance(value, dict):
        return True
    known = schema.get("properties", {})
    more = schema.get("additionalProperties", {})
    return all(key in value for key in schema.get("required", [])) and all(
        is_valid(each, known[key]) if key in known else more is not False and is_valid(each, more) for key, each in value.items())


def is_read(program, workload):
    done = subprocess.run([program, "tpu", "run", "-", "--json"], input=json.dumps(workload), capture_output=True, text=True)
    return done.returncode == 0


def places(value, way=()):
    yield way
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(each, way + (key,))


def changed(workload, way):
    """(what, the workload with it)"""
    def at(root, way):
        for key in way:
            root = root[key]
        return root

    if isinstance(at(workload, way), dict):
        with_key = copy.deepcopy(workload)
        at(with_key, way)["zz"] = {"zz": True}
        yield "added", with_key
    if not way:
        return
    for kind, value in (("left out", None), ("of another kind", {"zz": True}), ("of another kind", [[["zz"]]]), ("of another kind", 1.5)):
        other = copy.deepcopy(workload)
        if kind == "left out":
            del at(other, way[:-1])[way[-1]]
        else:
            at(other, way[:-1])[way[-1]] = value
        yield kind, other


def keys_of_schema(schema):
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from keys_of_schema(each)


NAMED = ("arrays", "programs", "pipelines", "temporaries", "outputs", "mesh", "parameters", "for", "with", "grid")


def form_of(way):
    """The way with the names that a person chose left out: one of each form is enough."""
    return tuple("*" if isinstance(key, int) or (i > 0 and way[i - 1] in NAMED) else key for i, key in enumerate(way))


def main():
    faults, tried, refused = [], 0, 0
    seen = set()
    files = sorted(pathlib.Path("samples/tpu").glob("*.json")) + sorted(pathlib.Path("tests/cli/tpu_models").glob("*.json"))
    files.append(pathlib.Path("tests/cli/inputs/tpu_every_key.json"))
    known, used = set(keys_of_schema(SCHEMA)), set()
    for file in files:
        workload = json.loads(re.sub(r"^\s*//.*$", "", file.read_text(), flags=re.M))
        if not is_valid(workload, SCHEMA):
            faults.append(f"{file} is not valid by the schema")
        used.update(key for way in places(workload) for key in way)
        for way in places(workload):
            if form_of(way) in seen:
                continue
            seen.add(form_of(way))
            for what, other in changed(workload, way):
                tried += 1
                if is_valid(other, SCHEMA):
                    if what == "added" and (not way or way[-1] not in NAMED):
                        faults.append(f"{file}: {'.'.join(map(str, way))}: the schema takes any key here")
                    continue
                refused += 1
                if is_read(sys.argv[1], other):
                    faults.append(f"{file}: {'.'.join(map(str, way))}, {what}: the schema refuses it, the reader does not")
    rows = json.loads(subprocess.run([sys.argv[1], "tpu", "generations", "--json"], capture_output=True, text=True).stdout)["generations"]
    names = [row["name"] for row in rows if row["hbm_usable_bytes"] is not None]
    if not set(names) <= set(SCHEMA["properties"]["generation"]["enum"]):
        faults.append(f"the schema's generations lack one of {names}")
    faults += [f"no file that is tried has the key {key}" for key in sorted(known - used)]
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {tried} changes, {refused} of them refused by the schema")
    return 1 if faults or refused < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
