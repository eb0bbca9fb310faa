#include "analysis/query/bfc_bins.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "allocator/reference/xla_gpu/sizes.h"
#include "analysis/model/clamped.h"
#include "analysis/trace/reported_figures.h"

namespace hbmscope {
namespace {

using allocator::xla_gpu::bin_count;
using allocator::xla_gpu::bin_of;
using Bins = std::array<BfcBin, bin_count>;

struct ReportedName {
  std::string_view ending;
  std::optional<std::uint64_t> BfcBinFigures::*member;
};
constexpr std::array reported_names = {
    ReportedName{reported_figure::bin_chunks, &BfcBinFigures::blocks},
    ReportedName{reported_figure::bin_chunks_in_use, &BfcBinFigures::blocks_in_use},
    ReportedName{reported_figure::bin_bytes, &BfcBinFigures::bytes},
    ReportedName{reported_figure::bin_in_use, &BfcBinFigures::in_use_bytes},
    ReportedName{reported_figure::bin_requested, &BfcBinFigures::requested_bytes},
};

void add_reported(const Stream& stream, std::uint32_t heap, std::uint64_t position, Bins& bins) {
  for (const auto& [key, series] : stream.counters().series()) {
    std::string_view name = stream.definitions().text(key.first);
    if (key.second != heap || !name.starts_with(reported_figure::bin)) continue;
    const auto sample = series.at(position);
    if (!sample || sample->value < 0) continue;
    name.remove_prefix(reported_figure::bin.size());
    std::uint64_t size = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), size);
    name.remove_prefix(static_cast<std::size_t>(parsed.ptr - name.data()));
    for (const ReportedName& each : reported_names)
      if (name == each.ending) bins[bin_of(size)].reported.*each.member = static_cast<std::uint64_t>(sample->value);
  }
}

void add_block(std::uint64_t size, BfcBinFigures& bin) {
  bin.blocks = bin.blocks.value_or(0) + 1;
  bin.bytes = clamped_sum(bin.bytes.value_or(0), size);
}

void add_computed(const Stream& stream, const StreamState& state, std::uint32_t heap, Bins& bins) {
  const AddressSpace& space = state.heap(heap).space;
  if (!space.free_bytes()) return;
  for (BfcBin& bin : bins) bin.computed = {0, 0, 0, 0, std::nullopt};
  const bool has_requested = stream.definitions().heap(heap).has(wire::heap_flag::has_requested);
  std::array<std::uint64_t, bin_count> requested{};
  std::array<bool, bin_count> is_known{};
  is_known.fill(has_requested);
  for (const LiveBlock& block : state.slots()) {
    if (!block.is_live() || block.heap != heap) continue;
    const unsigned number = bin_of(block.size);
    BfcBinFigures& bin = bins[number].computed;
    add_block(block.size, bin);
    ++*bin.blocks_in_use;
    bin.in_use_bytes = clamped_sum(*bin.in_use_bytes, block.size);
    if (block.requested == wire::unknown_bytes)
      is_known[number] = false;
    else
      requested[number] = clamped_sum(requested[number], block.requested);
  }
  space.for_each_chunk([&](const HeapChunk& chunk) {
    if (chunk.state == ChunkState::free) add_block(chunk.range.size(), bins[bin_of(chunk.range.size())].computed);
  });
  for (unsigned i = 0; i < bin_count; ++i)
    if (is_known[i]) bins[i].computed.requested_bytes = requested[i];
}

}  // namespace

bool has_reported_bins(const Stream& stream, std::uint32_t heap) {
  const auto& series = stream.counters().series();
  return std::any_of(series.begin(), series.end(), [&](const auto& each) {
    return each.first.second == heap && stream.definitions().text(each.first.first).starts_with(reported_figure::bin);
  });
}

bool is_of_bfc(const Stream& stream, std::uint32_t heap) {
  const std::string_view name = stream.definitions().heap(heap).name;
  return name.find("_bfc") != std::string_view::npos || name.find("BFC") != std::string_view::npos ||
         has_reported_bins(stream, heap);
}

std::vector<BfcBin> compute_bfc_bins(const Stream& stream, const StreamState& state, std::uint32_t heap) {
  Bins bins;
  for (unsigned i = 0; i < bin_count; ++i) bins[i].from_bytes = allocator::xla_gpu::bin_bytes(i);
  add_reported(stream, heap, state.position(), bins);
  add_computed(stream, state, heap, bins);
  std::vector<BfcBin> found;
  std::copy_if(bins.begin(), bins.end(), std::back_inserter(found), [](const BfcBin& bin) {
    return bin.computed.blocks.value_or(0) > 0 || bin.reported.blocks.value_or(0) > 0;
  });
  return found;
}

}  // namespace hbmscope
