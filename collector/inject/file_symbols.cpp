#include "collector/inject/file_symbols.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace hbmscope::inject {
namespace {

bool read_at(int file, void* to, std::size_t bytes, std::uint64_t offset) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t more = pread(file, at, bytes, static_cast<off_t>(offset));
    if (more <= 0) return false;
    at += more;
    offset += static_cast<std::uint64_t>(more);
    bytes -= static_cast<std::size_t>(more);
  }
  return true;
}

}  // namespace

FileSymbols::FileSymbols(const char* path) : file_(::open(path, O_RDONLY | O_CLOEXEC)) {
  if (file_ >= 0 && !find_tables()) symbols_bytes_ = 0;
}

FileSymbols::~FileSymbols() {
  if (file_ >= 0) ::close(file_);
}

bool FileSymbols::find_tables() {
  ElfW(Ehdr) head;
  if (!read_at(file_, &head, sizeof(head), 0) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (head.e_shentsize != sizeof(ElfW(Shdr))) return false;
  ElfW(Shdr) symbols{};
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    ElfW(Shdr) section;
    if (!read_at(file_, &section, sizeof(section), head.e_shoff + std::uint64_t{i} * sizeof(section))) return false;
    if (section.sh_type == SHT_SYMTAB || (section.sh_type == SHT_DYNSYM && symbols.sh_type == 0)) symbols = section;
  }
  if (symbols.sh_type == 0 || symbols.sh_link >= head.e_shnum || symbols.sh_entsize != sizeof(ElfW(Sym))) return false;
  ElfW(Shdr) names;
  if (!read_at(file_, &names, sizeof(names), head.e_shoff + std::uint64_t{symbols.sh_link} * sizeof(names)))
    return false;
  symbols_offset_ = symbols.sh_offset;
  symbols_bytes_ = symbols.sh_size;
  names_offset_ = names.sh_offset;
  names_bytes_ = names.sh_size;
  return true;
}

void FileSymbols::walk(bool (*take)(const ElfW(Sym) & symbol, void* data), void* data) const {
  constexpr std::size_t part_symbols = 32'768, part_bytes = part_symbols * sizeof(ElfW(Sym));
  if (symbols_bytes_ == 0) return;
  void* part = mmap(nullptr, part_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (part == MAP_FAILED) return;
  const auto* symbols = static_cast<const ElfW(Sym)*>(part);
  for (std::uint64_t done = 0; done < symbols_bytes_;) {
    const std::uint64_t left = symbols_bytes_ - done, bytes = left < part_bytes ? left : part_bytes;
    bool goes_on = read_at(file_, part, bytes, symbols_offset_ + done);
    for (std::size_t i = 0; goes_on && i < bytes / sizeof(ElfW(Sym)); ++i) goes_on = take(symbols[i], data);
    if (!goes_on) break;
    done += bytes;
  }
  munmap(part, part_bytes);
}

void FileSymbols::read_name(const ElfW(Sym) & symbol, char* name, std::size_t bytes) const {
  std::memset(name, 0, bytes);
  if (symbol.st_name >= names_bytes_) return;
  const std::uint64_t left = names_bytes_ - symbol.st_name;
  read_at(file_, name, left < bytes - 1 ? left : bytes - 1, names_offset_ + symbol.st_name);
}

}  // namespace hbmscope::inject
