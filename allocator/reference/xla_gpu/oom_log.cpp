#include "allocator/reference/xla_gpu/oom_log.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator {
namespace {

// The last line of XLA's report: all regions, one after another, in a hundred characters.
constexpr std::uint64_t characters = 100;

// `begin` and `bytes` are positions in all regions laid end to end, `total` bytes.
void paint(std::string& text, std::uint64_t total, std::uint64_t begin, std::uint64_t bytes, char with) {
  const std::uint64_t first = begin * characters / total, last = (begin + bytes - 1) * characters / total;
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(first), text.begin() + static_cast<std::ptrdiff_t>(last) + 1,
            with);
}

// '*': requested bytes; 'x': the rest of a block; '_': free. If several parts cover a character, the last one wins.
std::string occupancy_text(const xla_gpu::Bfc& allocator) {
  std::uint64_t total = 0;
  for (const xla_gpu::Region& region : allocator.regions()) total += region.claim.bytes;
  if (total == 0) return "<allocator contains no memory>";
  std::string text(characters, '_');
  std::uint64_t before = 0;
  for (const xla_gpu::Region& region : allocator.regions()) {
    for (xla_gpu::ChunkIndex at = region.first; at != xla_gpu::no_chunk; at = allocator.chunk(at).next) {
      const xla_gpu::Chunk& chunk = allocator.chunk(at);
      if (!chunk.in_use) continue;
      const std::uint64_t begin = before + chunk.address - region.claim.base;
      const std::uint64_t wasted = chunk.bytes - chunk.requested_bytes;
      if (wasted > 0) paint(text, total, begin + chunk.requested_bytes, wasted, 'x');
      paint(text, total, begin, chunk.requested_bytes, '*');
    }
    before += region.claim.bytes;
  }
  return text;
}

using xla_gpu::Bfc;
using xla_gpu::Chunk;
using xla_gpu::ChunkIndex;
using xla_gpu::no_chunk;
using xla_gpu::Tag;

// The line of bfc_allocator.cc that logs each line.
struct SourceLines {
  int warning, head, bin, wanted_bin, region, chunk, summary, by_size, sum, pool, gap, hint, stats, occupancy,
      short_warning;
};
constexpr SourceLines lines_of_0_7_1 = {501,  1049, 1056, 1072, 1085, 1105, 1110, 1113,
                                        1117, 1119, 0,    0,    1124, 512,  310};
constexpr SourceLines lines_of_august = {598,  1383, 1390, 1406, 1419, 1445, 1450, 1453,
                                         1473, 1475, 1486, 1497, 1506, 609,  371};

std::string_view text_from_tag(Tag tag) {
  constexpr std::string_view texts[] = {"lower", "central_gap", "upper"};
  return texts[static_cast<std::size_t>(tag)];
}

// XLA prints a missing neighbour as 64 bits, all set.
std::uint64_t handle_of(ChunkIndex chunk) {
  return chunk == no_chunk ? ~std::uint64_t{0} : chunk;
}

class OomLog {
 public:
  OomLog(const Bfc& allocator, const Request& request, const OomLogOptions& options)
      : allocator_(allocator),
        request_(request),
        options_(options),
        is_old_(options.wording == Wording::jax_0_7_1),
        lines_(is_old_ ? lines_of_0_7_1 : lines_of_august),
        rounded_bytes_(xla_gpu::rounded_bytes(request.bytes)),
        end_(allocator.rules().is_spatial && end_tag() == Tag::upper ? "upper" : "lower") {}

  std::string text() {
    add_warning();
    add_bins();
    add_chunks();
    if (is_old_)
      add_old_pool();
    else
      add_pool();
    add_statistics();
    add('W', lines_.occupancy, occupancy_text(allocator_));
    if (options_.ends_with_warning) add_short_warning();
    return std::move(text_);
  }

 private:
  Tag end_tag() const {
    const xla_gpu::VersionRules& rules = allocator_.rules();
    const bool is_collective = request_.space == Space::collective;
    return is_collective ? rules.collective_memory.end : rules.default_memory.end;
  }
  void add(char severity, int line, std::string_view words) {
    text_ += fmt::format("{} bfc_allocator.cc:{}] {}\n", severity, line, words);
  }

