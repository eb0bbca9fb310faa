#include <algorithm>
#include <array>
#include <cctype>

#include "analysis/read/tpu_oom/tpu_report.h"
#include "analysis/read/word_cursor.h"
#include "analysis/units/ascii.h"

namespace hbmscope::tpu_oom {
namespace {

constexpr std::size_t npos = std::string_view::npos;
constexpr std::size_t headline_bytes_max = 4096;  // Some contain a kernel's whole HLO instruction.
constexpr std::size_t reason_bytes_max = 400;
constexpr std::uint64_t word_bytes = 4;  // In SparseCore memories.

PrintedBytes exact(std::uint64_t bytes) {
  return {bytes, 0};
}

MaybeBytes sum(const MaybeBytes& a, const MaybeBytes& b) {
  if (!a || !b) return std::nullopt;
  return PrintedBytes{a->bytes + b->bytes, a->error + b->error};
}

// "0x0x1_HBM0": the memory after the last '_', without its number.
std::string space_of_device_name(std::string name) {
  name.erase(0, name.rfind('_') + 1);
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.pop_back();
  return lower(name);
}

// 'NAME' in "Error loading program 'NAME':", a little before the headline.
std::string program_before(std::string_view text, std::size_t at) {
  constexpr std::size_t look_back = 256;
  constexpr std::string_view words = "Error loading program '";
  const std::size_t from = at > look_back ? at - look_back : 0;
  const std::string_view before = text.substr(from, at - from);
  const std::size_t found = before.rfind(words);
  if (found == npos) return {};
  const std::string_view name = before.substr(found + words.size());
  return std::string(name.substr(0, name.find('\'')));
}

bool read_used_of(WordCursor& cursor, Report& report) {
  if (!cursor.take(". Used")) return false;
  report.used = cursor.take_size();
  if (!report.used || !cursor.take("of")) return false;
  report.limit = cursor.take_size();
  report.requested = report.used;
  cursor.take_name();
  cursor.take(".");
  WordCursor more = cursor;
  if (more.take("Exceeded")) {
    more.take_name();
    if (more.take("capacity by")) {
      report.exceeded = more.take_size();
      cursor = more;
    }
  }
  return report.limit.has_value();
}

bool read_scoped(std::string_view text, WordCursor& cursor, Report& report) {
  if (!cursor.take("while allocating on stack for")) return false;
  report.form = Form::scoped;
  WordCursor name = cursor;
  name.take("%");
  report.program = name.take_name();
  const std::string_view near = text.substr(0, std::min(text.size(), cursor.offset() + headline_bytes_max));
  const std::size_t found = find_words(near, "Scoped allocation with size", cursor.offset());
  const std::size_t next = find_words(near, "Ran out of memory", cursor.offset());
  if (found == npos || next < found) return true;  // The sizes are cut off.
  cursor.move_to(found);
  cursor.take("Scoped allocation with size");
  report.requested = cursor.take_size();
  if (cursor.take("and limit")) report.limit = cursor.take_size();
  if (cursor.take("exceeded scoped")) cursor.take_name();
  if (cursor.take("limit by")) report.exceeded = cursor.take_size();
  return true;
}

// "Ran out of memory in memory space hbm. Used ...", "... on HBM, the total memory required ..."
bool read_ran_out(std::string_view text, WordCursor& cursor, Report& report) {
  cursor.take("Ran out of memory");
  if (cursor.take("in memory space")) {
    report.memory_space = lower(cursor.take_name());
    if (report.memory_space.empty()) return false;
    WordCursor scoped = cursor;
    if (read_scoped(text, scoped, report)) {
      cursor = scoped;
      return true;
    }
    // The name ends the sentence, so its full stop was read too.
    cursor.move_to(cursor.offset() - (text[cursor.offset() - 1] == '.' ? 1 : 0));
    return read_used_of(cursor, report);
  }
  if (!cursor.take("on")) return false;
  report.form = Form::required;
  report.memory_space = lower(cursor.take_name());
  if (report.memory_space.empty() || !cursor.take_until("(", reason_bytes_max)) return false;
  report.requested = cursor.take_size();
  if (!report.requested || !cursor.take(") exceeds available") || !cursor.take_until("(", reason_bytes_max))
    return false;
  report.limit = cursor.take_size();  // What the device has, not what was left of it.
  cursor.take(")");
  cursor.take(".");
  if (cursor.take("HLO module:")) report.program = cursor.take_name();
  return true;
}

// The contents of the brackets after " :: #allocation3 ".
void read_allocation_place(std::string_view place, Report& report) {
  Allocation allocation;
  allocation.is_whole = true;
  allocation.size = report.requested;
  const auto after = [&](std::string_view key) {
    const std::size_t found = place.find(key);
    return found == npos ? std::string_view() : place.substr(found + key.size());
  };
  const std::string_view shape = after("shape = '"), tag = after("tag = '");
  allocation.shape = shape.substr(0, shape.find('\''));
  allocation.tag = tag.substr(0, tag.rfind('\''));  // It may contain quotes; the last one in the brackets ends it.
  const std::size_t space = place.find("space=");
  if (space != npos) {
    WordCursor cursor(place, space + 6);
    report.memory_space = lower(cursor.take_name());
  }
  report.program_allocations.push_back(std::move(allocation));
}

bool read_allocation(WordCursor& cursor, Report& report) {
  report.form = Form::allocation;
  cursor.take("Allocation (size=");
  const auto requested = cursor.take_number();
  if (!requested || !cursor.take(") would exceed memory (size=")) return false;
  const auto limit = cursor.take_number();
  if (!limit || !cursor.take(")")) return false;
  report.requested = exact(*requested);
  report.limit = exact(*limit);
  WordCursor place = cursor;
  if (!place.take("::") || !place.take_until("[", reason_bytes_max)) return true;
  auto inside = place.take_until("] ::", headline_bytes_max);
  if (!inside) return true;
  read_allocation_place(*inside, report);
  cursor = place;
  if (!cursor.take("<no-hlo-instruction>")) report.program = cursor.take_name();
  report.program_allocations.back().label = report.program;
  return true;
}

bool read_cores(WordCursor& cursor, Report& report) {
  report.form = Form::cores;
  report.memory_space = "hbm";
  cursor.take("TPU TensorCore Hbm usage:");
  const MaybeBytes tensor = cursor.take_size();
  if (!cursor.take(", SparseCore Hbm usage")) return false;
  const MaybeBytes sparse = cursor.take_size();
  if (!cursor.take(", exceeding available bytes:")) return false;
  report.limit = cursor.take_size();  // As above.
  report.requested = sum(tensor, sparse);
  report.program_parts = {{"TensorCore", tensor}, {"SparseCore", sparse}};
  return report.requested && report.limit;
}

bool read_early(WordCursor& cursor, Report& report) {
  report.form = Form::early;
  report.memory_space = "hbm";
  cursor.take("Aborting compilation early");
  if (!cursor.take("because it's unlikely to have enough memory. Requires")) return false;
  report.requested = cursor.take_size();
  if (!report.requested || !cursor.take(", has")) return false;
  report.limit = cursor.take_size();
  cursor.take("available");
  return report.limit.has_value();
}

bool read_attempt(std::string_view text, WordCursor& cursor, Report& report) {
  report.memory_space = "hbm";
  report.program = program_before(text, cursor.offset());
  const bool is_reservation = cursor.take("Attempting to reserve");
  if (!is_reservation) cursor.take("Attempting to allocate");
  report.form = is_reservation || !report.program.empty() ? Form::program : Form::buffer;
  report.requested = cursor.take_size();
  cursor.take("at the bottom of memory");
  if (!report.requested || !cursor.take(". That was not possible. There are")) return false;
  report.free = cursor.take_size();
  if (!report.free || !cursor.take("free")) return false;
  if (cursor.take(",")) {
    report.reserved = cursor.take_size();
    if (cursor.take("reserved, and")) report.largest_free = cursor.take_size();
    cursor.take("reservable");
  }
  cursor.take(".");
  if (cursor.take("Due to fragmentation, the largest contiguous region of free memory is")) {
    report.largest_free = cursor.take_size();
    cursor.take(".");
  }
  if (cursor.take("; (")) {
    const std::string space = space_of_device_name(cursor.take_name());
    if (!space.empty()) report.memory_space = space;
    cursor.take(")");
  }
  return true;
}

bool read_could_not(WordCursor& cursor, Report& report) {
  report.form = Form::program;
  cursor.take("Could not allocate");
  const auto requested = cursor.take_number();
  if (!requested || !cursor.take("bytes in memory")) return false;
  report.memory_space = space_of_device_name(cursor.take_name());
  if (report.memory_space.empty() || !cursor.take(";")) return false;
  const auto allocatable = cursor.take_number();
  if (!allocatable || !cursor.take("bytes allocatable,")) return false;
  const auto available = cursor.take_number();
  if (!available || !cursor.take("bytes available")) return false;
  report.requested = exact(*requested);
  report.largest_free = exact(*allocatable);
  report.free = exact(*available);
  return true;
}

// SparseCore memory numbers in compiler errors: openxla.org/xla/errors/error_3000.
std::string sparse_space(std::uint64_t number) {
  switch (number) {
    case 0: return "smem";
    case 201: return "tilespmem";
    case 202: return "spmem";
    case 203: return "hbm";
    case 204: return "sflag";
    default: return {};
  }
}

bool read_sparse(WordCursor& cursor, Report& report) {
  constexpr std::uint64_t words_max = std::uint64_t{1} << 56;
  report.form = Form::sparse;
  cursor.take("current allocation offset upper bound (");
  const auto bound = cursor.take_number();
  if (!bound || !cursor.take("words) exceeds the legitimate user allocatable offset upper bound (")) return false;
  const auto limit = cursor.take_number();
  if (!limit || !cursor.take("words) in memory space")) return false;
  const auto space = cursor.take_number();
  if (!space || !cursor.take("when allocating")) return false;
  const auto requested = cursor.take_number();
  if (!requested || !cursor.take("words") || std::max({*requested, *limit, *bound}) > words_max) return false;
  report.memory_space = sparse_space(*space);
  report.requested = exact(*requested * word_bytes);
  report.limit = exact(*limit * word_bytes);
  if (*bound >= *requested) report.used = exact((*bound - *requested) * word_bytes);
  return true;
}

// Lines of "Key: value"; they describe a device's state, not a failure.
bool read_statistics(WordCursor& cursor, Report& report) {
  report.form = Form::statistics;
  report.memory_space = "hbm";
  cursor.take("Num Allocs:");
  if (!cursor.take_number() || !cursor.take("In Use:")) return false;
  report.used = cursor.take_size();
  if (!cursor.take("Peak In Use:") || !cursor.take_size() || !cursor.take("Largest Alloc Size:") ||
      !cursor.take_size() || !cursor.take("Limit:"))
    return false;
  report.limit = cursor.take_size();
  if (cursor.take("Reserved:")) report.reserved = cursor.take_size();
  if (cursor.take("Peak Reserved:")) cursor.take_size();
  if (cursor.take("Reservable Limit:")) cursor.take_size();
  if (cursor.take("Largest Free Block:")) report.largest_free = cursor.take_size();
  return report.used && report.limit;
}

enum class Anchor : std::uint8_t {
  ran_out,
  allocation,
  cores,
  early,
  reserve,
  allocate,
  could_not,
  sparse,
  statistics
};
constexpr std::string_view totals_words = "Total hbm usage >=";

struct AnchorWords {
  Anchor anchor;
  std::string_view words;
};
constexpr std::array anchors = {
    AnchorWords{Anchor::ran_out, "Ran out of memory in memory"},
    AnchorWords{Anchor::ran_out, "Ran out of memory on"},
    AnchorWords{Anchor::allocation, "Allocation (size="},
    AnchorWords{Anchor::cores, "TPU TensorCore Hbm usage:"},
    AnchorWords{Anchor::early, "Aborting compilation early"},
    AnchorWords{Anchor::reserve, "Attempting to reserve"},
    AnchorWords{Anchor::allocate, "Attempting to allocate"},
    AnchorWords{Anchor::could_not, "Could not allocate"},
    AnchorWords{Anchor::sparse, "current allocation offset upper bound ("},
    AnchorWords{Anchor::statistics, "Num Allocs:"},
};

bool read_at(std::string_view text, Anchor anchor, WordCursor& cursor, Report& report) {
  switch (anchor) {
    case Anchor::ran_out: return read_ran_out(text, cursor, report);
    case Anchor::allocation: return read_allocation(cursor, report);
    case Anchor::cores: return read_cores(cursor, report);
    case Anchor::early: return read_early(cursor, report);
    case Anchor::reserve:
    case Anchor::allocate: return read_attempt(text, cursor, report);
    case Anchor::could_not: return read_could_not(cursor, report);
    case Anchor::sparse: return read_sparse(cursor, report);
    case Anchor::statistics: return read_statistics(cursor, report);
  }
  return false;
}

// After a report, some clients print it again as a truncated serialised message: "[type.googleapis.com/...='\x08".
bool is_in_serialised_copy(std::string_view text, std::size_t at) {
  constexpr std::size_t look_back = 512;
  const std::size_t from = at > look_back ? at - look_back : 0;
  const std::string_view before = text.substr(from, at - from);
  return before.substr(before.rfind('\n') + 1).find("type.googleapis.com/") != npos;  // npos + 1 is 0.
}

// Scans the text once per anchor, however many reports there are.
class ReportFinder {
 public:
  explicit ReportFinder(std::string_view text) : text_(text) { next_.fill(0); }

