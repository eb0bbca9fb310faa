#include "analysis/write/recording.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "collector/wire/block_encoder.h"
#include "collector/wire/recording_file.h"

namespace hbmscope {
namespace {

Failure refusal(const std::string& path, const std::string& why) {
  return Failure(Error{fmt::format("the recording can't be written: {}", why),
                       "Is there room, and may you write there?",
                       path,
                       {},
                       false});
}

}  // namespace

Result<std::uint64_t> write_recording(const Trace& trace, const std::string& path) {
  namespace fs = std::filesystem;
  const std::string unfinished = path + ".unfinished";
  wire::RecordingWriter writer;
  std::optional<std::string> failure = writer.open(unfinished);
  for (const Stream& stream : trace.streams)
    for (const wire::SharedBlock& block : stream.blocks())
      if (!failure) failure = writer.append(*block);
  if (!failure) failure = writer.finish();
  std::error_code error;
  if (!failure) {
    fs::rename(unfinished, path, error);
    if (error) failure = error.message();
  }
  if (failure) {
    fs::remove(unfinished, error);
    return refusal(path, *failure);
  }
  return static_cast<std::uint64_t>(fs::file_size(path, error));
}

}  // namespace hbmscope
