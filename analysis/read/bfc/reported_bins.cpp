#include "analysis/read/bfc/reported_bins.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "allocator/reference/xla_gpu/sizes.h"
#include "analysis/trace/reported_figures.h"

namespace hbmscope::bfc {
namespace {

using allocator::xla_gpu::bin_bytes;
using allocator::xla_gpu::bin_count;
using allocator::xla_gpu::bin_of;

struct Sums {
  std::uint64_t chunks = 0, chunks_in_use = 0, bytes = 0, in_use = 0, requested = 0;
  bool has_requested = true;
};

std::array<Sums, bin_count> sums_of(const Dump& dump) {
  std::array<Sums, bin_count> bins;
  for (const Region& region : dump.regions)
    for (const Chunk& chunk : region.chunks) {
      Sums& bin = bins[bin_of(chunk.size)];
      ++bin.chunks;
      bin.bytes += chunk.size;
      if (!chunk.is_in_use) continue;
      ++bin.chunks_in_use;
      bin.in_use += chunk.size;
      bin.requested += chunk.requested.value_or(0);
      bin.has_requested = bin.has_requested && chunk.requested.has_value();
    }
  return bins;
}

bool is_near(const MaybeBytes& printed, std::uint64_t bytes) {
  return !printed || is_printed_as(bytes, *printed);
}

// What differs, if anything.
std::string difference_of(const Bin& reported, const Sums& listed) {
  if (reported.chunks != listed.chunks || reported.chunks_in_use != listed.chunks_in_use)
    return fmt::format("{} chunks, {} in use, and the list has {}, {} in use", reported.chunks, reported.chunks_in_use,
                       listed.chunks, listed.chunks_in_use);
  const auto differs = [](std::string_view what, const MaybeBytes& printed, std::uint64_t bytes) {
    return fmt::format("{} bytes {}, and the list has {}", printed->bytes, what, bytes);
  };
  if (!is_near(reported.bytes, listed.bytes)) return differs("in all", reported.bytes, listed.bytes);
  if (!is_near(reported.in_use, listed.in_use)) return differs("in use", reported.in_use, listed.in_use);
  if (listed.has_requested && !is_near(reported.requested, listed.requested))
    return differs("requested", reported.requested, listed.requested);
  return {};
}

}  // namespace

bool is_printed_as(std::uint64_t bytes, const PrintedBytes& printed) {
  return bytes < printed.bytes ? printed.bytes - bytes <= printed.error
                               : bytes - printed.bytes <= printed.error + printed.error / 5;
}

void for_each_bin_figure(const Dump& dump, const std::function<void(const std::string&, const MaybeBytes&)>& use) {
  for (unsigned i = 0; i < bin_count; ++i) {
    const std::uint64_t size = bin_bytes(i);
    const auto found = std::find_if(dump.bins.begin(), dump.bins.end(),
                                    [&](const Bin& bin) { return bin.size == size && bin.chunks > 0; });
    const bool is_there = found != dump.bins.end();
    const auto use_figure = [&](std::string_view ending, const MaybeBytes& value) {
      use(fmt::format("{}{}{}", reported_figure::bin, size, ending), value);
    };
    const auto count = [&](std::uint64_t Bin::*member) {
      return is_there ? MaybeBytes(PrintedBytes{(*found).*member, 0}) : std::nullopt;
    };
    const auto bytes = [&](MaybeBytes Bin::*member) { return is_there ? (*found).*member : std::nullopt; };
    use_figure(reported_figure::bin_chunks, count(&Bin::chunks));
    use_figure(reported_figure::bin_chunks_in_use, count(&Bin::chunks_in_use));
    use_figure(reported_figure::bin_bytes, bytes(&Bin::bytes));
    use_figure(reported_figure::bin_in_use, bytes(&Bin::in_use));
    use_figure(reported_figure::bin_requested, bytes(&Bin::requested));
  }
}

void check_bins(const Dump& dump, ImportStatistics& import) {
  if (dump.bins.empty() || !dump.has_all_chunks()) return;
  import.add("bins_checked", Severity::info, static_cast<std::int64_t>(dump.bins.size()));
  const std::array<Sums, bin_count> listed = sums_of(dump);
  for (const Bin& bin : dump.bins) {
    if (bin.size != bin_bytes(bin_of(bin.size))) continue;
    const std::string difference = difference_of(bin, listed[bin_of(bin.size)]);
    if (difference.empty()) continue;
    import.add(
        "bins_differ", Severity::warning, 1,
        "A bin's own figures differ from the chunks that are listed, so chunks may be missing in the list, or "
        "listed twice; what is shown is computed from the list.",
        fmt::format("{}, bin {}: {}", dump.allocator.empty() ? "BFC allocator" : dump.allocator, bin.size, difference));
  }
}

}  // namespace hbmscope::bfc
