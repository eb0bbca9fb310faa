#include "collector/inject/frame_tables.h"

#if defined(__x86_64__)

#include <elf.h>
#include <link.h>

#include <cstring>

#include "collector/inject/loaded_objects.h"

namespace hbmscope::inject {
namespace {

constexpr std::uint64_t frame_pointer = 6, stack_pointer = 7,
                        return_address = 16;  // Registers, as the ABI numbers them.

// The part of an object that is mapped from its file, from `address` to its segment's end.
struct Bytes {
  const std::uint8_t* at = nullptr;
  const std::uint8_t* end = nullptr;
  bool is_good = false;  // Nothing was read beyond the end.

  std::size_t left() const { return static_cast<std::size_t>(end - at); }
  template <class T>
  T read() {
    T value{};
    if (!skip(sizeof(T))) return value;
    std::memcpy(&value, at - sizeof(T), sizeof(T));
    return value;
  }
  bool skip(std::uint64_t bytes) {
    is_good = is_good && bytes <= left();
    if (is_good) at += bytes;
    return is_good;
  }
  std::uint64_t read_unsigned() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = read<std::uint8_t>();
      if (shift >= 63 && byte > 1) is_good = false;
      if (!is_good) return 0;
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::int64_t read_signed() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = read<std::uint8_t>();
      if (!is_good) return 0;
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(value);
    }
    is_good = false;
    return 0;
  }
  // The next `bytes` as a separate cursor; this one continues after them.
  Bytes take(std::uint64_t bytes) {
    Bytes part = *this;
    if (skip(bytes)) part.end = at;
    part.is_good = is_good;
    return part;
  }
};

// DW_EH_PE_...
constexpr std::uint8_t relative_to_itself = 0x10, omitted = 0xff, in_order = 0x3b;  // datarel, sdata4.

// Relative or absolute; other encodings are not used for functions.
std::uint64_t read_pointer(Bytes& from, std::uint8_t encoding) {
  const auto base = reinterpret_cast<std::uint64_t>(from.at);
  std::uint64_t value = 0;
  switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c: value = from.read<std::uint64_t>(); break;
    case 0x02: value = from.read<std::uint16_t>(); break;
    case 0x03: value = from.read<std::uint32_t>(); break;
    case 0x0a: value = static_cast<std::uint64_t>(from.read<std::int16_t>()); break;
    case 0x0b: value = static_cast<std::uint64_t>(from.read<std::int32_t>()); break;
    default: from.is_good = false;
  }
  if ((encoding & 0x70) == relative_to_itself)
    value += base;
  else if ((encoding & 0x70) != 0)
    from.is_good = false;
  return value;
}

Bytes bytes_from(const dl_phdr_info& object, std::uint64_t address) {
  Bytes found;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const std::uint64_t begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0 || address - begin >= part.p_filesz) continue;
    found.at = reinterpret_cast<const std::uint8_t*>(address);
    found.end = reinterpret_cast<const std::uint8_t*>(begin + part.p_filesz);
    found.is_good = true;
  }
  return found;
}

struct Common {  // A CIE.
  std::uint64_t code_step = 0;
  std::int64_t data_step = 0;
  std::uint8_t pointers = 0;
  bool has_more = false;  // The augmentation has bytes, preceded by their number.
  Bytes program;
};

// What follows an entry's length.
Bytes read_entry(Bytes& at) {
  const auto length = at.read<std::uint32_t>();
  constexpr std::uint32_t longer = 0xffffffff;
  if (length == 0 || length == longer) at.is_good = false;
  return at.take(length);
}

