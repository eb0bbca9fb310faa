#include "analysis/read/log/log_format.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "analysis/read/gzip.h"
#include "analysis/read/log/log_reader.h"
#include "analysis/read/log/trace_from_log.h"
#include "analysis/read/trace_content.h"

namespace hbmscope {
namespace log {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Findings> read_stream(std::FILE* stream, const std::string& name, ReadControl* control) {
  LogReader reader;
  std::string piece(piece_bytes, '\0');
  std::uint64_t done = 0;
  while (true) {
    if (control != nullptr && control->cancelled) return Failure(refusal("reading was cancelled", {}, name));
    const std::size_t got = std::fread(piece.data(), 1, piece.size(), stream);
    if (got < piece.size() && std::ferror(stream) != 0) return Failure(reading_failed(name, done + got, errno));
    reader.feed(std::string_view(piece).substr(0, got));
    done += got;
    if (control != nullptr) control->done_bytes = done;
    if (got < piece.size()) return reader.finish();
  }
}

}  // namespace

Result<Findings> read_findings(InputFile& file, const FileOptions& options, ReadControl* control) {
  if (!file.is_gzip())
    if (std::FILE* stream = file.rewound_stream()) return read_stream(stream, file.name(), control);
  const auto bytes = file.bytes();
  if (!bytes) return Failure(bytes.error());
  ImportStatistics import;
  const auto text = unzip(*bytes, file.name(), options.max_inflated_bytes, import);
  if (!text) return Failure(text.error());
  LogReader reader;
  for (std::string_view rest = text_of(text->bytes); !rest.empty();) {
    if (control != nullptr && control->cancelled) return Failure(refusal("reading was cancelled", {}, file.name()));
    reader.feed(rest.substr(0, piece_bytes));
    rest.remove_prefix(std::min(piece_bytes, rest.size()));
  }
  return reader.finish();
}

namespace {

// Text in UTF-8 or any encoding of one byte.
bool is_text(InputFile& file) {
  const auto is_character = [](std::uint8_t byte) {
    return byte >= ' ' || (byte >= '\b' && byte <= '\r') || byte == '\x1b';
  };
  const auto first = file.beginning();
  return !first.empty() && std::all_of(first.begin(), first.end(), is_character);
}

Result<FileContent> read_log(InputFile& file, const FileOptions& options, ReadControl* control) {
  auto findings = read_findings(file, options, control);
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
};

}  // namespace hbmscope
