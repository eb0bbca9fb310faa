#include "analysis/read/bfc/bfc_line.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace hbmscope::bfc {
namespace {

struct Beginning {
  std::string_view words;
  LineKind kind;
};
constexpr std::array beginnings = {
    Beginning{"BFCAllocator dump for", LineKind::begin},
    Beginning{"Bin (", LineKind::bin},
    Beginning{"Bin for ", LineKind::request_bin},
    Beginning{"Next region of size ", LineKind::region},
    Beginning{"InUse at ", LineKind::chunk},
    Beginning{"Free at ", LineKind::chunk},
    Beginning{"Free  at ", LineKind::chunk},
    Beginning{"Chunk at ", LineKind::chunk},
    Beginning{"Summary of in-use Chunks by size", LineKind::by_size},
    Beginning{"Sum Total of in-use chunks:", LineKind::in_use_sum},
    Beginning{"total_region_allocated_bytes_:", LineKind::pool},
    Beginning{"Total bytes in pool:", LineKind::pool},
    Beginning{"Total size in pool:", LineKind::pool},
    Beginning{"Allocator memory summary:", LineKind::pool},
    Beginning{"Allocator region growth hint:", LineKind::growth},
    Beginning{"Spatial partitioning summary", LineKind::growth},
    Beginning{"Stats:", LineKind::statistics},
    Beginning{"Current allocation summary follows", LineKind::follows},
    Beginning{"If the cause is memory fragmentation", LineKind::follows},
    Beginning{"If this is caused by memory fragmentation", LineKind::follows},
};

constexpr std::string_view statistic_names[] = {
    "Limit:",        "InUse:",         "MaxInUse:",      "NumAllocs:", "MaxAllocSize:",    "Reserved:",
    "PeakReserved:", "PeakAllocated:", "PeakPoolBytes:", "PoolBytes:", "LargestFreeBlock:"};

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The thread in "I1124 23:15:32.990304   29543 bfc_allocator.cc:1121": the number before the file, alone between
// blanks.
std::uint64_t thread_before(std::string_view prefix) {
  const std::size_t file = prefix.find_last_of(" \t");
  if (file == std::string_view::npos) return 0;
  std::string_view before = without_blanks(prefix.substr(0, file));
  before = before.substr(before.find_last_of(" \t") + 1);
  std::uint64_t thread = 0;
  const auto parsed = std::from_chars(before.data(), before.data() + before.size(), thread);
  return parsed.ec == std::errc() && parsed.ptr == before.data() + before.size() ? thread : 0;
}

bool is_map(std::string_view text) {
  constexpr std::size_t shortest = 50;
  return text.size() >= shortest && text.find_first_not_of("*_x") == std::string_view::npos;
}

bool is_size_count(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && text.substr(digits).starts_with(" Chunks of size ");
}

LineKind kind_of(std::string_view text) {
  if (text.empty()) return LineKind::other;
  // Most lines have none of them, so the first letter is compared before the rest.
  const auto begins = [&](std::string_view words) { return text.front() == words.front() && text.starts_with(words); };
  for (const Beginning& each : beginnings)
    if (begins(each.words)) return each.kind;
  if (text.starts_with("Size: ") && text.find("| in_use:") != std::string_view::npos) return LineKind::bin_chunk;
  if (text.starts_with("Allocator (") && text.find(") ran out of memory trying to allocate ") != std::string_view::npos)
    return text.find("with freed_by_count=") != std::string_view::npos ? LineKind::no_retry : LineKind::headline;
  if (is_size_count(text)) return LineKind::by_size;
  if (is_map(text)) return LineKind::map;
  for (const std::string_view name : statistic_names)
    if (begins(name)) return LineKind::statistic;
  return LineKind::other;
}

// The size after the words, anywhere in the text.
MaybeBytes size_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  return WordCursor(text, at + words.size()).take_size();
}

End end_of_name(std::string_view name) {
  if (name.starts_with("lower")) return End::lower;
  if (name.starts_with("upper")) return End::upper;
  return name.starts_with("central_gap") ? End::gap : End::unknown;
}

std::optional<std::uint64_t> hexadecimal(std::string_view& text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (parsed.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return value;
}

}  // namespace

Line classify_line(std::string_view text) {
  constexpr std::string_view file = "bfc_allocator.cc:";
  Line line;
  const std::size_t found = text.find(file);
  if (found != std::string_view::npos) {
    const std::size_t bracket = text.find(']', found);
    if (bracket != std::string_view::npos && bracket - found < file.size() + 8) {
      line.has_prefix = true;
      line.thread = thread_before(text.substr(0, found));
      text.remove_prefix(bracket + 1);
    }
  }
  line.text = without_blanks(text);
  line.kind = kind_of(line.text);
  if (line.kind == LineKind::other && !line.has_prefix) {
    // A headline may stand behind words of the job's own logger.
    const std::size_t headline = line.text.find("Allocator (");
    if (headline != std::string_view::npos && headline > 0) {
      const LineKind kind = kind_of(line.text.substr(headline));
      if (kind != LineKind::other) {
        line.kind = kind;
        line.text.remove_prefix(headline);
      }
    }
  }
  return line;
}

