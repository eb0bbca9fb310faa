#include "allocator/emulated/cuda/model/module_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace hbmscope::device {
namespace {

bool is_elf(const char* at) {
  return std::memcmp(at, ELFMAG, SELFMAG) == 0;
}

// The size of an ELF file that lies in memory: up to the end of its last table or section.
std::size_t size_of_elf(const char* elf) {
  Elf64_Ehdr header;
  std::memcpy(&header, elf, sizeof(header));
  std::size_t end = std::max<std::size_t>(header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize,
                                          header.e_phoff + std::size_t{header.e_phnum} * header.e_phentsize);
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, elf + header.e_shoff + static_cast<std::size_t>(i) * header.e_shentsize, sizeof(section));
    if (section.sh_type != SHT_NOBITS) end = std::max<std::size_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

// Fat binaries, as nvcc writes them (cuda-toolkit's fatbinary.h and fatbinary_section.h): a wrapper points to a header,
// which is followed by entries; entries of kind 2 are cubins.
constexpr std::uint32_t wrapper_magic = 0x466243b1, fat_magic = 0xba55ed50;
struct Wrapper {
  std::uint32_t magic, version;
  const char* data;
  void* file_name;
};
struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // The size of the entries.
};
struct FatEntry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
};
constexpr std::uint16_t cubin_kind = 2;

const char* find_cubin(const char* fat) {
  FatHeader header;
  std::memcpy(&header, fat, sizeof(header));
  const char* at = fat + header.header_bytes;
  const char* end = at + header.bytes;
  while (at + sizeof(FatEntry) <= end) {
    FatEntry entry;
    std::memcpy(&entry, at, sizeof(entry));
    const char* payload = at + entry.header_bytes;
    if (entry.kind == cubin_kind && entry.bytes > sizeof(Elf64_Ehdr) && is_elf(payload)) return payload;
    if (entry.header_bytes == 0) break;
    at = payload + entry.bytes;
  }
  return nullptr;
}

template <class Type>
bool read_at(const std::string& elf, std::size_t offset, Type& out) {
  if (offset > elf.size() || elf.size() - offset < sizeof(Type)) return false;
  std::memcpy(&out, elf.data() + offset, sizeof(Type));
  return true;
}

}  // namespace

ModuleImage ModuleImage::read(const void* image) {
  ModuleImage module;
  const char* at = static_cast<const char*>(image);
  std::uint32_t magic;
  std::memcpy(&magic, at, sizeof(magic));
  if (magic == wrapper_magic) {
    Wrapper wrapper;
    std::memcpy(&wrapper, at, sizeof(wrapper));
    at = wrapper.data;
    std::memcpy(&magic, at, sizeof(magic));
  }
  if (magic == fat_magic) at = find_cubin(at);
  if (at != nullptr && is_elf(at)) module.elf_.assign(at, size_of_elf(at));
  return module;
}

std::optional<GlobalVariable> ModuleImage::find_global(const char* name) const {
  Elf64_Ehdr header;
  if (!read_at(elf_, 0, header)) return std::nullopt;
  const auto section = [&](std::size_t number, Elf64_Shdr& out) {
    return number < header.e_shnum && read_at(elf_, header.e_shoff + number * header.e_shentsize, out);
  };
  Elf64_Shdr symbols, names;
  for (std::size_t i = 0; section(i, symbols); ++i) {
    if (symbols.sh_type != SHT_SYMTAB || !section(symbols.sh_link, names)) continue;
    Elf64_Sym symbol;
    for (std::size_t n = 0; (n + 1) * sizeof(symbol) <= symbols.sh_size; ++n) {
      if (!read_at(elf_, symbols.sh_offset + n * sizeof(symbol), symbol)) break;
      const std::size_t text = names.sh_offset + symbol.st_name;
      if (text >= elf_.size() || symbol.st_shndx == SHN_UNDEF || std::strcmp(elf_.c_str() + text, name) != 0) continue;
      GlobalVariable found{symbol.st_size, {}};
      Elf64_Shdr home;
      if (section(symbol.st_shndx, home) && home.sh_type != SHT_NOBITS &&
          home.sh_offset + symbol.st_value + symbol.st_size <= elf_.size())
        found.initial = elf_.substr(home.sh_offset + symbol.st_value, symbol.st_size);
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace hbmscope::device