  // The next report that begins at `from` or later.
  std::optional<Report> find(std::size_t from) {
    for (std::size_t i = 0; i < anchors.size(); ++i)
      if (next_[i] != npos && (next_[i] < from || !is_found_[i])) look(i, from);
    while (true) {
      const auto first = std::min_element(next_.begin(), next_.end());
      if (*first == npos) return std::nullopt;
      const auto number = static_cast<std::size_t>(first - next_.begin());
      Report report;
      report.begin = *first;
      WordCursor cursor(text_, report.begin);
      if (!is_in_serialised_copy(text_, report.begin) && read_at(text_, anchors[number].anchor, cursor, report)) {
        report.end = cursor.offset();
        report.headline = in_one_line(text_.substr(report.begin, report.end - report.begin), reason_bytes_max);
        return report;
      }
      look(number, *first + 1);
    }
  }

 private:
  void look(std::size_t anchor, std::size_t from) {
    next_[anchor] = find_words(text_, anchors[anchor].words, from);
    is_found_[anchor] = true;
  }

  std::string_view text_;
  std::array<std::size_t, anchors.size()> next_;
  std::array<bool, anchors.size()> is_found_{};
};

}  // namespace

bool may_have_report(std::string_view text) {
  return find_words(text, totals_words, 0) != npos ||
         std::any_of(anchors.begin(), anchors.end(),
                     [&](const AnchorWords& each) { return find_words(text, each.words, 0) != npos; });
}

std::vector<Report> find_reports(std::string_view text, std::size_t most) {
  std::vector<Report> reports;
  ReportFinder finder(text);
  std::size_t from = 0;
  while (reports.size() < most) {
    auto report = finder.find(from);
    if (!report) break;
    from = std::max(report->end, report->begin + 1);
    reports.push_back(std::move(*report));
  }
  // A text that begins within a report.
  if (const std::size_t totals = reports.empty() ? find_words(text, totals_words, 0) : npos; totals != npos) {
    WordCursor cursor(text, totals);
    cursor.take(totals_words);
    Report report;
    report.memory_space = "hbm";
    report.requested = cursor.take_size();
    report.begin = report.end = totals;
    report.headline = in_one_line(text.substr(totals, cursor.offset() - totals), reason_bytes_max);
    if (report.requested) reports.push_back(std::move(report));
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].form != Form::compile) continue;
    read_tables(text, i + 1 < reports.size() ? reports[i + 1].begin : text.size(), reports[i]);
  }
  return reports;
}

}  // namespace hbmscope::tpu_oom
