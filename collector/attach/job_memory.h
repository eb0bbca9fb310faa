// Another process's mappings and memory. Nothing here stops or changes that process.
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
  std::string path;  // As the kernel prints it. Empty without a file.
};

// The content of /proc/PID/maps, by address. Empty if it may not be read. The kernel returns it in parts, so a mapping
// created meanwhile can hide another one.
std::vector<Mapping> read_mappings(pid_t process);
const Mapping* find_mapping(const std::vector<Mapping>& mappings, std::uint64_t address);

class JobMemory {
 public:
  explicit JobMemory(pid_t process) : process_(process) {}
  pid_t process() const { return process_; }

  // Reads all of it, or returns false. Also false after two million reads.
  bool read(std::uint64_t address, void* bytes, std::size_t count) const;
  bool write(std::uint64_t address, const void* bytes,
             std::size_t count) const;  // Only where the job itself could write.
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

// A loaded 64-bit ELF file, read from its tables in memory: so it does not matter what is on disk, or in which mount
// namespace.
struct Module {
  std::uint64_t base = 0;     // Added to its addresses.
  std::uint64_t dynamic = 0;  // The address of its dynamic section.
  std::uint64_t header = 0;   // The address of its ELF header, or 0 if that is not mapped.
  std::string name;           // As the loader has it. The main program has none.

  struct Tables {
    std::uint64_t symbols = 0, texts = 0, gnu_hash = 0, hash = 0;
  };
  mutable std::optional<Tables> tables;  // Set by the first lookup of a function.
};

struct Modules {
  std::vector<Module> all;  // In the loader's order: the program, preloaded, needed and opened libraries.
  std::string interpreter;  // /lib64/ld-linux-x86-64.so.2. Empty if the program is static.
};
// Empty if the process has no dynamic loader, or if the loader is not ready.
Modules read_modules(const JobMemory& memory);

// A mapped segment of a module.
struct Segment {
  std::uint32_t type = 0, flags = 0;  // PT_LOAD, PF_X and so on.
  std::uint64_t begin = 0, file_bytes = 0, bytes = 0;
};
std::vector<Segment> read_segments(const JobMemory& memory, const Module& module);

// The address of a function that the module exports, or 0.
std::uint64_t find_function(const JobMemory& memory, const Module& module, const char* name);

}  // namespace hbmscope::attach
