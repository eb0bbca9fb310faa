#include "analysis/trace/trace_writer.h"

#include <utility>

namespace hbmscope {

TraceWriter::TraceWriter(const Source& source)
    : writer_(0, [this](wire::SharedBlock block) {
        if (const auto fault = trace_.streams.front().append(std::move(block)))
          trace_.import.add("encoding", Severity::loss, 1, "A defect of hbmscope; please report it.", *fault);
      }) {
  trace_.streams.emplace_back();
  trace_.files = {source.file};
  trace_.format = source.format;
  trace_.origin = source.origin;
  trace_.producer = source.producer;
  trace_.file_bytes = source.file_bytes;
  if (!source.framework.empty()) writer_.add_job_fact("framework", source.framework);
  writer_.add_job_fact("hbmscope.source", source.producer);
}

void TraceWriter::note_realtime(std::int64_t time_ns, std::int64_t realtime_ns) {
  constexpr std::int64_t earliest_ns = 978'307'200LL * 1'000'000'000;
  if (realtime_ns < earliest_ns) return;
  if (trace_.begun_ms == 0) trace_.begun_ms = static_cast<std::uint64_t>(realtime_ns) / 1'000'000;
  wire::ClockRecord clock;
  clock.realtime_ns = static_cast<std::uint64_t>(realtime_ns);
  writer_.add(clock, time_ns);
}

void TraceWriter::close() {
  writer_.flush();
  trace_.import.add("events", Severity::info, static_cast<std::int64_t>(stream().counts().total));
}

}  // namespace hbmscope
