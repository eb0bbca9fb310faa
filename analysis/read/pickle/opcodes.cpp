#include "analysis/read/pickle/opcodes.h"

#include <algorithm>
#include <array>

namespace hbmscope::pickle {
namespace {

struct Row {
  std::uint8_t byte;
  OpcodeInfo info;
};

// Used only for messages; the reader itself switches over the byte.
constexpr std::array rows = {
    Row{'c', {"GLOBAL", OpcodeUse::code}},
    Row{0x93, {"STACK_GLOBAL", OpcodeUse::code}},
    Row{'R', {"REDUCE", OpcodeUse::code}},
    Row{'b', {"BUILD", OpcodeUse::code}},
    Row{'i', {"INST", OpcodeUse::code}},
    Row{'o', {"OBJ", OpcodeUse::code}},
    Row{0x81, {"NEWOBJ", OpcodeUse::code}},
    Row{0x92, {"NEWOBJ_EX", OpcodeUse::code}},
    Row{0x82, {"EXT1", OpcodeUse::code}},
    Row{0x83, {"EXT2", OpcodeUse::code}},
    Row{0x84, {"EXT4", OpcodeUse::code}},
    Row{'P', {"PERSID", OpcodeUse::reference}},
    Row{'Q', {"BINPERSID", OpcodeUse::reference}},
    Row{0x97, {"NEXT_BUFFER", OpcodeUse::reference}},
    Row{0x98, {"READONLY_BUFFER", OpcodeUse::reference}},
    Row{'I', {"INT", OpcodeUse::text}},
    Row{'L', {"LONG", OpcodeUse::text}},
    Row{'F', {"FLOAT", OpcodeUse::text}},
    Row{'S', {"STRING", OpcodeUse::text}},
    Row{'V', {"UNICODE", OpcodeUse::text}},
    Row{'g', {"GET", OpcodeUse::text}},
    Row{'p', {"PUT", OpcodeUse::text}},
    Row{0x8f, {"EMPTY_SET", OpcodeUse::set}},
    Row{0x90, {"ADDITEMS", OpcodeUse::set}},
    Row{0x91, {"FROZENSET", OpcodeUse::set}},
    Row{'(', {"MARK", OpcodeUse::plain}},
    Row{'.', {"STOP", OpcodeUse::plain}},
    Row{'0', {"POP", OpcodeUse::plain}},
    Row{'1', {"POP_MARK", OpcodeUse::plain}},
    Row{'2', {"DUP", OpcodeUse::plain}},
    Row{'N', {"NONE", OpcodeUse::plain}},
    Row{0x88, {"NEWTRUE", OpcodeUse::plain}},
    Row{0x89, {"NEWFALSE", OpcodeUse::plain}},
    Row{'J', {"BININT", OpcodeUse::plain}},
    Row{'K', {"BININT1", OpcodeUse::plain}},
    Row{'M', {"BININT2", OpcodeUse::plain}},
    Row{0x8a, {"LONG1", OpcodeUse::plain}},
    Row{0x8b, {"LONG4", OpcodeUse::plain}},
    Row{'G', {"BINFLOAT", OpcodeUse::plain}},
    Row{'T', {"BINSTRING", OpcodeUse::plain}},
    Row{'U', {"SHORT_BINSTRING", OpcodeUse::plain}},
    Row{'X', {"BINUNICODE", OpcodeUse::plain}},
    Row{0x8c, {"SHORT_BINUNICODE", OpcodeUse::plain}},
    Row{0x8d, {"BINUNICODE8", OpcodeUse::plain}},
    Row{'B', {"BINBYTES", OpcodeUse::plain}},
    Row{'C', {"SHORT_BINBYTES", OpcodeUse::plain}},
    Row{0x8e, {"BINBYTES8", OpcodeUse::plain}},
    Row{0x96, {"BYTEARRAY8", OpcodeUse::plain}},
    Row{']', {"EMPTY_LIST", OpcodeUse::plain}},
    Row{'a', {"APPEND", OpcodeUse::plain}},
    Row{'e', {"APPENDS", OpcodeUse::plain}},
    Row{'l', {"LIST", OpcodeUse::plain}},
    Row{')', {"EMPTY_TUPLE", OpcodeUse::plain}},
    Row{0x85, {"TUPLE1", OpcodeUse::plain}},
    Row{0x86, {"TUPLE2", OpcodeUse::plain}},
    Row{0x87, {"TUPLE3", OpcodeUse::plain}},
    Row{'t', {"TUPLE", OpcodeUse::plain}},
    Row{'}', {"EMPTY_DICT", OpcodeUse::plain}},
    Row{'s', {"SETITEM", OpcodeUse::plain}},
    Row{'u', {"SETITEMS", OpcodeUse::plain}},
    Row{'d', {"DICT", OpcodeUse::plain}},
    Row{'q', {"BINPUT", OpcodeUse::plain}},
    Row{'r', {"LONG_BINPUT", OpcodeUse::plain}},
    Row{0x94, {"MEMOIZE", OpcodeUse::plain}},
    Row{'h', {"BINGET", OpcodeUse::plain}},
    Row{'j', {"LONG_BINGET", OpcodeUse::plain}},
    Row{0x80, {"PROTO", OpcodeUse::plain}},
    Row{0x95, {"FRAME", OpcodeUse::plain}},
};

}  // namespace

OpcodeInfo find_opcode(std::uint8_t byte) {
  const auto* found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.byte == byte; });
  return found == rows.end() ? OpcodeInfo{} : found->info;
}

}  // namespace hbmscope::pickle
