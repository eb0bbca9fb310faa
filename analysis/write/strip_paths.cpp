#include "analysis/write/strip_paths.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/query/profile_view.h"
#include "collector/wire/block_encoder.h"

namespace hbmscope {
namespace {

constexpr std::string_view separators = "/\\", stripped_fact = "hbmscope.stripped";

std::string_view base_name(std::string_view file) {
  const std::size_t at = file.find_last_of(separators);
  return at == std::string_view::npos ? file : file.substr(at + 1);
}

enum class PathKind : std::uint8_t { file, words };

// What the strings of a stream are used for, where it is a path.
class PathStrings {
 public:
  void note(const wire::DecodedBlock& block, const Definitions& definitions) {
    for (const wire::FrameRecord& record : block.rows<wire::FrameRecord>()) kinds_[record.file] = PathKind::file;
    for (const wire::ModuleRecord& record : block.rows<wire::ModuleRecord>()) kinds_[record.path] = PathKind::file;
    // A file's name that is a fact as well is a file's name.
    for (const wire::JobRecord& record : block.rows<wire::JobRecord>())
      if (!definitions.text(record.key).starts_with("hbmscope.")) kinds_.try_emplace(record.value, PathKind::words);
    for (const wire::StringRecord& record : block.rows<wire::StringRecord>()) last_id_ = std::max(last_id_, record.id);
  }

  std::string stripped(std::uint32_t string, std::string_view text) const {
    const auto found = kinds_.find(string);
    if (found == kinds_.end()) return std::string(text);
    return found->second == PathKind::file ? stripped_file(text) : stripped_words(text);
  }
  std::uint32_t last_id() const { return last_id_; }

