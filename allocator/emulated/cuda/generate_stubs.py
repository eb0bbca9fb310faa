#!/usr/bin/env python3
"""Makes the C source of the functions that a library exports without emulating them, from a table of entry points.

    generate_stubs.py TABLE OUTPUT [--cuda MAJOR] [--not-supported CODE] [--lookup]
                      [--wrapped FILE ... --prefix PREFIX --renames HEADER]

A line of the table is `name answer key=value ...`; answers are

    implemented      a source of this folder defines it
    succeeds         returns 0 and does nothing
    launches         the same, with an empty kernel on the stream of its first argument, a handle: without one, a graph
                     that is captured from such calls would be empty, which frameworks refuse
    not_supported    returns CODE (801, CUDA's)
    same_as=NAME     jumps to NAME, which is implemented

and keys are `since` (the version of CUDA from which cuGetProcAddress gives this variant) and `cuda` (the only major
version of the library that has it). With --lookup the table that cuGetProcAddress searches is made too.

With --wrapped, another library stands in front of some functions: those that are the first argument of a macro in a FILE,
like ALLOCATES(cuMemAlloc, ...). They are made under names with that prefix, and HEADER does the same to the sources that
include it.
"""

import argparse
import pathlib
import re

STUB = """\
__attribute__((visibility("default"))) int {symbol}(void) {{
  static int was_said;
  return hbmscope_device_stub("{name}", &was_said, {answer});
}}
"""
LAUNCH = """\
__attribute__((visibility("default"))) int {symbol}(void* handle) {{
  static int was_said;
  hbmscope_device_launch(handle);
  return hbmscope_device_stub("{name}", &was_said, 0);
}}
"""
# A function with the same parameters as another: one jump.
ALIAS = """\
__asm__(".text\\n.globl {name}\\n.type {name}, %function\\n{name}: " JUMP("{target}") "\\n.size {name}, . - {name}\\n");
"""
HEAD = """\
/* Made by generate_stubs.py from {table}. */
#if defined(__x86_64__)
#define JUMP(name) "jmp " name "@PLT"
#else
#define JUMP(name) "b " name
#endif
int hbmscope_device_stub(const char* name, int* was_said, int answer);
void hbmscope_device_launch(void* handle);
"""
ENTRY_TYPE = """\
struct EntryPoint {
  const char* base;
  const char* symbol;
  int since, is_per_thread;
  void* function;
};
"""


def read_table(path, cuda):
    """(Name, answer, since) of each line that belongs to this major version."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        name, answer, *keys = words
        keys = dict(key.split("=") for key in keys)
        if answer not in ("implemented", "succeeds", "launches", "not_supported") and not answer.startswith("same_as="):
            raise SystemExit(f"{path}:{number}: unknown answer {answer}")
        if "cuda" not in keys or int(keys["cuda"]) == cuda:
            yield name, answer, int(keys.get("since", 0))


def function_source(name, answer, not_supported, symbol):
    if answer == "implemented":
        return ""
    if answer.startswith("same_as="):
        return ALIAS.format(name=symbol(name), target=symbol(answer[len("same_as=") :]))
    if answer == "launches":
        return LAUNCH.format(symbol=symbol(name), name=name)
    return STUB.format(symbol=symbol(name), name=name, answer=0 if answer == "succeeds" else not_supported)


def lookup_source(rows, symbol):
    """The table for cuGetProcAddress: cuMemAlloc_v2 is found as cuMemAlloc."""
    lines = [ENTRY_TYPE]
    entries = []
    for name, answer, since in rows:
        if answer == "implemented" or answer.startswith("same_as="):
            lines.append(f"extern int {symbol(name)}(void);\n")
        per_thread = re.search(r"_pt(sz|ds)$", name)
        base = re.sub(r"_v\d+$", "", re.sub(r"_pt(sz|ds)$", "", name))
        entries.append(f'    {{"{base}", "{name}", {since}, {int(bool(per_thread))}, (void*)&{symbol(name)}}},\n')
    lines.append("const struct EntryPoint hbmscope_device_entry_points[] = {\n")
    lines += entries
    lines.append("};\n")
    lines.append(f"const int hbmscope_device_entry_point_count = {len(entries)};\n")
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--cuda", type=int, default=0)
    parser.add_argument("--not-supported", type=int, default=801)
    parser.add_argument("--lookup", action="store_true")
    parser.add_argument("--wrapped", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--prefix")
    parser.add_argument("--renames", type=pathlib.Path)
    arguments = parser.parse_args()
    wrapped = [name for path in arguments.wrapped for name in re.findall(r"^[A-Z]+\((\w+),", path.read_text(), re.MULTILINE)]

    def symbol(name):
        return arguments.prefix + name if name in wrapped else name

    rows = list(read_table(arguments.table, arguments.cuda))
    source = HEAD.format(table=arguments.table.name)
    source += "".join(function_source(name, answer, arguments.not_supported, symbol) for name, answer, _ in rows)
    if arguments.lookup:
        source += lookup_source(rows, symbol)
    arguments.output.write_text(source)
    if arguments.renames:
        arguments.renames.write_text("".join(f"#define {name} {symbol(name)}\n" for name in wrapped))


if __name__ == "__main__":
    main()
