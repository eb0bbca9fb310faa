#include "collector/serve/elf_symbols.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace hbmscope::serve {
namespace {

// Limits for one file. The largest libraries have some two million functions and 300 MB of names.
constexpr std::uint64_t symbols_max = 20'000'000, texts_bytes_max = std::uint64_t{1} << 30, headers_max = 65'536;

std::string build_id_in(const std::vector<std::uint8_t>& notes) {
  for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof(note));
    const std::size_t name = at + sizeof(note), content = name + (std::size_t{note.n_namesz} + 3) / 4 * 4;
    const std::size_t next = content + (std::size_t{note.n_descsz} + 3) / 4 * 4;
    if (next > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      std::string text;
      for (std::size_t i = content; i < content + note.n_descsz; ++i) {
        text += "0123456789abcdef"[notes[i] >> 4];
        text += "0123456789abcdef"[notes[i] & 15];
      }
      return text;
    }
    at = next;
  }
  return {};
}

bool has_build_id(const RegularFile& file, const std::vector<Elf64_Phdr>& parts, std::string_view build_id) {
  constexpr std::uint64_t notes_bytes_max = 1 << 20;
  constexpr int notes_max = 64;
  int notes_seen = 0;
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_NOTE && ++notes_seen > notes_max) break;
    std::vector<std::uint8_t> notes;
    if (part.p_type == PT_NOTE && part.p_filesz <= notes_bytes_max &&
        file.read_table(notes, part.p_offset, part.p_filesz))
      if (const std::string found = build_id_in(notes); !found.empty()) return found == build_id;
  }
  return false;
}

// Its content as text, up to the first 0. Empty if it can't be read.
std::string text_in(const RegularFile& file, const Elf64_Shdr& section) {
  constexpr std::uint64_t text_bytes_max = 4096;
  std::vector<char> bytes;
  if (section.sh_type == SHT_NOBITS || section.sh_size > text_bytes_max ||
      !file.read_table(bytes, section.sh_offset, section.sh_size))
    return {};
  return {bytes.begin(), std::find(bytes.begin(), bytes.end(), 0)};
}

// Calls `use(name, section)` with each section.
template <class Use>
void for_each_name(const RegularFile& file, const std::vector<Elf64_Shdr>& sections, std::uint16_t names_at, Use use) {
  constexpr std::uint64_t names_bytes_max = 1 << 24;
  std::vector<char> names;
  if (names_at >= sections.size() || sections[names_at].sh_size > names_bytes_max ||
      !file.read_table(names, sections[names_at].sh_offset, sections[names_at].sh_size))
    return;
  names.push_back(0);
  for (const Elf64_Shdr& section : sections)
    if (section.sh_name < names.size()) use(std::string_view(names.data() + section.sh_name), section);
}

}  // namespace

std::optional<ElfSymbols> ElfSymbols::read(const std::string& path, std::string_view build_id) {
  return read(RegularFile(path), build_id);
}

