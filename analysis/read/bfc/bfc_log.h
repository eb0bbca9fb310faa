// Puts the dumps of BFC allocators together from the lines of a log. The lines of several dumps may be interleaved, as
// when all ranks of a job, or several threads, write to one file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/read/bfc/bfc_dump.h"
#include "analysis/read/bfc/bfc_line.h"

namespace hbmscope::bfc {

// A dump, and who wrote it.
struct LoggedDump {
  Dump dump;
  std::uint32_t speaker = 0;
  bool is_line_only = false;  // A headline that never has a dump (LineKind::no_retry).
};

class LogReader {
 public:
  // Lines from 1; `byte` is where the line begins. Returns whether the line belongs to a dump. Lines of different
  // speakers are never put together. Of one speaker, the thread in the prefix decides, and then the addresses: a chunk
  // begins where the one before it ended.
  bool take(std::string_view text, std::uint32_t speaker, std::uint64_t line, std::uint64_t byte);
  // All dumps, ordered by their first lines.
  std::vector<LoggedDump> finish();

 private:
  struct Open {
    LoggedDump logged;
    std::uint64_t thread = 0, next_address = 0, last_line = 0;
    bool has_statistics = false;
    std::unordered_map<std::string, std::uint32_t> ops;
  };

  Open& begin(const Line& line, std::uint32_t speaker, std::uint64_t number, std::uint64_t byte);
  Open* find(const Line& line, std::uint32_t speaker, const std::optional<ChunkLine>& chunk);
  void close(std::size_t open);
  void close_old(std::uint64_t number);
  static void add_chunk(Open& open, ChunkLine chunk);
  static bool add(Open& open, const Line& line, std::optional<ChunkLine> chunk);

  std::vector<Open> open_;
  std::vector<LoggedDump> finished_;
};

}  // namespace hbmscope::bfc
