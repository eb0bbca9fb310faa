// Any bytes, alone and after the beginning of a dump, for the reader of logs, in one piece and in small ones: both must
// find the same failures, at places inside the log, and the trace must be sound.
#include <string>

#include "analysis/read/log/log_reader.h"
#include "analysis/read/log/trace_from_log.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;

log::Findings findings_of(std::string_view text, std::size_t piece) {
  log::LogReader reader;
  while (!text.empty()) {
    reader.feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  return reader.finish();
}

void read_log(const std::string& text) {
  const log::Findings whole = findings_of(text, text.size() + 1), pieces = findings_of(text, 97);
  require(whole.failures.size() == pieces.failures.size(), "pieces change what is found");
  require(whole.lines == pieces.lines, "pieces change the number of lines");
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < whole.failures.size(); ++i) {
    const log::Finding& finding = whole.failures[i];
    require(finding.place.byte < text.size() && finding.place.byte >= before, "a place outside the log");
    require(finding.place.line >= 1 && finding.place.line <= whole.lines, "a line outside the log");
    require(finding.place.byte == pieces.failures[i].place.byte, "pieces change where it is found");
    require(finding.speaker < whole.speakers.size(), "nobody wrote it");
    before = finding.place.byte;
  }
  const Trace trace = log::trace_from_log(whole, "fuzz", text.size());
  require(trace.import.count_of("encoding") == 0, "a block of the writer that the reader refuses");
  const Stream& stream = trace.streams.front();
  require(stream.last_state().problems().undefined_heaps == 0, "an event of no heap");
  for (const FailureEvent& failure : stream.failures()) require(failure.heap != 0, "a failure of no heap");
}

}  // namespace

FUZZ_TARGET(fuzz_read_log, data, size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_log(bytes);
  read_log(
      "W bfc_allocator.cc:1] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.0KiB (rounded to 1024)\n"
      "I bfc_allocator.cc:2] BFCAllocator dump for GPU_0_bfc\n" +
      bytes);
  return 0;
}
