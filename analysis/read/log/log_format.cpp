#include "analysis/read/log/log_format.h"

#include <algorithm>
#include <vector>

#include "analysis/read/log/log_reader.h"
#include "analysis/read/log/trace_from_log.h"
#include "analysis/read/trace_content.h"

namespace hbmscope {
namespace log {
namespace {

Result<Findings> read_findings(InputFile& file) {
  constexpr std::size_t piece_bytes = std::size_t{256} << 10;  // It stays in the processor's cache.
  LogReader reader;
  std::vector<std::uint8_t> piece(piece_bytes);
  while (true) {
    const auto got = file.read_next(piece);
    if (!got) return Failure(got.error());
    if (*got == 0) return reader.finish();
    reader.feed({reinterpret_cast<const char*>(piece.data()), *got});
  }
}

// Text in UTF-8 or any encoding of one byte.
bool is_text(InputFile& file) {
  const auto is_character = [](std::uint8_t byte) {
    return byte >= ' ' || (byte >= '\b' && byte <= '\r') || byte == '\x1b';
  };
  const auto first = file.beginning();
  return !first.empty() && std::all_of(first.begin(), first.end(), is_character);
}

Result<FileContent> read_log(InputFile& file, const FileOptions&, ReadControl*) {
  auto findings = read_findings(file);
  if (!findings) return Failure(std::move(findings.error()));
  if (findings->failures.empty() && findings->accountings.empty()) return FileContent{};
  return content_from_trace(trace_from_log(*findings, file.name(), file.size().value_or(0)));
}

}  // namespace
}  // namespace log

constinit const Format log_format = {
    .name = "a log of a job that ran out of memory",
    .other_endings = ".log .txt .out .err",
    .looks_like = log::is_text,
    .read = log::read_log,
    .beginning = "no line of it says that memory ran out",
    .hint = "Give the job's whole output, or the text of the error alone.",
    .is_any_text = true,
};

}  // namespace hbmscope