bool read_common(Bytes at, Common& common) {
  Bytes entry = read_entry(at);
  const auto id = entry.read<std::uint32_t>();
  const auto version = entry.read<std::uint8_t>();
  char text[8] = {};
  for (std::size_t i = 0;; ++i) {
    if (i == sizeof(text)) return false;
    text[i] = static_cast<char>(entry.read<std::uint8_t>());
    if (text[i] == 0) break;
  }
  if (id != 0 || (version != 1 && version != 3) || (text[0] != 0 && text[0] != 'z')) return false;
  common.code_step = entry.read_unsigned();
  common.data_step = entry.read_signed();
  const std::uint64_t column = version == 1 ? entry.read<std::uint8_t>() : entry.read_unsigned();
  if (column != return_address) return false;
  common.has_more = text[0] == 'z';
  Bytes more = common.has_more ? entry.take(entry.read_unsigned()) : Bytes{entry.at, entry.at, entry.is_good};
  for (const char* letter = text + 1; common.has_more && *letter != 0; ++letter) {
    if (*letter == 'R') {
      common.pointers = more.read<std::uint8_t>();
    } else if (*letter == 'L') {
      more.read<std::uint8_t>();
    } else if (*letter == 'P') {
      const auto encoding = more.read<std::uint8_t>();
      if (encoding != omitted) read_pointer(more, encoding & 0x0f);
    } else {
      return false;  // 'S', a signal frame, among others.
    }
  }
  common.program = entry;
  return entry.is_good && more.is_good;
}

struct Saved {
  enum class Where : std::uint8_t { as_it_was, relative_to_cfa, at_frame_pointer, nowhere, unknown };
  Where where = Where::as_it_was;
  std::int64_t offset = 0;
};
struct Row {
  enum class Cfa : std::uint8_t { of_register, kept, unknown };
  Cfa cfa = Cfa::unknown;
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  Saved frame_pointer, stack_pointer, return_address;

  Saved* of(std::uint64_t number) {
    switch (number) {
      case inject::frame_pointer: return &frame_pointer;
      case inject::stack_pointer: return &stack_pointer;
      case inject::return_address: return &return_address;
      default: return nullptr;
    }
  }
};

// Runs the programs of the tables up to an instruction.
class Rows {
 public:
  Rows(const Common& common, std::uint64_t code) : common_(common), code_(code) {}

  bool run(Bytes program, std::uint64_t begin) {
    std::uint64_t place = begin;
    while (program.left() > 0) {
      if (!step(program, place) || !program.is_good) return false;
      if (place > code_) break;
    }
    return true;
  }
  void keep_as_initial() { initial_ = row_; }
  const Row& row() const { return row_; }

 private:
  void save(std::uint64_t number, Saved saved) {
    if (Saved* one = row_.of(number)) *one = saved;
  }
  void restore(std::uint64_t number) {
    if (Saved* one = row_.of(number)) *one = *initial_.of(number);
  }
  // May wrap around: the number is unchecked.
  std::int64_t in_bytes(std::int64_t units) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(units) * static_cast<std::uint64_t>(common_.data_step));
  }
  Saved relative_to_cfa(std::int64_t units) const { return {Saved::Where::relative_to_cfa, in_bytes(units)}; }

  void define_cfa(std::uint64_t number, std::int64_t offset) {
    row_.cfa = Row::Cfa::of_register;
    row_.cfa_register = number;
    row_.cfa_offset = offset;
  }
  // Code that aligns the stack saves the CFA next to the frame pointer: DW_OP_breg6 N, DW_OP_deref.
  void define_cfa_by(Bytes expression) {
    row_.cfa = Row::Cfa::unknown;
    if (expression.read<std::uint8_t>() != 0x76) return;
    row_.cfa_offset = expression.read_signed();
    if (expression.read<std::uint8_t>() == 0x06 && expression.is_good && expression.left() == 0)
      row_.cfa = Row::Cfa::kept;
  }
  // The caller's frame pointer is then where its own points to: DW_OP_breg6 0.
  static Saved saved_by(Bytes expression) {
    const bool is_known = expression.left() == 2 && expression.at[0] == 0x76 && expression.at[1] == 0;
    return {is_known ? Saved::Where::at_frame_pointer : Saved::Where::unknown, 0};
  }

  bool step(Bytes& program, std::uint64_t& place) {
    const auto byte = program.read<std::uint8_t>();
    const std::uint64_t low = byte & 0x3f;
    switch (byte >> 6) {
      case 1: place += low * common_.code_step; return true;
      case 2: save(low, relative_to_cfa(static_cast<std::int64_t>(program.read_unsigned()))); return true;
      case 3: restore(low); return true;
      default: return step_of(byte, program, place);
    }
  }
  bool step_of(std::uint8_t operation, Bytes& program, std::uint64_t& place);

  const Common& common_;
  std::uint64_t code_;
  Row row_, initial_;
  static constexpr std::size_t remembered_max = 8;
  Row remembered_[remembered_max];
  std::size_t remembered_count_ = 0;
};

