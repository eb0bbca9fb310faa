// Collects all reports of a replay as texts.
#pragma once

#include <string>

#include "allocator/reference/replay/player.h"
#include "allocator/reference/xla_gpu/memory_dump.h"
#include "allocator/reference/xla_gpu/oom_log.h"
#include "allocator/reference/xla_gpu/trace_event.h"
#include "tests/allocator/stream_text.h"

namespace hbmscope::allocator {

struct ReportWatcher final : Watcher {
  void on_allocated(const Allocator& allocator, const ReplayBlock& block) override {
    trace +=
        trace_event_text("MemoryAllocation", allocator, {block.address, block.requested_bytes, block.bytes}) + "\n";
  }
  void on_freed(const Allocator& allocator, const ReplayBlock& block) override {
    trace +=
        trace_event_text("MemoryDeallocation", allocator, {block.address, block.requested_bytes, block.bytes}) + "\n";
  }
  void on_refused(const Allocator& refusing, const Request& request) override {
    const auto& allocator = dynamic_cast<const xla_gpu::Bfc&>(refusing);
    OomLogOptions options;
    options.wording = wording_of(allocator.options().version);
    log += oom_log(allocator, request, options);
    dump = memory_dump(allocator);
  }

  std::string log, dump, trace;
};

inline ReportWatcher play_with_reports(const RequestStream& stream, xla_gpu::Version version) {
  ReportWatcher reports;
  Watcher* const watchers[] = {&reports};
  play(stream, options_of(stream.config, version), watchers);
  return reports;
}

}  // namespace hbmscope::allocator