 private:
  std::unordered_map<std::uint32_t, PathKind> kinds_;
  std::uint32_t last_id_ = 0;
};

using CopyRecord = void (*)(const wire::DecodedBlock&, const RecordPlace&, wire::BlockEncoder&);

template <class Record>
void copy_record(const wire::DecodedBlock& block, const RecordPlace& place, wire::BlockEncoder& out) {
  out.add(block.rows<Record>()[place.row], place.time_ns);
}

template <class... Records>
std::array<CopyRecord, wire::record_number_max + 1> copiers() {
  static_assert(sizeof...(Records) + 1 == wire::record_count, "all but strings");
  std::array<CopyRecord, wire::record_number_max + 1> table{};
  ((table[static_cast<std::size_t>(Records::kind)] = copy_record<Records>), ...);
  return table;
}

std::array<CopyRecord, wire::record_number_max + 1> all_copiers() {
  using namespace wire;
  return copiers<FrameRecord, StackRecord, ModuleRecord, HeapRecord, JobRecord, ClockRecord, LiveRecord, ListingRecord,
                 RegionLiveRecord, FreeSlotRecord, AllocRecord, FreeRecord, FreeRequestedRecord, FreeAtRecord,
                 FreeRequestedAtRecord, MoveRecord, AttributeRecord, RegionGrowRecord, RegionShrinkRecord,
                 HeapGoneRecord, PhysicalCreateRecord, PhysicalImportRecord, PhysicalExportRecord,
                 PhysicalReleaseRecord, ReserveRecord, UnreserveRecord, MapRecord, UnmapRecord, DriverRefusalRecord,
                 OutOfMemoryRecord, MarkerRecord, CounterRecord, LossRecord>();
}

wire::Block sealed(wire::BlockEncoder& encoder, std::uint32_t sequence) {
  wire::Block block = encoder.close();
  block.header.sequence = sequence;
  block.header.xxh3 = wire::compute_block_hash(block);
  return block;
}

bool has_paths(const wire::DecodedBlock& block, const PathStrings& paths) {
  const auto strings = block.rows<wire::StringRecord>();
  for (std::size_t i = 0; i < strings.size(); ++i)
    if (paths.stripped(strings[i].id, block.text(i)) != block.text(i)) return true;
  return false;
}

wire::Block stripped_block(const wire::DecodedBlock& block, const PathStrings& paths) {
  static const auto copiers_of_kind = all_copiers();
  const wire::BlockHeader& header = block.header();
  wire::BlockEncoder encoder(header.stream, header.type, header.first_event);
  for (RecordCursor cursor(block); !cursor.at_end();) {
    const RecordPlace place = cursor.next();
    if (place.kind == wire::RecordKind::string) {
      const wire::StringRecord& record = block.rows<wire::StringRecord>()[place.row];
      encoder.add(record, place.time_ns, paths.stripped(record.id, block.text(place.row)));
    } else {
      copiers_of_kind.at(static_cast<std::size_t>(place.kind))(block, place, encoder);
    }
  }
  return sealed(encoder, header.sequence);
}

// A block of its own behind the last one: ids of strings ascend.
wire::Block stripped_note(const Stream& stream, std::uint32_t number, std::uint32_t last_id) {
  wire::BlockEncoder encoder(number, wire::BlockType::events, stream.end_position());
  const std::int64_t time_ns = stream.last_time_ns();
  wire::JobRecord fact;
  for (const auto& [id, text] :
       {std::pair(&fact.key, stripped_fact), std::pair(&fact.value, std::string_view("paths"))}) {
    wire::StringRecord record;
    record.id = *id = ++last_id;
    encoder.add(record, time_ns, text);
  }
  encoder.add(fact, time_ns);
  return sealed(encoder, stream.blocks().empty() ? 0 : stream.blocks().back()->header.sequence + 1);
}

}  // namespace

std::string stripped_file(std::string_view file) {
  std::string base(base_name(file));
  if (base.size() == file.size()) return base;
  if (base.empty()) return "…";
  // C++ of a distribution, relative to where it was built, is known by having no folder (file_names.cpp).
  if (file.starts_with("./") || file.starts_with("../")) return is_library_file(file) ? base : "…/" + base;
  if (file_tail(file) == "<notebook>") return "…/ipykernel_/" + base;
  if (package_of(file, {}) == "<python>") return "…/lib/python3/" + base;
  return (is_library_file(file) ? "…/site-packages/" : "…/") + base;
}

std::string stripped_words(std::string_view text) {
  constexpr std::string_view between = " \t\r\n\"'=,;:()[]{}|&<>";
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(between), text.size());
    const std::string_view word = text.substr(0, end), base = base_name(word);
    const bool is_path = base.size() < word.size() && word.find_first_not_of("0123456789/") != std::string_view::npos;
    const bool is_root_only = base.size() < word.size() && word.find_first_not_of(separators) == std::string_view::npos;
    if (!is_path || is_root_only)
      out += word;
    else
      out += base.empty() ? std::string("…") : "…/" + std::string(base);
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Result<void> for_each_stripped_block(const Stream& stream, std::uint32_t number, PassControl* control,
                                     const std::function<bool(const wire::Block&)>& visit) {
  if (stream.counts().unknown_records > 0)
    return Failure(Error{"this recording has records of a newer version, which may hold paths",
                         "Strip it with a newer hbmscope.",
                         {},
                         {},
                         false});
  const std::uint64_t end = stream.end_position();
  PathStrings paths;
  const bool is_whole = pass_over_blocks(stream, end, nullptr, [&](const wire::DecodedBlock& block, std::size_t) {
    paths.note(block, stream.definitions());
  });
  bool goes_on = is_whole;
  pass_over_blocks(stream, end, control, [&](const wire::DecodedBlock& block, std::size_t at) {
    if (!goes_on) return;
    goes_on = has_paths(block, paths) ? visit(stripped_block(block, paths)) : visit(*stream.blocks()[at]);
  });
  if (goes_on && (control == nullptr || !control->cancelled) && stream.definitions().job_fact(stripped_fact).empty())
    visit(stripped_note(stream, number, paths.last_id()));
  return {};
}

}  // namespace hbmscope
