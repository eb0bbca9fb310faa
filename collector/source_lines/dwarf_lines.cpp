#include "collector/source_lines/dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>

namespace hbmscope::source_lines {
namespace {

// Real ones are some ten levels deep; in a damaged file an entry may contain itself.
constexpr int depth_max = 100;

// Calls `use(begin, end)` with each range of code of an entry.
template <class Use>
void for_each_range(Dwarf_Die& entry, Use use) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  std::ptrdiff_t at = 0;
  while ((at = dwarf_ranges(&entry, at, &base, &begin, &end)) > 0)
    // The linker leaves 0, 1 or the largest numbers as the address of code that it has dropped.
    if (begin > 1 && begin < end) use(begin, end);
}

// The call in which the function's code of this address was inlined, if it was: the outermost one, because it is the
// one that is written in the function itself.
bool find_inlined_call(Dwarf_Die& function, Dwarf_Addr address, Dwarf_Die& call, int depth) {
  Dwarf_Die child;
  if (depth == depth_max || dwarf_child(&function, &child) != 0) return false;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&child, address) == 1) {
      call = child;
      return true;
    }
    const bool may_contain = tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
    if (may_contain && find_inlined_call(child, address, call, depth + 1)) return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

std::optional<std::uint64_t> number_of(Dwarf_Die& entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_attr(&entry, name, &attribute) == nullptr || dwarf_formudata(&attribute, &number) != 0) return std::nullopt;
  return number;
}

std::optional<SourceLine> line_from(Dwarf_Die& unit, const char* file, std::uint64_t line) {
  constexpr std::uint64_t line_max = 100'000'000;
  if (file == nullptr || *file == 0 || line == 0 || line > line_max) return std::nullopt;  // 0: made by the compiler.
  std::string path = file;
  Dwarf_Attribute attribute;
  const char* folder =
      path.starts_with('/') ? nullptr : dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  if (folder != nullptr) path = std::string(folder) + "/" + path;
  if (path.starts_with('/')) path = std::filesystem::path(path).lexically_normal().string();
  return SourceLine{std::move(path), static_cast<int>(line)};
}

std::optional<SourceLine> line_of_call(Dwarf_Die& unit, Dwarf_Die& entries, Dwarf_Die& call) {
  const auto file = number_of(call, DW_AT_call_file), line = number_of(call, DW_AT_call_line);
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (!file || !line || dwarf_getsrcfiles(&entries, &files, &count) != 0 || *file >= count) return std::nullopt;
  return line_from(unit, dwarf_filesrc(files, *file, nullptr, nullptr), *line);
}

std::optional<SourceLine> line_of_code(Dwarf_Die& unit, Dwarf_Addr address) {
  Dwarf_Line* row = dwarf_getsrc_die(&unit, address);
  int line = 0;
  if (row == nullptr || dwarf_lineno(row, &line) != 0 || line <= 0) return std::nullopt;
  return line_from(unit, dwarf_linesrc(row, nullptr, nullptr), static_cast<std::uint64_t>(line));
}

// The entry of a unit and the one with its functions: the same, unless these are in a .dwo file.
bool find_entries(Dwarf* dwarf, Dwarf_Off offset, Dwarf_Die& unit, Dwarf_Die& functions) {
  if (dwarf_offdie(dwarf, offset, &unit) == nullptr) return false;
  Dwarf_Die apart{};
  std::uint8_t type = 0;
  if (dwarf_cu_info(unit.cu, nullptr, &type, nullptr, &apart, nullptr, nullptr, nullptr) != 0) return false;
  functions = type == DW_UT_skeleton ? apart : unit;
  return functions.addr != nullptr;
}

}  // namespace

std::unique_ptr<DwarfLines> DwarfLines::open(int descriptor) {
  elf_version(EV_CURRENT);
  std::unique_ptr<DwarfLines> lines(new DwarfLines);
  lines->elf_ = elf_begin(descriptor, ELF_C_READ_MMAP, nullptr);
  if (lines->elf_ != nullptr) lines->dwarf_ = dwarf_begin_elf(lines->elf_, DWARF_C_READ, nullptr);
  // Only a file that could not be mapped is read now.
  if (lines->dwarf_ != nullptr) elf_cntl(lines->elf_, ELF_C_FDREAD);
  close(descriptor);
  if (lines->dwarf_ == nullptr) return nullptr;
  lines->list_units();
  return lines;
}

DwarfLines::~DwarfLines() {
  if (dwarf_ != nullptr) dwarf_end(dwarf_);
  if (elf_ != nullptr) elf_end(elf_);
}

// From the units themselves: clang writes no table of them by address (.debug_aranges).
void DwarfLines::list_units() {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die entry;
  std::uint8_t type = 0;
  while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &entry, nullptr) == 0)
    if (type == DW_UT_compile || type == DW_UT_skeleton)
      for_each_range(entry, [&](std::uint64_t begin, std::uint64_t end) {
        ranges_.push_back({begin, end, dwarf_dieoffset(&entry)});
      });
  sort(ranges_);
}

struct DwarfLines::Walk {
  std::vector<Range>& functions;

  // Functions may be in namespaces, in types, and in other functions.
  void list_functions(Dwarf_Die& parent, int depth) {
    Dwarf_Die child;
    if (depth == depth_max || dwarf_child(&parent, &child) != 0) return;
    do {
      switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
          for_each_range(child, [&](std::uint64_t begin, std::uint64_t end) {
            functions.push_back({begin, end, dwarf_dieoffset(&child)});
          });
          list_functions(child, depth + 1);
          break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
        case DW_TAG_lexical_block: list_functions(child, depth + 1); break;
        default: break;
      }
    } while (dwarf_siblingof(&child, &child) == 0);
  }
};

const DwarfLines::Unit& DwarfLines::unit_at(std::uint64_t entry) {
  const auto [found, is_new] = units_.try_emplace(entry);
  Dwarf_Die unit, functions;
  if (is_new && find_entries(dwarf_, entry, unit, functions)) {
    found->second.has_entries = true;
    Walk{found->second.functions}.list_functions(functions, 0);
    sort(found->second.functions);
  }
  return found->second;
}

void DwarfLines::sort(std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;  // What contains others comes before them.
  });
}

const DwarfLines::Range* DwarfLines::find(const std::vector<Range>& ranges, std::uint64_t address) {
  constexpr int steps_max = 16;  // Past ranges that end before the address.
  auto at = std::upper_bound(ranges.begin(), ranges.end(), address,
                             [](std::uint64_t it, const Range& range) { return it < range.begin; });
  for (int step = 0; at != ranges.begin() && step < steps_max; ++step)
    if (--at; address < at->end) return &*at;
  return nullptr;
}

std::optional<SourceLine> DwarfLines::find(std::uint64_t address) {
  const Range* in_unit = find(ranges_, address);
  if (in_unit == nullptr) return std::nullopt;
  const Unit& known = unit_at(in_unit->entry);
  Dwarf_Die unit, entries, function, call;
  // Without the functions it is unknown whether a line is that of an inlined function.
  if (!known.has_entries || !find_entries(dwarf_, in_unit->entry, unit, entries)) return std::nullopt;
  const Range* in_function = find(known.functions, address);
  if (in_function != nullptr && dwarf_offdie(dwarf_cu_getdwarf(entries.cu), in_function->entry, &function) != nullptr &&
      find_inlined_call(function, address, call, 0))
    return line_of_call(unit, entries, call);
  return line_of_code(unit, address);  // Assembler code has lines and no functions.
}

}  // namespace hbmscope::source_lines
