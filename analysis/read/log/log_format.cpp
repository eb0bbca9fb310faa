#include "analysis/read/log/log_format.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/read/log/log_reader.h"
#include "analysis/read/log/trace_from_log.h"
#include "analysis/read/other_format.h"
#include "analysis/read/trace_content.h"
#include "analysis/trace/join_traces.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace log {
namespace {

// A text of two bytes a character, as PowerShell writes it, piece by piece as UTF-8. What isn't ASCII becomes '?': no
// sentence that is looked for has it.
class Utf16 {
 public:
  // Nothing if the file doesn't begin as one.
  static std::optional<Utf16> of(std::span<const std::uint8_t> beginning) {
    if (beginning.size() < 2) return std::nullopt;
    const bool is_little = beginning[0] == 0xff && beginning[1] == 0xfe;
    const bool is_big = beginning[0] == 0xfe && beginning[1] == 0xff;
    return is_little || is_big ? std::optional(Utf16(is_big)) : std::nullopt;
  }

  std::string decode(std::span<const std::uint8_t> bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) {
      if (!first_) {
        first_ = byte;
        continue;
      }
      const unsigned unit =
          is_big_ ? static_cast<unsigned>(*first_) << 8U | byte : static_cast<unsigned>(byte) << 8U | *first_;
      first_.reset();
      if (unit != 0xfeff) text += unit < 0x80 ? static_cast<char>(unit) : '?';
    }
    return text;
  }

 private:
  explicit Utf16(bool is_big) : is_big_(is_big) {}

  bool is_big_;
  std::optional<std::uint8_t> first_;  // The first byte of a character whose second one is in the next piece.
};

// Error: nothing can be seen in it.
Result<Findings> read_findings(InputFile& file) {
  constexpr std::size_t piece_bytes = std::size_t{256} << 10;  // It stays in the processor's cache.
  LogReader reader;
  auto wide = Utf16::of(file.beginning());
  std::vector<std::uint8_t> piece(piece_bytes);
  bool has_text = false;
  while (true) {
    const auto got = file.read_next(piece);
    if (!got) return Failure(got.error());
    if (*got == 0) break;
    const auto bytes = std::span(piece).first(*got);
    has_text = has_text || !is_blank(bytes);
    if (wide)
      reader.feed(wide->decode(bytes));
    else
      reader.feed({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  if (!has_text)
    return Failure(other_format("this is a blank file", "Did the job write its output elsewhere?", file.name()));
  return reader.finish();
}

std::string_view name_of(const InputFile& file) {
  const std::string_view path = file.name();
  return path.substr(path.rfind('/') + 1);
}

bool is_named_as_log(std::string_view name) {
  constexpr std::string_view endings[] = {".log", ".txt", ".out", ".err"};
  return std::any_of(std::begin(endings), std::end(endings), [&](auto ending) { return name.ends_with(ending); });
}

// Text in UTF-8, UTF-16 with its mark, or any encoding of one byte.
bool is_text(InputFile& file) {
  if (Utf16::of(file.beginning())) return true;
  const bool may_have_holes = is_named_as_log(name_of(file)) && !find_other_format(file.beginning()).is_sure;
  const auto is_character = [&](std::uint8_t byte) {
    return byte >= ' ' || (byte >= '\b' && byte <= '\r') || byte == '\x1b' || (byte == 0 && may_have_holes);
  };
  const auto first = file.beginning();
  return !first.empty() && std::all_of(first.begin(), first.end(), is_character);
}

struct LogPiece : FilePiece {
  LogPiece(Findings said, std::string file_name, std::uint64_t bytes)
      : FilePiece(log_format), findings(std::move(said)), file(std::move(file_name)), file_bytes(bytes) {}
  Findings findings;
  std::string file;
  std::uint64_t file_bytes;
};

Result<FileContent> read_log(InputFile& file, const FileOptions& options, ReadControl*) {
  auto findings = read_findings(file);
  if (!findings) return Failure(std::move(findings.error()));
  // That a log doesn't say that memory ran out is an answer; of another text it would be none.
  const bool may_be_any_text = !is_named_as_log(name_of(file)) && name_of(file).find('.') != std::string_view::npos;
  if (findings->say_nothing() && may_be_any_text) return FileContent{};
  const std::uint64_t bytes = file.size().value_or(0);
  auto content = content_from_trace(trace_from_log(*findings, file.name(), bytes));
  if (content && options.keeps_pieces)
    content->piece = std::make_shared<LogPiece>(*std::move(findings), file.name(), bytes);
  return content;
}

// A verdict on a failure in another file doesn't count as a second one.
std::vector<JoinedContent> join_verdicts(std::vector<FileContent> files) {
  const auto piece_of = [&](std::size_t i) -> const LogPiece& { return static_cast<const LogPiece&>(*files[i].piece); };
  std::vector<std::vector<std::size_t>> groups;  // The first one is the job's own.
  std::vector<bool> is_taken(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::vector<std::size_t> group{i};
    for (std::size_t j = 0; j < files.size(); ++j)
      if (j != i && !is_taken[j] && has_only_verdicts_on(piece_of(j).findings, piece_of(i).findings)) {
        is_taken[j] = true;
        group.push_back(j);
      }
    groups.push_back(std::move(group));
  }
  std::vector<JoinedContent> joined;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (is_taken[i]) continue;
    JoinedContent one{files[i], groups[i]};
    std::vector<std::shared_ptr<const Trace>> traces{files[i].trace};
    for (std::size_t j = 1; j < groups[i].size(); ++j) {
      const LogPiece& output = piece_of(groups[i][j]);
      Findings rest = output.findings;
      rest.failures.clear();
      traces.push_back(content_from_trace(trace_from_log(rest, output.file, output.file_bytes))->trace);
    }
    if (traces.size() > 1) one.trace = std::make_shared<Trace>(join_traces(traces));
    std::sort(one.files.begin(), one.files.end());
    joined.push_back(std::move(one));
  }
  return joined;
}

}  // namespace
}  // namespace log

constinit const Format log_format = {
    .name = "a log of a job that ran out of memory",
    .other_endings = ".log .txt .out .err",
    .looks_like = log::is_text,
    .read = log::read_log,
    .join = log::join_verdicts,
    .beginning = "no line of it says that memory ran out",
    .hint = "Give the job's whole output, or the text of the error alone.",
    .is_any_text = true,
};

}  // namespace hbmscope
