// Recordings on disk: a header, blocks, and where the writer came to its end, an index. Writing is append-only, so that
// whatever happens to the writer, everything up to the last whole block can be read.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/wire/block.h"

namespace hbmscope::wire {

class RecordingWriter {
 public:
  RecordingWriter() = default;
  // Nothing, or why not (the system's words). An existing file is replaced. `begun_ms` is when the recording was begun,
  // since 1970, 0 for unknown: now, unless it is written from something older.
  std::optional<std::string> open(const std::string& path, std::uint64_t begun_ms = now_ms());
  static std::uint64_t now_ms();
  // The first failure (disk full) is kept and returned from then on; what was written stays readable.
  std::optional<std::string> append(const Block& block);
  // Writes the index and closes.
  std::optional<std::string> finish();
  std::uint64_t bytes() const { return offset_; }  // Written so far.

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct IndexEntry {
    std::uint64_t offset = 0;
    BlockHeader header;
  };
  bool write(const void* bytes, std::size_t count);
  // To the kernel, with every block: the process may be killed before the next one.
  void flush();
  void append_index(std::vector<std::uint8_t>& out) const;

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::uint64_t offset_ = 0;
  std::vector<IndexEntry> index_;
  std::vector<std::uint8_t> payload_;  // Of a block that came from a file.
  std::optional<std::string> failure_;
};

// What reading a recording met, beside its blocks.
struct RecordingScan {
  bool has_index = false;        // The writer came to its end.
  std::uint64_t lost_bytes = 0;  // Behind the last whole block, or between blocks that are whole.
  std::uint64_t damaged_blocks = 0;
  std::uint64_t unknown_blocks = 0;  // Of types that a newer version writes; passed over.
  std::optional<std::uint64_t> first_fault_offset;
  std::string first_fault;  // In words.

  // What the index says was written, by stream: what is missing of it was lost, wherever it stood.
  struct WrittenStream {
    std::uint64_t end_event = 0, blocks = 0;  // Blocks of events and definitions.
  };
  std::map<std::uint32_t, WrittenStream> written;
};

// True for the first bytes of a recording.
bool looks_like_recording(const std::uint8_t* bytes, std::size_t count);

// Hands every whole block to `visit`, in the order of the file; damaged ones are passed over, by their length where the
// header holds, else to the next block that can be found. Nothing where the header is no recording's. `visit` returns
// false to stop.
std::optional<RecordingScan> scan_recording(const std::uint8_t* bytes, std::size_t count,
                                            const std::function<bool(SharedBlock)>& visit);

}  // namespace hbmscope::wire
