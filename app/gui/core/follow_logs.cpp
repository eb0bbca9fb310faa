// A log that is open is read again when its file has grown, as `hbmscope report --follow` does.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "analysis/read/source/read_source.h"
#include "app/gui/core/open_sources.h"

namespace hbmscope::gui {
namespace {

constexpr std::chrono::seconds between_looks{1};

std::size_t count_failures(const Trace& trace) {
  std::size_t failures = 0;
  for (const Stream& stream : trace.streams) failures += stream.failures().size();
  return failures;
}

}  // namespace

bool OpenSources::follows_logs() const {
  return std::any_of(state_.sources.begin(), state_.sources.end(), is_followed_log);
}

// Not by the pool: while that works, frames are drawn, and an idle window draws nothing.
void OpenSources::look_at_logs() {
  const auto now = std::chrono::steady_clock::now();
  const bool is_looking = look_.valid() && look_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  if (is_looking || now - looked_at_ < between_looks || state_.host == Host::browser) return;
  struct Log {
    SourceId id;
    std::string path;
    std::uint64_t bytes;  // When it was read last.
    bool is_unreadable;
  };
  std::vector<Log> logs;
  for (const Source& source : state_.sources)
    if (const auto read = log_sizes_.find(source.path); is_followed_log(source) && read != log_sizes_.end())
      logs.push_back({source.id, source.path, read->second, source.state == AnswerState::failed});
  if (logs.empty()) return;
  looked_at_ = now;
  look_ = std::async(std::launch::async, [this, logs = std::move(logs)] {
    for (const Log& log : logs) {
      std::error_code error;
      const std::uint64_t bytes = std::filesystem::file_size(log.path, error);
      if (error || bytes == log.bytes) continue;
      const auto content =
          log.is_unreadable ? std::nullopt : std::optional(read_source(log.path, {}, nullptr).and_then(content_of));
      pool_.post_finished([this, log, bytes, content] {
        log_sizes_[log.path] = bytes;
        if (!content) reload_source(log.id);
        if (content && *content) show_longer_log(log.id, **content);
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
    if (context.position.source == source->id && context.position.at == opened_at)
      context.position.at = source->opening_at;
  if (count_failures(*source->trace) <= failures) return;
  state_.window.notice = source->name() + (failures == 0 ? " has a failure." : " has another failure.");
  if (failures > 0) return;
  for (Context& context : state_.contexts)  // So far there was nothing to look at.
    if (context.position.source == source->id) context.position.view = ViewKind::failure;
  ++state_.window.view_serial;
}

}  // namespace hbmscope::gui
