// The names of pickle's opcodes (https://github.com/python/cpython/blob/main/Lib/pickletools.py), and which of them are
// not plain data.
#pragma once

#include <cstdint>
#include <string_view>

namespace hbmscope::pickle {

enum class Opcode : std::uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  binint = 'J',
  binint1 = 'K',
  binint2 = 'M',
  long1 = 0x8a,
  long4 = 0x8b,
  binfloat = 'G',
  binstring = 'T',
  short_binstring = 'U',
  binunicode = 'X',
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes = 'B',
  short_binbytes = 'C',
  binbytes8 = 0x8e,
  bytearray8 = 0x96,
  empty_list = ']',
  append = 'a',
  appends = 'e',
  list = 'l',
  empty_tuple = ')',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  tuple = 't',
  empty_dict = '}',
  setitem = 's',
  setitems = 'u',
  dict = 'd',
  binput = 'q',
  long_binput = 'r',
  memoize = 0x94,
  binget = 'h',
  long_binget = 'j',
  proto = 0x80,
  frame = 0x95,
};

enum class OpcodeUse : std::uint8_t {
  plain,      // One of the above.
  code,       // Names or calls Python code: GLOBAL, REDUCE, BUILD, ...
  reference,  // Refers to something outside of the pickle: PERSID, BINPERSID, NEXT_BUFFER, ...
  text,       // Opcodes of protocols 0 and 1.
  set,        // Sets, which snapshots never contain.
  unknown,
};

struct OpcodeInfo {
  std::string_view name;  // As pickletools prints it. Empty for an invalid byte.
  OpcodeUse use = OpcodeUse::unknown;
};
OpcodeInfo find_opcode(std::uint8_t byte);

}  // namespace hbmscope::pickle
