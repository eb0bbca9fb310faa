// Names of functions that were compiled at run time, from the map that some compilers write for perf:
// /tmp/perf-PID.map, with a line "START SIZE NAME" for each function, in hexadecimal
// (https://github.com/torvalds/linux/blob/master/tools/perf/Documentation/jit-interface.txt). It is what the process
// claims, so only a file that belongs to its user is read. The map grows while the process runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hbmscope::serve {

class PerfMap {
 public:
  // `user` is the one who ran the process, for a process that has ended and is not in /proc any more; its map may be
  // left.
  PerfMap(std::int64_t process, std::uint32_t user);

  // Reads what was added to the map if the address is not in what is known. Empty if no function has it. The text is
  // valid until the next call.
  std::string_view find(std::uint64_t address);

 private:
  struct Function {
    std::uint64_t end = 0;
    std::string name;
  };
  const Function* function_at(std::uint64_t address) const;
  void read_more();
  int open_map() const;
  void add_line(std::string_view line);

  std::string path_in_process_, path_;  // As the process sees the file, and as we do; the latter may be empty.
  std::uint32_t user_ = 0;
  std::uint64_t read_bytes_ = 0, file_ = 0;  // Up to the last complete line; the file's inode.
  std::map<std::uint64_t, Function> functions_;
};

}  // namespace hbmscope::serve
