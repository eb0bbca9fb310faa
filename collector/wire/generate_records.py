#!/usr/bin/env python3
"""Makes records.h, record_table.cpp and FORMAT.md from records.txt, so that the three can't differ.

    collector/wire/generate_records.py            writes them anew
    collector/wire/generate_records.py --check    exits with 1 and names what differs
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
SIZES = {"u8": 1, "u32": 4, "u64": 8, "i64": 8}
CPP = {"u8": "std::uint8_t", "u32": "std::uint32_t", "u64": "std::uint64_t", "i64": "std::int64_t"}
UNITS = ["bytes", "address", "ns", "id", "slot", "count", "code", "value", "none"]
CODINGS = ["plain", "delta", "from", "zigzag"]
ROLES = ["definition", "listing", "keyframe", "block", "heap", "note", "passed_over"]
HEAD = re.compile(r"^(\w+) (\d+) (\d+) (\w+)( noted)?( text)?\s\s+(.+)$")
FIELD = re.compile(r"^  (\w+) (\w+)(\??) (\w+) (\w+)\s+(.+)$")


def read_table(text):
    """A list of chapters: (heading, [record]); a record is a dict with its fields."""
    chapters, records = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# ") and not line.startswith("#  ") and text.splitlines()[number - 2] == "":
            chapters.append((line[2:], []))
        if not line or line.startswith("#"):
            if line.startswith("# Definitions:"):
                chapters.append((line[2:], []))
            continue
        if head := HEAD.match(line):
            record = dict(name=head[1], number=int(head[2]), since=int(head[3]), role=head[4], text=bool(head[6]), says=head[7], fields=[])
            record["noted"] = bool(head[5]) or record["role"] == "note"
            if record["role"] not in ROLES:
                sys.exit(f"records.txt:{number}: no such role")
            records.append(record)
            chapters[-1][1].append(record)
        elif field := FIELD.match(line):
            name, kind, unknown, unit, coding, says = field.groups()
            if kind not in SIZES or unit not in UNITS or coding not in CODINGS:
                sys.exit(f"records.txt:{number}: no such type, unit or coding")
            if unknown:
                says += f" {(1 << 8 * SIZES[kind]) - 1}: unknown."
            records[-1]["fields"].append(
                dict(name=name, type=kind, unit=unit, coding=coding, says=says, is_unknown=bool(unknown))
            )
        else:
            sys.exit(f"records.txt:{number}: can't be read")
    check(records)
    return chapters, records


def check(records):
    numbers = [record["number"] for record in records]
    if len(set(numbers)) != len(numbers) or numbers != sorted(numbers):
        sys.exit("records.txt: numbers must ascend, each once")
    for record in records:
        offset = 0
        for field in struct_order(record):
            field["offset"] = offset
            offset += SIZES[field["type"]]
        for before, field in zip(record["fields"], record["fields"][1:]):
            if field["coding"] == "from" and field["offset"] != before["offset"] + 8:
                sys.exit(f"records.txt: {record['name']}: `from` needs the field before in front of it, of 8 bytes")


# Columns are in the order of the table, to which fields are only ever appended. In the struct larger fields come first,
# so that there is no padding between them.
def struct_order(record):
    return sorted(record["fields"], key=lambda field: -SIZES[field["type"]])


def struct_bytes(record):
    return (sum(SIZES[field["type"]] for field in record["fields"]) + 7) // 8 * 8


def type_name(record):
    return "".join(part.capitalize() for part in record["name"].split("_")) + "Record"


def make_header(records):
    out = ["// Made by generate_records.py from records.txt; changes go there.", "// clang-format off", "#pragma once", "",
           "#include <cstddef>", "#include <cstdint>", "", "namespace hbmscope::wire {", "",
           "enum class RecordKind : std::uint16_t {"]
    out += [f"  {record['name']} = {record['number']}," for record in records]
    out += ["};", "",
            "// How readers treat a record; records.txt explains each role.",
            "enum class RecordRole : std::uint8_t { " + ", ".join(ROLES) + " };", ""]
    for record in records:
        out.append(f"// {record['says']}")
        out.append(f"struct {type_name(record)} {{")
        out.append(f"  static constexpr RecordKind kind = RecordKind::{record['name']};")
        widest = max(len(f"{CPP[f['type']]} {f['name']} = {'~' + CPP[f['type']] + '{0}' if f['is_unknown'] else 0};") for f in record["fields"])
        for field in struct_order(record):
            value = f"~{CPP[field['type']]}{{0}}" if field["is_unknown"] else "0"
            out.append(f"  {CPP[field['type']]} {field['name']} = {value};".ljust(widest + 2) + f"  // {field['says']}")
        padding = struct_bytes(record) - sum(SIZES[field["type"]] for field in record["fields"])
        if padding:
            out.append(f"  std::uint8_t unused[{padding}] = {{}};")
        out += ["};", f"static_assert(sizeof({type_name(record)}) == {struct_bytes(record)});", ""]
    out += [
            "enum class Unit : std::uint8_t { " + ", ".join(unit for unit in UNITS) + " };",
            "enum class Coding : std::uint8_t { plain, delta, from, zigzag };", "",
            "struct FieldDescription {", "  const char* name;", "  Unit unit;", "  Coding coding;", "  std::uint8_t bytes;",
            "  std::uint8_t offset;   // In the record's struct.", "  bool is_all_ones;      // Value if the writer did not know the field: all ones (unknown), or 0.", "};",
            "constexpr std::size_t record_fields_max = 12;", "struct RecordDescription {", "  const char* name;", "  RecordKind kind;", "  std::uint16_t since;",
            "  std::uint16_t struct_bytes;", "  RecordRole role;", "  bool is_noted;", "  bool has_text;", "  std::uint8_t field_count;", "  FieldDescription fields[record_fields_max];", "};",
            f"constexpr std::size_t record_count = {len(records)};",
            f"constexpr std::size_t record_number_max = {records[-1]['number']};",
            "extern const RecordDescription record_table[record_count];", "",
            "// Null for a kind that this version does not know.",
            "const RecordDescription* find_record(std::uint16_t kind);", "",
            "// Calls use.operator()<Record>() with the struct of that kind. False: this version does not know the kind.",
            "template <class Use>", "bool with_record_type(RecordKind kind, const Use& use) {", "  switch (kind) {"]
    out += [f"    case RecordKind::{record['name']}: use.template operator()<{type_name(record)}>(); return true;" for record in records]
    out += ["  }", "  return false;", "}", "", "}  // namespace hbmscope::wire", ""]
    return "\n".join(out)


def make_table(records):
    out = ["// Made by generate_records.py from records.txt; changes go there.", "// clang-format off", '#include "collector/wire/records.h"', "",
           "namespace hbmscope::wire {", "", "const RecordDescription record_table[record_count] = {"]
    for record in records:
        fields = [
            f'{{"{f["name"]}", Unit::{f["unit"]}, Coding::{f["coding"]}, {SIZES[f["type"]]}, {f["offset"]}, '
            f'{"true" if f["is_unknown"] else "false"}}}'
            for f in record["fields"]
        ]
        out.append(f'    {{"{record["name"]}", RecordKind::{record["name"]}, {record["since"]}, {struct_bytes(record)}, '
                   f'RecordRole::{record["role"]}, {"true" if record["noted"] else "false"}, '
                   f'{"true" if record["text"] else "false"}, {len(fields)},')
        out.append("     {" + ",\n      ".join(fields) + "}},")
    places = ["no_record"] * (records[-1]["number"] + 1)
    for place, record in enumerate(records):
        places[record["number"]] = str(place)
    lines = [", ".join(places[begin:begin + 10]) for begin in range(0, len(places), 10)]
    out += ["};", "", "namespace {", "", "// The index in the table by kind; it is looked up for every row.",
            "constexpr std::uint8_t no_record = 255;", "static_assert(record_count <= no_record);",
            "constexpr std::uint8_t place_of_kind[record_number_max + 1] = {",
            "    " + ",\n    ".join(lines) + "};", "", "}  // namespace", "",
            "const RecordDescription* find_record(std::uint16_t kind) {",
            "  if (kind > record_number_max || place_of_kind[kind] == no_record) return nullptr;",
            "  return &record_table[place_of_kind[kind]];", "}", "", "}  // namespace hbmscope::wire", ""]
    return "\n".join(out)


def make_format(chapters):
    out = [(HERE / "format_head.md").read_text().rstrip(), ""]
    for heading, records in chapters:
        if not records:
            continue
        out += [f"### {heading.split(':')[0].split('.')[0]}", ""]
        rest = heading[len(heading.split(":")[0].split(".")[0]) + 1:].strip()
        if rest:
            out += [rest[0].upper() + rest[1:], ""]
        out += ["| record | field | type | unit | coding | |", "|---|---|---|---|---|---|"]
        for record in records:
            text = ", text" if record["text"] else ""
            out.append(f"| **{record['name']}** {record['number']} | | {record['role'].replace('_', ' ')}, since {record['since']}{text} | | | {record['says']} |")
            out += [f"| | {f['name']} | {f['type']} | {f['unit']} | {f['coding']} | {f['says']} |" for f in record["fields"]]
        out.append("")
    return "\n".join(out)


def main():
    chapters, records = read_table((HERE / "records.txt").read_text())
    made = {"records.h": make_header(records), "record_table.cpp": make_table(records), "FORMAT.md": make_format(chapters)}
    if sys.argv[1:] == ["--check"]:
        wrong = [name for name, text in made.items() if not (HERE / name).exists() or (HERE / name).read_text() != text]
        if wrong:
            sys.exit(f"{', '.join(wrong)} differ from records.txt: run collector/wire/generate_records.py")
        return
    for name, text in made.items():
        (HERE / name).write_text(text)


main()
