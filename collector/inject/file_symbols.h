// The symbols in the file of a loaded object, for names that it does not export: .symtab if the file has one, otherwise
// .dynsym. Read with pread into memory of our own, because a file that is mapped may be truncated meanwhile.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace hbmscope::inject {

class FileSymbols {
 public:
  explicit FileSymbols(const char* path);
  ~FileSymbols();
  FileSymbols(const FileSymbols&) = delete;
  FileSymbols& operator=(const FileSymbols&) = delete;

  // Calls `take(symbol, data)` for each symbol, in the order of the file, until it returns false.
  void walk(bool (*take)(const ElfW(Sym) & symbol, void* data), void* data) const;
  // Writes the symbol's name; one that is too long is cut off.
  void read_name(const ElfW(Sym) & symbol, char* name, std::size_t bytes) const;

 private:
  bool find_tables();

  int file_ = -1;
  std::uint64_t symbols_offset_ = 0, symbols_bytes_ = 0, names_offset_ = 0, names_bytes_ = 0;
};

}  // namespace hbmscope::inject