void read_headline(std::string_view text, Dump& dump) {
  dump.headline = in_one_line(text, 400);
  WordCursor cursor(text, 0);
  cursor.take("Allocator (");
  dump.allocator = cursor.take_until(")", 256).value_or("");
  if (!cursor.take("ran out of memory trying to allocate")) return;
  dump.requested = cursor.take_size();
  if (cursor.take("(rounded to")) {
    dump.rounded = cursor.take_number();
    cursor.take(")");
  }
  if (cursor.take("from the")) dump.end = end_of_name(cursor.take_name());
  constexpr std::string_view by = "requested by op ";
  const std::size_t op = text.find(by);
  if (op != std::string_view::npos) dump.op = without_blanks(text.substr(op + by.size()));
  if (dump.op == "<unknown>") dump.op.clear();
  dump.is_performance_note = text.find("not a failure") != std::string_view::npos;
}

void read_begin(std::string_view text, Dump& dump) {
  text.remove_prefix(std::string_view("BFCAllocator dump for").size());
  dump.allocator = without_blanks(text);
}

void read_bin(std::string_view text, Dump& dump) {
  WordCursor cursor(text, 0);
  Bin bin;
  cursor.take("Bin (");
  const auto size = cursor.take_number();
  if (!size || !cursor.take("): Total Chunks:")) return;
  const auto chunks = cursor.take_number();
  if (!chunks || !cursor.take(", Chunks in use:")) return;
  const auto in_use = cursor.take_number();
  if (!in_use) return;
  bin.size = *size;
  bin.chunks = *chunks;
  bin.chunks_in_use = *in_use;
  cursor.take(".");
  bin.bytes = cursor.take_size();
  cursor.take("allocated for chunks.");
  bin.in_use = cursor.take_size();
  cursor.take("in use in bin.");
  bin.requested = cursor.take_size();
  dump.bins.push_back(bin);
}

void read_bin_chunk(std::string_view text, Dump& dump) {
  WordCursor cursor(text, 0);
  cursor.take("Size:");
  if (const MaybeBytes size = cursor.take_size()) dump.free_in_bin.push_back(*size);
}

void read_pool(std::string_view text, Dump& dump) {
  const auto read = [&](std::string_view words, MaybeBytes& into) {
    if (const MaybeBytes size = size_after(text, words)) into = size;
  };
  read("total_region_allocated_bytes_: ", dump.pool);
  read("Total bytes in pool: ", dump.pool);
  read("Total size in pool: ", dump.pool);
  read("memory_limit_: ", dump.limit);
  read("available bytes: ", dump.unallocated);
  read("available size: ", dump.unallocated);
  read("total free in pool ", dump.total_free);
  read("unallocated bytes ", dump.unallocated);
  read("pool size ", dump.pool);
  read("pool limit ", dump.limit);
  constexpr std::string_view largest = "largest free chunk";
  if (const std::size_t at = text.find(largest); at != std::string_view::npos) {
    // "usable by lower end" may stand between.
    const std::size_t digit = text.find_first_of("0123456789", at);
    if (digit != std::string_view::npos) dump.largest_free = WordCursor(text, digit).take_size();
  }
}

void read_statistic(std::string_view text, Dump& dump) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  WordCursor cursor(text, colon + 1);
  if (name == "NumAllocs") {
    dump.allocations = cursor.take_number();
    return;
  }
  const MaybeBytes size = cursor.take_size();
  if (!size) return;
  if (name == "Limit") dump.limit = size->error == 0 || !dump.limit ? size : dump.limit;
  if (name == "InUse") dump.in_use = size;
  if (name == "MaxInUse") dump.peak_in_use = size;
  if (name == "MaxAllocSize") dump.largest_allocation = size;
  // Older versions print 0 because they don't compute it.
  if (name == "LargestFreeBlock" && size->bytes > 0 && !dump.largest_free) dump.largest_free = size;
}

std::optional<ChunkLine> read_chunk(std::string_view text) {
  ChunkLine line;
  line.chunk.is_in_use = !text.starts_with("Free");
  text = without_blanks(text.substr(text.find("at ") + 3));
  const auto address = hexadecimal(text);
  constexpr std::string_view of_size = " of size ", next = " next ";
  if (!address) return std::nullopt;
  if (text.starts_with(next)) text.remove_prefix(std::min(text.find(of_size), text.size()));  // TensorFlow 2.0.
  if (!text.starts_with(of_size)) return std::nullopt;
  text.remove_prefix(of_size.size());
  std::uint64_t size = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), size);
  if (parsed.ec != std::errc() || size == 0 || *address + size < *address) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  line.chunk.address = *address;
  line.chunk.size = size;
  if (const std::size_t tag = text.find(" tag "); tag != std::string_view::npos)
    line.chunk.end = end_of_name(text.substr(tag + 5));
  if (line.chunk.end == End::gap) line.chunk.is_in_use = false;
  constexpr std::string_view annotated = "allocation_annotation ", by = " by op ";
  if (const std::size_t at = text.find(annotated); at != std::string_view::npos) {
    line.op = text.substr(at + annotated.size());
  } else if (const std::size_t op = text.find(by); op != std::string_view::npos) {
    line.op = text.substr(op + by.size());
    line.op.resize(std::min(line.op.find(" action_count "), line.op.size()));
  }
  line.op.resize(std::min(line.op.rfind(" next "), line.op.size()));
  return line;
}

MaybeBytes read_size_after(std::string_view text, std::string_view words) {
  return size_after(text, words);
}

}  // namespace hbmscope::bfc
