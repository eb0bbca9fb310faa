// The format rows of XLA's dumps. The buffer assignment of a module has the offsets of its values, the live ranges have
// their times. Whichever is opened, the other is looked up in the same folder.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "analysis/read/hlo/read_hlo.h"
#include "analysis/read/trace_content.h"

namespace hbmscope {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::string_view assignment_text = "buffer-assignment", live_range_text = "live-range";
constexpr std::string_view message = ".hlo.pb", ranges_of_message = "-live-range.txt";

// The file next to `file` whose name has `other` instead of `what`, unzipped; either may be gzipped.
struct Neighbour {
  std::string name;
  ByteBuffer file;
  Unzipped text;
};
std::optional<Neighbour> find_neighbour(const std::string& file, std::string_view what, std::string_view other,
                                        std::uint64_t max_inflated_bytes) {
  const std::filesystem::path path(file);
  std::string name = path.filename().string();
  const std::size_t at = name.rfind(what);
  if (at == std::string::npos) return std::nullopt;
  name.replace(at, what.size(), other);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const char* ending : {"", ".gz"}) {
    Neighbour found{(path.parent_path() / (name + ending)).string(), {}, {}};
    auto bytes = read_file(found.name, max_inflated_bytes);
    if (!bytes) continue;
    found.file = std::move(*bytes);
    ImportStatistics unused;
    auto text = unzip(found.file.bytes(), found.name, max_inflated_bytes, unused);
    if (!text) continue;
    found.text = std::move(*text);
    return found;
  }
  return std::nullopt;
}

// Some compilers write no times into the message, either.
Result<FileContent> read_assignment(InputFile& file, const FileOptions& options, ReadControl* control) {
  HloExtras more;
  std::optional<Neighbour> neighbour;
  for (const auto& [what, other] : {std::pair(assignment_text, live_range_text), std::pair(message, ranges_of_message)})
    if (!neighbour) neighbour = find_neighbour(file.name(), what, other, options.max_inflated_bytes);
  if (neighbour && looks_like_live_ranges(neighbour->text.bytes)) more.live_ranges = neighbour->text.bytes;
  return read_unzipped(file, options, [&](Bytes text) { return read_hlo(text, file.name(), control, more); });
}

Result<FileContent> read_live_ranges(InputFile& file, const FileOptions& options, ReadControl* control) {
  const auto neighbour = find_neighbour(file.name(), live_range_text, assignment_text, options.max_inflated_bytes);
  if (!neighbour || !looks_like_hlo(neighbour->text.bytes))
    return read_unzipped(file, options, [&](Bytes text) { return read_live_ranges_alone(text, file.name(), control); });
  return read_unzipped(file, options, [&](Bytes text) {
    return read_hlo(neighbour->text.bytes, neighbour->name, control, {text, std::nullopt});
  });
}

}  // namespace

constinit const Format hlo_format = {
    .name = "a dump of an XLA program",
    .looks_like = [](InputFile& file) { return looks_like_hlo(file.beginning()); },
    .read = read_assignment,
    .beginning = "one is an HloProto, HLO text, or a text of buffer assignment or memory usage",
    .hint = "XLA writes one with --xla_dump_to and --xla_dump_hlo_as_proto.",
};

constinit const Format live_range_format = {
    .name = "a text of XLA's live ranges",
    .looks_like = [](InputFile& file) { return looks_like_live_ranges(file.beginning()); },
    .read = read_live_ranges,
    .beginning = "one begins with HloLiveRange",
    .hint = "XLA writes one with --xla_dump_to, in the same folder as the text of the buffer assignment.",
};

}  // namespace hbmscope
