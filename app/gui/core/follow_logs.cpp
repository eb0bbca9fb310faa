// A log that is open is read again when its file has grown, as `hbmscope report --follow` does.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "analysis/query/log_headline.h"
#include "analysis/read/source/read_source.h"
#include "app/gui/core/open_sources.h"

namespace hbmscope::gui {
namespace {

constexpr std::chrono::seconds between_looks{1};

bool is_followed(const Source& source) {
  return source.state == AnswerState::ready && source.trace && !source.is_pasted && !source.control &&
         source.pieces.empty() && source.path != "-" && is_of_log(*source.trace);
}

std::size_t count_failures(const Trace& trace) {
  std::size_t failures = 0;
  for (const Stream& stream : trace.streams) failures += stream.failures().size();
  return failures;
}

}  // namespace

bool OpenSources::follows_logs() const {
  return std::any_of(state_.sources.begin(), state_.sources.end(), is_followed);
}

// Not by the pool: while that works, frames are drawn, and an idle window draws nothing.
void OpenSources::look_at_logs() {
  const auto now = std::chrono::steady_clock::now();
  const bool is_looking = look_.valid() && look_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  if (is_looking || now - looked_at_ < between_looks || state_.host == Host::browser) return;
  looked_at_ = now;
  struct Log {
    SourceId id;
    std::string path;
    std::uint64_t bytes;
  };
  std::vector<Log> logs;
  for (const Source& source : state_.sources)
    if (is_followed(source))
      logs.push_back({source.id, source.path, log_sizes_.try_emplace(source.path, source.profile->file_bytes).first->second});
  if (logs.empty()) return;
  look_ = std::async(std::launch::async, [this, logs = std::move(logs)] {
    for (const Log& log : logs) {
      std::error_code error;
      const std::uint64_t bytes = std::filesystem::file_size(log.path, error);
      if (error || bytes == log.bytes) continue;
      const auto content = read_source(log.path, {}, nullptr).and_then(content_of);
      pool_.post_finished([this, log, bytes, content] {
        log_sizes_[log.path] = bytes;
        if (content) show_longer_log(log.id, *content);
      });
    }
  });
}

// Whoever looks at the time at which the log opened sees the one at which the longer log opens.
void OpenSources::show_longer_log(SourceId id, const SourceContent& content) {
  Source* const source = state_.find_source(id);
  if (source == nullptr || !content.trace) return;
  const MomentName opened_at = source->opening_at;
  const std::size_t failures = count_failures(*source->trace);
  renew_id(*source);
  source->take(content);
  for (Context& context : state_.contexts)
    if (context.position.source == source->id && context.position.at == opened_at) context.position.at = source->opening_at;
  if (count_failures(*source->trace) > failures) state_.window.notice = source->name() + " has another failure.";
}

}  // namespace hbmscope::gui
