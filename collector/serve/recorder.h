// The recording that is written while a job runs, and that its viewers read. The job goes on whatever happens here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/wire/private_file.h"
#include "collector/wire/recording_file.h"

namespace hbmscope::serve {

// Whether a recording may be written to that file, which is created if it is missing and not changed otherwise. Returns
// no value, or the reason: among others, it is another user's (collector/wire/private_file.h).
using RecordingName = wire::Name;
std::optional<std::string> try_recording(const std::string& path, RecordingName name);

class Recorder {
 public:
  Recorder() = default;
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Returns no value on success, otherwise the error in the system's words.
  std::optional<std::string> open(const std::string& path);
  // The same at begin(), before the first block: until then an existing file is not touched. An error at begin() is a
  // failure like one in append().
  void open_later(const std::string& path);
  void begin();
  bool is_to_open() const { return is_to_open_; }
  // Opens an unnamed file in TMPDIR or /var/tmp that disappears with this process.
  std::optional<std::string> open_without_name();
  // After the first failure (disk full) the recording ends; what was written stays readable, and viewers continue.
  void append(const wire::Block& block);
  // Ends the recording here on request; viewers continue.
  void stop();
  void finish();

  const std::string& path() const { return path_; }
  bool is_recording() const { return is_recording_; }
  const std::optional<std::string>& failure() const { return failure_; }
  std::uint64_t bytes() const { return recording_bytes_; }  // The recording's size.
  // Bytes of blocks that could be written neither to the recording nor to a file for viewers.
  std::uint64_t lost_events() const { return lost_events_; }

  // All blocks so far, in consecutive files: the recording, and after its end an unnamed file that disappears with this
  // process. `place` counts bytes of complete blocks.
  struct Part {
    int file = -1;
    std::uint64_t place = 0;   // That of its first block.
    std::uint64_t offset = 0;  // That of its first block in the file.
  };
  const std::vector<Part>& parts() const { return parts_; }
  std::uint64_t end_place() const { return end_place_; }

 private:
  std::optional<std::string> begin_part(const std::string& path);
  bool go_on_in(const std::string& path);
  bool go_on_in_own_folder();

  std::string path_;  // Empty: unnamed.
  wire::RecordingWriter file_;
  bool is_recording_ = false, is_lost_ = false;
  bool is_to_open_ = false;  // It will be opened at begin().
  std::optional<std::string> failure_;
  std::uint64_t recording_bytes_ = 0, end_place_ = 0, lost_events_ = 0;
  std::vector<Part> parts_;
};

}  // namespace hbmscope::serve
