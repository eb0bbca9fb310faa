// Recordings on disk: a header, blocks and, if the writer finished, an index. Writing is append-only: whatever happens
// to the writer, everything up to the last complete block can be read.
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
  // Returns no value, or the error in the system's words. An existing file is replaced, unless it is
  // another user's (private_file.h). `begun_ms` is when the
  // recording began, in milliseconds since 1970, or 0 if that is unknown. The default is now; pass a value when
  // rewriting an older recording.
  std::optional<std::string> open(const std::string& path, std::uint64_t begun_ms = now_ms());
  static std::uint64_t now_ms();
  // Continues a recording that was finished: further blocks take the place of its index until finish(). Returns an
  // error if it was not finished; the file is then as it was.
  std::optional<std::string> reopen(const std::string& path);
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
  // Flushes to the kernel after every block, because the process may be killed before the next one.
  void flush();
  void append_index(std::vector<std::uint8_t>& out) const;

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::uint64_t offset_ = 0;
  std::vector<IndexEntry> index_;
  std::vector<std::uint8_t> payload_;  // The payload of a block that is in a file.
  std::optional<std::string> failure_;
};

// The findings of a scan, besides its blocks.
struct RecordingScan {
  bool has_index = false;        // The writer finished.
  std::uint64_t lost_bytes = 0;  // After the last complete block, or between complete blocks.
  std::uint64_t damaged_blocks = 0;
  std::uint64_t unknown_blocks = 0;  // Their types are written by a newer version. They are skipped.
  std::optional<std::uint64_t> first_fault_offset;
  std::string first_fault;  // As a sentence.

  // What was written according to the index, by stream. Whatever is missing of it was lost, wherever it was.
  struct WrittenStream {
    std::uint64_t end_event = 0, blocks = 0;  // Blocks of events and definitions.
  };
  std::map<std::uint32_t, WrittenStream> written;
};

// True for the first bytes of a recording.
bool looks_like_recording(const std::uint8_t* bytes, std::size_t count);

// Calls `visit` for every complete block, in file order. Damaged blocks are skipped: by their length if the header is
// intact, otherwise up to the next block that can be found. Returns no value if the header is not that of a recording.
// `visit` returns false to stop.
std::optional<RecordingScan> scan_recording(const std::uint8_t* bytes, std::size_t count,
                                            const std::function<bool(SharedBlock)>& visit);

}  // namespace hbmscope::wire
