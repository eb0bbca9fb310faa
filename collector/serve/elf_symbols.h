// The functions of a program or library, from its own tables: which one is at an address. The file is read, not mapped,
// and every figure in it is checked: it may be cut off, replaced while it is read, or no ELF file at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope::serve {

class ElfSymbols {
 public:
  // Nothing where it can't be read as 64-bit ELF, or `build_id` (hexadecimal; empty: not known) is another one's.
  static std::optional<ElfSymbols> read(const std::string& path, std::string_view build_id);

  // `offset`: from where the file begins in memory, at the page of its first segment. The function's name as the
  // linker knows it; empty where there is none. Stays while this does.
  std::string_view find(std::uint64_t offset) const;
  // As the file itself counts: where debugging information has it.
  std::uint64_t address_of(std::uint64_t offset) const { return first_address_ + offset; }
  bool has_full_table() const { return has_full_table_; }  // Not only what it exports.
  std::uint64_t memory_bytes() const;

 private:
  struct Function {
    std::uint64_t begin = 0, bytes = 0;  // 0: as far as the next.
    std::uint32_t name = 0;              // Where it is in the texts.
    bool is_local = false;
  };

  std::uint64_t first_address_ = 0;
  bool has_full_table_ = false;
  std::vector<Function> functions_;  // By address.
  std::vector<char> texts_;
};

// What a person calls it: "ns::f(int)" of "_ZN2ns1fEi"; what is no such name stays.
std::string demangled(std::string_view name);

}  // namespace hbmscope::serve
