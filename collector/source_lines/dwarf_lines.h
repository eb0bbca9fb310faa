// The source line of an address, from the DWARF debugging information of a program or library (libdw).
//
// The line is one of the function that has the code, because that is the function whose name symbol tables have. If the
// compiler has inlined f() into g(), an address in the code of f() gives the line of g() that calls f().
//
// libdw does not check everything: on a damaged file it may crash, or never return. So this is used only in a program
// of its own (lines_program.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

struct Dwarf;
struct Elf;

namespace hbmscope::source_lines {

struct SourceLine {
  std::string file;  // With its folder, as far as the compiler recorded it.
  int line = 0;
};

class DwarfLines {
 public:
  // Maps the file and closes the descriptor. Null if it has no debugging information.
  static std::unique_ptr<DwarfLines> open(int descriptor);
  ~DwarfLines();
  DwarfLines(const DwarfLines&) = delete;
  DwarfLines& operator=(const DwarfLines&) = delete;

  // `address`: the file's own, without the base at which it is loaded.
  std::optional<SourceLine> find(std::uint64_t address);

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t entry = 0;  // The position of the compilation unit, or of the function, in its section.
  };
  // A compilation unit that an address was found in.
  struct Unit {
    bool has_entries = false;  // False if they are in a file of their own (.dwo) that is missing.
    std::vector<Range> functions;
  };
  DwarfLines() = default;
  void list_units();
  const Unit& unit_at(std::uint64_t entry);
  static void sort(std::vector<Range>& ranges);
  static const Range* find(const std::vector<Range>& ranges, std::uint64_t address);
  struct Walk;

  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
  std::vector<Range> ranges_;  // The ranges of all units, by address.
  std::unordered_map<std::uint64_t, Unit> units_;
};

}  // namespace hbmscope::source_lines