// Operations have DWARF's numbers (DW_CFA_...).
bool Rows::step_of(std::uint8_t operation, Bytes& program, std::uint64_t& place) {
  const auto number = [&] { return program.read_unsigned(); };
  const auto block = [&] { return program.take(program.read_unsigned()); };
  switch (operation) {
    case 0x00: return true;
    case 0x01: place = read_pointer(program, common_.pointers); return true;
    case 0x02: place += program.read<std::uint8_t>() * common_.code_step; return true;
    case 0x03: place += program.read<std::uint16_t>() * common_.code_step; return true;
    case 0x04: place += program.read<std::uint32_t>() * common_.code_step; return true;
    case 0x05: {
      const std::uint64_t which = number();
      save(which, relative_to_cfa(static_cast<std::int64_t>(number())));
      return true;
    }
    case 0x06: restore(number()); return true;
    case 0x07: save(number(), {Saved::Where::nowhere, 0}); return true;
    case 0x08: save(number(), {}); return true;
    case 0x09:
      save(number(), {Saved::Where::unknown, 0});
      number();
      return true;
    case 0x0a:
      if (remembered_count_ == remembered_max) return false;
      remembered_[remembered_count_++] = row_;
      return true;
    case 0x0b:
      if (remembered_count_ == 0) return false;
      row_ = remembered_[--remembered_count_];
      return true;
    case 0x0c: {
      const std::uint64_t which = number();
      define_cfa(which, static_cast<std::int64_t>(number()));
      return true;
    }
    case 0x0d: row_.cfa_register = number(); return row_.cfa == Row::Cfa::of_register;
    case 0x0e: row_.cfa_offset = static_cast<std::int64_t>(number()); return row_.cfa == Row::Cfa::of_register;
    case 0x0f: define_cfa_by(block()); return true;
    case 0x10: {
      const std::uint64_t which = number();
      save(which, saved_by(block()));
      return true;
    }
    case 0x11: {
      const std::uint64_t which = number();
      save(which, relative_to_cfa(program.read_signed()));
      return true;
    }
    case 0x12: {
      const std::uint64_t which = number();
      define_cfa(which, in_bytes(program.read_signed()));
      return true;
    }
    case 0x13: row_.cfa_offset = in_bytes(program.read_signed()); return row_.cfa == Row::Cfa::of_register;
    case 0x16:
      save(number(), {Saved::Where::unknown, 0});
      block();
      return true;
    case 0x2e: number(); return true;  // DW_CFA_GNU_args_size.
    default: return false;
  }
}

