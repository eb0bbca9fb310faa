// The functions of a program or library by address, from its symbol tables. The file is read, not mapped, and every
// value in it is checked: it may be truncated, replaced while it is read, or no ELF file at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/serve/regular_file.h"

namespace hbmscope::serve {

class ElfSymbols {
 public:
  // No value if it can't be read as 64-bit ELF, or if its build id differs from `build_id` (hexadecimal, or
  // empty if it is unknown).
  static std::optional<ElfSymbols> read(const std::string& path, std::string_view build_id);
  static std::optional<ElfSymbols> read(const RegularFile& file, std::string_view build_id);

  // `offset`: from the beginning of the file in memory, at the page of its first segment. Returns the function's name
  // as the linker knows it, or an empty text. The text lives as long as this object.
  std::string_view find(std::uint64_t offset) const;
  // The file's own address, as used by debugging information.
  std::uint64_t address_of(std::uint64_t offset) const { return first_address_ + offset; }
  bool has_full_table() const { return has_full_table_; }  // Not only the exported ones.
  bool has_debug_info() const { return has_debug_info_; }  // It has DWARF entries (.debug_info).
  // The name of the file with debugging information that was split off (.gnu_debuglink), if it names one.
  const std::string& debug_link() const { return debug_link_; }
  std::uint64_t memory_bytes() const;

 private:
  struct Function {
    std::uint64_t begin = 0, bytes = 0;  // 0: up to the next function.
    std::uint32_t name = 0;              // Its position in the string table.
    bool is_local = false;
  };

  std::uint64_t first_address_ = 0;
  bool has_full_table_ = false, has_debug_info_ = false;
  std::string debug_link_;
  std::vector<Function> functions_;  // By address.
  std::vector<char> texts_;
};

// The name that a person uses: "ns::f(int)" for "_ZN2ns1fEi"; other names stay.
std::string demangled(std::string_view name);

}  // namespace hbmscope::serve