  void add_warning() {
    const std::string head = fmt::format("Allocator ({}) ran out of memory trying to allocate {} (rounded to {})",
                                         options_.allocator_name, xla_human_bytes(request_.bytes), rounded_bytes_);
    if (is_old_)
      add('W', lines_.warning,
          head +
              "requested by op \nIf the cause is memory fragmentation maybe the environment variable "
              "'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. \nCurrent allocation summary follows.\n"
              "Current allocation summary follows.");
    else
      add('W', lines_.warning,
          head + fmt::format(" from the {} end requested by op \nIf this is caused by memory fragmentation, the "
                             "environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' may improve the situation.\n"
                             "Current allocation summary follows.",
                             end_));
  }

  void add_bins() {
    add('I', lines_.head, "BFCAllocator dump for " + options_.allocator_name);
    const auto totals = allocator_.bin_totals();
    for (unsigned bin = 0; bin < xla_gpu::bin_count; ++bin) {
      const xla_gpu::BinTotals& total = totals[bin];
      add('I', lines_.bin,
          fmt::format("Bin ({}): \tTotal Chunks: {}, Chunks in use: {}. {} allocated for chunks. {} in use in bin. {} "
                      "client-requested in use in bin.",
                      xla_gpu::bin_bytes(bin), total.chunks, total.chunks_in_use, xla_human_bytes(total.bytes),
                      xla_human_bytes(total.bytes_in_use), xla_human_bytes(total.requested_bytes_in_use)));
    }
    const unsigned wanted = xla_gpu::bin_of(rounded_bytes_);
    add('I', lines_.wanted_bin,
        fmt::format("Bin for {} was {}, Chunk State: ", xla_human_bytes(rounded_bytes_),
                    xla_human_bytes(xla_gpu::bin_bytes(wanted))));
    for (const ChunkIndex chunk : allocator_.free_chunks_of_bin(wanted))
      add('I', lines_.wanted_bin + 6, chunk_state(chunk, true));
  }

  std::string chunk_state(ChunkIndex index, bool with_neighbours) const {
    const Chunk& chunk = allocator_.chunk(index);
    std::string text =
        fmt::format("  Size: {} | Requested Size: {} | in_use: {} | bin_num: {}", xla_human_bytes(chunk.bytes),
                    xla_human_bytes(chunk.requested_bytes), chunk.in_use ? 1 : 0, allocator_.bin_number_of(index));
    if (!with_neighbours) return text;
    if (chunk.previous != no_chunk) text += ", prev: " + chunk_state(chunk.previous, false);
    if (chunk.next != no_chunk) text += ", next: " + chunk_state(chunk.next, false);
    return text;
  }

  void add_chunks() {
    std::map<std::uint64_t, std::uint64_t> in_use_by_size;
    for (const xla_gpu::Region& region : allocator_.regions()) {
      add('I', lines_.region, fmt::format("Next region of size {}", region.claim.bytes));
      for (ChunkIndex at = region.first; at != no_chunk; at = allocator_.chunk(at).next) {
        const Chunk& chunk = allocator_.chunk(at);
        if (chunk.in_use) ++in_use_by_size[chunk.bytes];
        const std::string tag = is_old_ ? std::string() : fmt::format(" tag {}", text_from_tag(chunk.tag));
        add('I', lines_.chunk,
            fmt::format("{} at {:x} of size {}{} next {}", chunk.in_use ? "InUse" : "Free ", chunk.address, chunk.bytes,
                        tag, handle_of(chunk.next)));
      }
    }
    add('I', lines_.summary, "     Summary of in-use Chunks by size: ");
    std::uint64_t sum = 0;
    for (const auto& [bytes, count] : in_use_by_size) {
      add('I', lines_.by_size,
          fmt::format("{} Chunks of size {} totalling {}", count, bytes, xla_human_bytes(bytes * count)));
      sum += bytes * count;
    }
    add('I', lines_.sum, "Sum Total of in-use chunks: " + xla_human_bytes(sum));
  }

  void add_old_pool() {
    const Statistics statistics = allocator_.statistics();
    add('I', lines_.pool,
        fmt::format("Total bytes in pool: {} memory_limit_: {} available bytes: {} curr_region_allocation_bytes_: {}",
                    statistics.pool_bytes, statistics.limit_bytes, statistics.limit_bytes - statistics.pool_bytes,
                    allocator_.next_region_bytes()));
  }

