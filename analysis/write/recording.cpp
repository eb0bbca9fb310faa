#include "analysis/write/recording.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "analysis/write/strip_paths.h"
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

// As its blocks tell it; without any, as the trace counts.
std::uint32_t number_of(const Stream& stream, std::size_t place) {
  return stream.blocks().empty() ? static_cast<std::uint32_t>(place) : stream.blocks().front()->header.stream;
}

}  // namespace

Result<std::uint64_t> write_recording(const Trace& trace, const std::string& path, Paths paths) {
  namespace fs = std::filesystem;
  std::error_code error;
  // What a link leads to is replaced, not the link; a device or a pipe is written to as it is, never replaced.
  const fs::path target = fs::exists(path, error) ? fs::canonical(path, error) : fs::path(path);
  const bool is_replaced = !fs::exists(target, error) || fs::is_regular_file(target, error);
  const std::string unfinished = is_replaced ? target.string() + ".unfinished" : target.string();
  wire::RecordingWriter writer;
  std::optional<std::string> failure = writer.open(unfinished);
  const auto append = [&](const wire::Block& block) {
    if (!failure) failure = writer.append(block);
    return !failure;
  };
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    if (paths == Paths::stripped) {
      const auto stripped = for_each_stripped_block(stream, number_of(stream, i), nullptr, append);
      if (stripped) continue;
      if (is_replaced) fs::remove(unfinished, error);
      Error why = stripped.error();
      why.file = trace.files.empty() ? path : trace.files.front();
      return Failure(std::move(why));
    }
    for (const wire::SharedBlock& block : stream.blocks()) append(*block);
  }
  if (!failure) failure = writer.finish();
  if (!failure && is_replaced) {
    fs::rename(unfinished, target, error);
    if (error) failure = error.message();
  }
  if (failure) {
    if (is_replaced) fs::remove(unfinished, error);
    return refusal(path, *failure);
  }
  return writer.bytes();
}

}  // namespace hbmscope
