#include "allocator/reference/xla_gpu/trace_event.h"

#include <cmath>

#include <fmt/format.h>

namespace hbmscope::allocator {
namespace {

// Six significant digits, like absl::StrCat.
std::string double_text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:g}", value);
}

}  // namespace

std::string trace_event_text(std::string_view name, const Allocator& allocator, const TracedBlock& block,
                             std::string_view allocator_name) {
  const Statistics statistics = allocator.statistics();
  // Signed, as in XLA; relative to the limit, not the pool.
  const auto available = static_cast<std::int64_t>(statistics.limit_bytes - statistics.in_use_bytes);
  return fmt::format(
      "{}#allocator_name={},bytes_reserved=0,bytes_allocated={},bytes_available={},fragmentation={},"
      "peak_bytes_in_use={},requested_bytes={},allocation_bytes={},addr={},tf_op=,id=0,region_type=,data_type=0,"
      "shape=#",
      name, allocator_name, statistics.in_use_bytes, available, double_text(fragmentation_of(statistics)),
      statistics.peak_in_use_bytes, block.requested_bytes, block.bytes, block.address);
}

}  // namespace hbmscope::allocator