  void add_pool() {
    const Statistics statistics = allocator_.statistics();
    add('I', lines_.pool,
        fmt::format("Allocator memory summary: rounded request {}, total free in pool {}, largest free chunk usable by "
                    "{} end {}, unallocated bytes {}, pool size {}, pool limit {}",
                    xla_human_bytes(rounded_bytes_), xla_human_bytes(statistics.pool_bytes - statistics.in_use_bytes),
                    end_, xla_human_bytes(allocator_.largest_usable_bytes(request_.space)),
                    unallocated_text(statistics), xla_human_bytes(statistics.pool_bytes),
                    xla_human_bytes(statistics.limit_bytes)));
    if (allocator_.gap() != no_chunk)
      add('I', lines_.gap,
          fmt::format("Spatial partitioning summary for {} end: central gap {}, largest same-end binned free chunk {}, "
                      "largest binned free chunk from any end {}. The central gap is shared by lower/upper allocations "
                      "and is not inserted into a bin.",
                      end_, xla_human_bytes(allocator_.chunk(allocator_.gap()).bytes),
                      xla_human_bytes(allocator_.largest_hole_bytes(end_tag())),
                      xla_human_bytes(std::max(allocator_.largest_hole_bytes(Tag::lower),
                                               allocator_.largest_hole_bytes(Tag::upper)))));
    add('I', lines_.hint,
        fmt::format("Allocator region growth hint: next region allocation target {} {}",
                    xla_human_bytes(allocator_.next_region_bytes()),
                    allocator_.options().allow_growth
                        ? "(growth enabled)."
                        : "(growth disabled; fixed-size pool; not an attempted allocation)."));
  }

  // For a pool above its limit XLA prints a negative number.
  static std::string unallocated_text(const Statistics& statistics) {
    if (statistics.pool_bytes <= statistics.limit_bytes)
      return xla_human_bytes(statistics.limit_bytes - statistics.pool_bytes);
    return "-" + xla_human_bytes(statistics.pool_bytes - statistics.limit_bytes);
  }

  void add_statistics() {
    const Statistics statistics = allocator_.statistics();
    const auto size = [&](std::uint64_t bytes) { return is_old_ ? fmt::to_string(bytes) : xla_human_bytes(bytes); };
    std::string text = "Stats: \n";
    const auto add_row = [&](std::string_view label, const std::string& value) {
      text += fmt::format("{}{:>20}\n", label, value);
    };
    add_row("Limit:            ", size(statistics.limit_bytes));
    add_row("InUse:            ", size(statistics.in_use_bytes));
    add_row("MaxInUse:         ", size(statistics.peak_in_use_bytes));
    add_row("NumAllocs:        ", fmt::to_string(statistics.allocations));
    add_row("MaxAllocSize:     ", size(statistics.largest_allocation_bytes));
    add_row("Reserved:         ", size(0));
    add_row("PeakReserved:     ", size(0));
    if (!is_old_) add_row("PeakAllocated:        ", size(0));  // Misaligned in XLA's log, too.
    // XLA did not set it before June 2026.
    add_row("LargestFreeBlock: ", size(is_old_ ? 0 : statistics.largest_free_bytes));
    add('I', lines_.stats, text);
  }

  void add_short_warning() {
    const std::string end = is_old_ ? std::string() : fmt::format(" from the {} end", end_);
    add('W', lines_.short_warning,
        fmt::format("Allocator ({}) ran out of memory trying to allocate {}{} with freed_by_count=0.",
                    options_.allocator_name, xla_human_bytes(request_.bytes), end));
  }

  const Bfc& allocator_;
  const Request& request_;
  const OomLogOptions& options_;
  const bool is_old_;
  const SourceLines& lines_;
  const std::uint64_t rounded_bytes_;
  const std::string_view end_;
  std::string text_;
};

}  // namespace

std::string xla_human_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{}B", bytes);
  const char* unit = "KMGTPE";
  // Integer division on the way, so the rest below a unit is truncated, not rounded.
  for (; bytes >= 1024 * 1024; bytes /= 1024) ++unit;
  const double value = static_cast<double>(bytes) / 1024;
  return *unit == 'K' ? fmt::format("{:.1f}KiB", value) : fmt::format("{:.2f}{}iB", value, *unit);
}

Wording wording_of(xla_gpu::Version version) {
  return version == xla_gpu::Version::classic ? Wording::jax_0_7_1 : Wording::august_2026;
}

std::string oom_log(const Bfc& allocator, const Request& request, const OomLogOptions& options) {
  return OomLog(allocator, request, options).text();
}

}  // namespace hbmscope::allocator
