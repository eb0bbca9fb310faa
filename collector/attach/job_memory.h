// What is mapped in another process, and the bytes of it. Nothing here stops or changes that process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hbmscope::attach {

struct Mapping {
  std::uint64_t begin = 0, end = 0, file_offset = 0;
  bool can_read = false, can_write = false, can_execute = false, is_private = false;
  std::string path;  // As the kernel writes it; empty: no file.
};

// Of /proc/PID/maps, by address; empty where it may not be read. The kernel hands it out in pieces, and what the
// process maps meanwhile can hide one.
std::vector<Mapping> read_mappings(pid_t process);
const Mapping* find_mapping(const std::vector<Mapping>& mappings, std::uint64_t address);

class JobMemory {
 public:
  explicit JobMemory(pid_t process) : process_(process) {}
  pid_t process() const { return process_; }

  // All of it, or false; false too after two million of them.
  bool read(std::uint64_t address, void* bytes, std::size_t count) const;
  bool write(std::uint64_t address, const void* bytes, std::size_t count) const;  // Where the job itself could.
  template <class T>
  std::optional<T> get(std::uint64_t address) const {
    T value{};
    if (!read(address, &value, sizeof(value))) return std::nullopt;
    return value;
  }
  // Up to the zero byte, or `count_max`.
  std::string get_text(std::uint64_t address, std::size_t count_max) const;

 private:
  pid_t process_;
  mutable std::uint32_t reads_left_ = 2'000'000;
};

// A loaded ELF file of 64 bits, as its tables stand in memory: so it does not matter what lies on disk, or in which
// mount namespace.
struct Module {
  std::uint64_t base = 0;     // What is added to its addresses.
  std::uint64_t dynamic = 0;  // Where its dynamic section is.
  std::uint64_t header = 0;   // Where its ELF header is; 0: not mapped.
  std::string name;           // As the loader has it; the program's is empty.

  struct Tables {
    std::uint64_t symbols = 0, texts = 0, gnu_hash = 0, hash = 0;
  };
  mutable std::optional<Tables> tables;  // Once a function was looked for.
};

struct Modules {
  std::vector<Module> all;  // In the loader's order: the program, what is preloaded, what is needed, what was opened.
  std::string interpreter;  // /lib64/ld-linux-x86-64.so.2; empty: the program is static.
};
// Nothing where the process has no dynamic loader, or it is not ready.
Modules read_modules(const JobMemory& memory);

// A segment of a module, where it is mapped.
struct Segment {
  std::uint32_t type = 0, flags = 0;  // PT_LOAD, PF_X and so on.
  std::uint64_t begin = 0, file_bytes = 0, bytes = 0;
};
std::vector<Segment> read_segments(const JobMemory& memory, const Module& module);

// Address of a function that the module defines for others; 0: it does not.
std::uint64_t find_function(const JobMemory& memory, const Module& module, const char* name);

}  // namespace hbmscope::attach
