#include "app/cli/dry_run/replay_reports.h"

#include <fmt/format.h>

#include "allocator/reference/xla_gpu/memory_dump.h"
#include "allocator/reference/xla_gpu/oom_log.h"
#include "allocator/reference/xla_gpu/trace_event.h"
#include "app/cli/export/output_file.h"

namespace hbmscope::cli {
namespace {

using allocator::Allocator;
using allocator::ReplayBlock;

// XLA logs at most this many failures, not counting retries.
constexpr int logged_failures_max = 10;

Failure not_written(const std::string& file) {
  return Failure(refusal("cannot write the file", "Check that its folder exists and has free space.", file));
}

}  // namespace

Result<void> ReplayReports::open(const ReplayOptions& options) {
  allocator_name_ = options.allocator_name;
  const std::pair<File*, const std::string*> files[] = {
      {&oom_log_, &options.oom_log}, {&memory_dump_, &options.memory_dump}, {&trace_events_, &options.trace_events}};
  for (const auto& [file, name] : files) {
    if (name->empty()) continue;
    if (auto allowed = check_output({options.file}, *name); !allowed) return allowed;
    file->name = *name;
    file->stream.open(*name, std::ios::binary | std::ios::trunc);
    if (!file->stream) return not_written(*name);
  }
  return {};
}

void ReplayReports::trace(std::string_view event, const Allocator& allocator, const ReplayBlock& block) {
  if (trace_events_.name.empty()) return;
  trace_events_.stream << allocator::trace_event_text(
                              event, allocator, {block.address, block.requested_bytes, block.bytes}, allocator_name_)
                       << '\n';
}

void ReplayReports::on_allocated(const Allocator& allocator, const ReplayBlock& block) {
  trace("MemoryAllocation", allocator, block);
}

void ReplayReports::on_freed(const Allocator& allocator, const ReplayBlock& block) {
  trace("MemoryDeallocation", allocator, block);
}

void ReplayReports::on_refused(const Allocator& allocator, const allocator::Request& request) {
  ++failures_;
  // These two exist only for xla_gpu.
  if (!oom_log_.name.empty() && failures_ <= logged_failures_max) {
    const auto& bfc = dynamic_cast<const allocator::xla_gpu::Bfc&>(allocator);
    allocator::OomLogOptions options;
    options.allocator_name = allocator_name_;
    options.wording = allocator::wording_of(bfc.options().version);
    oom_log_.stream << allocator::oom_log(bfc, request, options);
  }
  if (!memory_dump_.name.empty() && failures_ == 1)
    memory_dump_.stream << allocator::memory_dump(dynamic_cast<const allocator::xla_gpu::Bfc&>(allocator),
                                                  allocator_name_);
}

Result<void> ReplayReports::close() {
  for (File* file : {&oom_log_, &memory_dump_, &trace_events_}) {
    if (file->name.empty()) continue;
    file->stream.close();
    if (!file->stream) return not_written(file->name);
  }
  const bool is_empty = failures_ == 0 && (!oom_log_.name.empty() || !memory_dump_.name.empty());
  if (is_empty)
    return Failure(refusal("no request failed, so there is nothing to log or dump",
                           "Remove --oom-log and --memory-dump, or use a smaller limit."));
  return {};
}

}  // namespace hbmscope::cli
