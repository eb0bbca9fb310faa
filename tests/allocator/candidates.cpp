#include "tests/allocator/candidates.h"
#include "tests/sizes.h"

#include <algorithm>

namespace hbmscope::allocator {
namespace {

xla_gpu::Options bfc(xla_gpu::Version version, bool grows, bool collects = false) {
  xla_gpu::Options options;
  options.version = version;
  options.limit_bytes = 384 * mib;
  options.allow_growth = grows;
  options.garbage_collection = collects;
  return options;
}

xla_gpu::Options of_pool(xla_gpu::Pool pool, std::uint64_t limit_bytes, bool grows) {
  xla_gpu::Options options = bfc(xla_gpu::Version::classic_align, grows);
  options.pool = pool;
  options.limit_bytes = limit_bytes;
  return options;
}

pytorch::Options torch_options(bool expandable, std::uint64_t max_split_mib, std::uint64_t divisions) {
  pytorch::Options options;
  options.expandable_segments = expandable;
  if (max_split_mib != 0) options.max_split_bytes = max_split_mib * mib;
  options.roundup_power2_divisions.fill(divisions);
  options.device_bytes = 512 * mib;
  return options;
}

}  // namespace

void PrintTo(const Candidate& candidate, std::ostream* out) {
  *out << candidate.name;
}

std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (const xla_gpu::VersionRules& rules : xla_gpu::all_versions())
    all.push_back({"xla_gpu_" + std::string(rules.name), bfc(rules.version, false), 256});
  all.push_back({"xla_gpu_grows", bfc(xla_gpu::Version::classic_align, true), 256});
  all.push_back({"xla_gpu_collects", bfc(xla_gpu::Version::classic, true, true), 256});
  all.push_back({"platform", platform::Options{}, 2 * mib});
  all.push_back({"platform_cuda_malloc", platform::Options{512}, 512});
  all.push_back({"cuda_async", cuda_async::Options{}, 512});
  all.push_back({"cuda_async_keeps", cuda_async::Options{256 * mib, 0}, 512});
  all.push_back({"cuda_async_reserves", cuda_async::Options{384 * mib, 384 * mib}, 512});
  all.push_back({"pytorch", torch_options(false, 0, 0), 512});
  all.push_back({"pytorch_max_split", torch_options(false, 32, 0), 512});
  all.push_back({"pytorch_rounds", torch_options(false, 0, 8), 64});
  all.push_back({"pytorch_expandable", torch_options(true, 0, 0), 512});
  all.push_back({"vmm", vmm::Options{384 * mib}, 2 * mib});
  all.push_back({"collective", of_pool(xla_gpu::Pool::collective, 384 * mib, true), 256});
  all.push_back({"pinned_host", of_pool(xla_gpu::Pool::pinned_host, 448 * mib, false), 256});
  // And every allocator of the table that is not above.
  for (const AllocatorRow& row : all_allocators()) {
    const bool is_there =
        std::any_of(all.begin(), all.end(), [&](const Candidate& each) { return row.name == each.name; });
    if (!is_there && row.options_from_size != nullptr)
      all.push_back({std::string(row.name), row.options_from_size({384 * mib, 512 * mib, false}), 256});
  }
  return all;
}

}  // namespace hbmscope::allocator