std::optional<ElfSymbols> ElfSymbols::read(const RegularFile& file, std::string_view build_id) {
  Elf64_Ehdr head;
  if (!file.read(&head, 0, sizeof(head)) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  std::vector<Elf64_Phdr> parts;
  if (head.e_phentsize != sizeof(Elf64_Phdr) || !file.read_table(parts, head.e_phoff, head.e_phnum))
    return std::nullopt;
  if (!build_id.empty() && !has_build_id(file, parts, build_id)) return std::nullopt;
  ElfSymbols symbols;
  symbols.first_address_ = ~std::uint64_t{0};
  for (const Elf64_Phdr& part : parts)
    if (part.p_type == PT_LOAD) symbols.first_address_ = std::min(symbols.first_address_, part.p_vaddr);
  if (symbols.first_address_ == ~std::uint64_t{0}) return std::nullopt;
  constexpr std::uint64_t page = 4096;
  symbols.first_address_ &= ~(page - 1);

  std::vector<Elf64_Shdr> sections;
  if (head.e_shentsize == sizeof(Elf64_Shdr) && head.e_shnum < headers_max)
    file.read_table(sections, head.e_shoff, head.e_shnum);
  for_each_name(file, sections, head.e_shstrndx, [&](std::string_view name, const Elf64_Shdr& section) {
    if ((name == ".debug_info" || name == ".zdebug_info") && section.sh_type != SHT_NOBITS)
      symbols.has_debug_info_ = true;
    if (name == ".gnu_debuglink") symbols.debug_link_ = text_in(file, section);
  });
  // A full table has the exported functions, too.
  const auto is_table = [&](std::uint32_t type) {
    return [type](const Elf64_Shdr& section) { return section.sh_type == type && section.sh_size > 0; };
  };
  auto table = std::find_if(sections.begin(), sections.end(), is_table(SHT_SYMTAB));
  symbols.has_full_table_ = table != sections.end();
  if (!symbols.has_full_table_) table = std::find_if(sections.begin(), sections.end(), is_table(SHT_DYNSYM));
  if (table == sections.end() || table->sh_entsize != sizeof(Elf64_Sym) || table->sh_link >= sections.size() ||
      table->sh_size / sizeof(Elf64_Sym) > symbols_max || sections[table->sh_link].sh_size > texts_bytes_max)
    return symbols;
  const Elf64_Shdr& texts = sections[table->sh_link];
  std::vector<Elf64_Sym> rows;
  if (!file.read_table(rows, table->sh_offset, table->sh_size / sizeof(Elf64_Sym)) ||
      !file.read_table(symbols.texts_, texts.sh_offset, texts.sh_size))
    return symbols;
  if (symbols.texts_.empty() || symbols.texts_.back() != 0) symbols.texts_.push_back(0);
  for (const Elf64_Sym& row : rows) {
    const unsigned type = ELF64_ST_TYPE(row.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || row.st_shndx == SHN_UNDEF || row.st_name == 0 ||
        row.st_name >= symbols.texts_.size())
      continue;
    symbols.functions_.push_back({row.st_value, row.st_size, row.st_name, ELF64_ST_BIND(row.st_info) == STB_LOCAL});
  }
  // If there are several names: the exported one, then the first in the table.
  std::stable_sort(symbols.functions_.begin(), symbols.functions_.end(), [](const Function& a, const Function& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.is_local < b.is_local;
  });
  return symbols;
}

std::string_view ElfSymbols::find(std::uint64_t offset) const {
  const std::uint64_t address = address_of(offset);
  auto behind = std::upper_bound(functions_.begin(), functions_.end(), address,
                                 [](std::uint64_t at, const Function& function) { return at < function.begin; });
  if (behind == functions_.begin()) return {};
  const std::uint64_t begin = std::prev(behind)->begin;
  const auto first = std::lower_bound(functions_.begin(), behind, begin,
                                      [](const Function& function, std::uint64_t at) { return function.begin < at; });
  for (auto function = first; function != behind; ++function)
    if (function->bytes == 0 || address - begin < function->bytes) {
      const std::string_view name = texts_.data() + function->name;
      return name.substr(0, name.find('@'));  // A full table may append the version.
    }
  return {};
}

std::uint64_t ElfSymbols::memory_bytes() const {
  return functions_.capacity() * sizeof(Function) + texts_.capacity();
}

namespace {

// An upper bound on the length of the text, with every name at its worst: a letter may be a type of 20 bytes with its
// comma; a back reference (S1_, T_) repeats what it refers to, and groups of three give the most; a pack expansion (Dp,
// sp) is repeated for each element.
double text_bytes_at_most(std::string_view name) {
  const auto refers = [&](std::size_t at) {
    if (name[at] != 'S' && name[at] != 'T') return false;
    const std::size_t behind = name.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1);
    return behind != std::string_view::npos && name[behind] == '_';
  };
  const auto size = static_cast<double>(name.size());
  constexpr double longest_of_a_letter = 25;
  double bytes = size * longest_of_a_letter;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (refers(i)) bytes *= std::cbrt(3.0);
    if (const auto two = name.substr(i, 2); two == "Dp" || two == "sp") bytes *= size;
  }
  return bytes;
}

}  // namespace

std::string demangled(std::string_view name) {
  // A malicious name of 300 bytes may expand to gigabytes of text, which the demangler would build before it is cut.
  constexpr std::size_t mangled_bytes_max = 4096, text_bytes_max = 2048;
  constexpr double whole_bytes_max = std::uint64_t{1} << 31;
  std::string text(name);
  if (name.starts_with("_Z") && name.size() <= mangled_bytes_max && text_bytes_at_most(name) <= whole_bytes_max) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status),
                                                          std::free);
    if (status == 0 && readable != nullptr) text = readable.get();
  }
  if (text.size() > text_bytes_max) text = text.substr(0, text_bytes_max) + "...";
  return text;
}

}  // namespace hbmscope::serve