FrameRule rule_of(const Row& row) {
  FrameRule rule;
  if (row.return_address.where == Saved::Where::nowhere) {
    rule.kind = FrameRule::Kind::outermost;
    return rule;
  }
  constexpr std::int64_t offset_max = 1 << 22;
  const bool is_possible = row.cfa_offset > -offset_max && row.cfa_offset < offset_max;
  const bool has_return_address =
      row.return_address.where == Saved::Where::relative_to_cfa && row.return_address.offset == -8;
  if (!is_possible || !has_return_address || row.stack_pointer.where != Saved::Where::as_it_was) return rule;
  rule.cfa_offset = static_cast<std::int32_t>(row.cfa_offset);
  const Saved& saved = row.frame_pointer;
  if (row.cfa == Row::Cfa::kept) {
    if (saved.where == Saved::Where::at_frame_pointer) rule.kind = FrameRule::Kind::realigned;
    return rule;
  }
  if (saved.where == Saved::Where::relative_to_cfa && saved.offset <= -16 && saved.offset > -offset_max)
    rule.frame_pointer_offset = static_cast<std::int32_t>(saved.offset);
  else if (saved.where != Saved::Where::as_it_was)
    return rule;
  if (row.cfa != Row::Cfa::of_register) return rule;
  if (row.cfa_register == stack_pointer) rule.kind = FrameRule::Kind::from_stack_pointer;
  if (row.cfa_register == frame_pointer) rule.kind = FrameRule::Kind::from_frame_pointer;
  return rule;
}

// `at`: an entry of .eh_frame (an FDE).
FrameRule rule_of_entry(const dl_phdr_info& object, Bytes at, std::uint64_t code) {
  Bytes entry = read_entry(at);
  const auto place = reinterpret_cast<std::uint64_t>(entry.at);
  const auto back = entry.read<std::uint32_t>();
  Common common;
  if (!entry.is_good || back == 0 || !read_common(bytes_from(object, place - back), common)) return {};
  const std::uint64_t begin = read_pointer(entry, common.pointers);
  const std::uint64_t bytes = read_pointer(entry, common.pointers & 0x0f);
  if (common.has_more) entry.skip(entry.read_unsigned());
  if (!entry.is_good || code - begin >= bytes) return {};
  Rows rows(common, code);
  // The whole common program applies before the function begins.
  if (!rows.run(common.program, 0)) return {};
  rows.keep_as_initial();
  return rows.run(entry, begin) ? rule_of(rows.row()) : FrameRule{};
}

FrameRule rule_in(const dl_phdr_info& object, std::uint64_t header, std::uint64_t code) {
  Bytes at = bytes_from(object, header);
  const auto version = at.read<std::uint8_t>(), frames = at.read<std::uint8_t>(),
             count_encoding = at.read<std::uint8_t>(), order = at.read<std::uint8_t>();
  if (!at.is_good || version != 1 || order != in_order || count_encoding == omitted) return {};
  if (frames != omitted) read_pointer(at, frames);
  const std::uint64_t count = read_pointer(at, count_encoding & 0x0f);
  struct Entry {
    std::int32_t code, table;  // From the header.
  };
  if (!at.is_good || count == 0 || count > at.left() / sizeof(Entry)) return {};
  const auto entry_at = [&](std::uint64_t index) {
    Entry entry;
    std::memcpy(&entry, at.at + index * sizeof(Entry), sizeof(Entry));
    return entry;
  };
  const auto wanted = static_cast<std::int64_t>(code - header);
  std::uint64_t first = 0, last = count;  // The wanted entry is the last one that begins at or before the address.
  while (last - first > 1) {
    const std::uint64_t middle = first + (last - first) / 2;
    (entry_at(middle).code <= wanted ? first : last) = middle;
  }
  const Entry found = entry_at(first);
  if (found.code > wanted) return {};
  return rule_of_entry(object, bytes_from(object, header + static_cast<std::uint64_t>(std::int64_t{found.table})),
                       code);
}

struct Search {
  std::uint64_t code;
  FrameRule found;
};

int look_into(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!contains(*object, reinterpret_cast<const void*>(search.code))) return 0;
  std::uint64_t header = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type == PT_GNU_EH_FRAME) header = object->dlpi_addr + part.p_vaddr;
  }
  if (header != 0) search.found = rule_in(*object, header, search.code);
  return 1;
}

}  // namespace

FrameRule find_frame_rule(std::uint64_t code) {
  Search search{code, {}};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

}  // namespace hbmscope::inject

#else

namespace hbmscope::inject {

FrameRule find_frame_rule(std::uint64_t) {
  return {};
}

}  // namespace hbmscope::inject

#endif
