// Any bytes as a stream of requests, alone and after a configuration. Streams that can be read are replayed in every
// version: chunks must fill their regions, the sums must agree, and a check must terminate.
#include <cstdio>
#include <string>

#include "allocator/reference/replay/check.h"
#include "allocator/reference/replay/player.h"
#include "analysis/read/requests/read_requests.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;
using namespace hbmscope::allocator;

void require_sums(const Allocator& allocator) {
  const Statistics statistics = allocator.statistics();
  std::uint64_t in_use = 0, largest = 0, pool = 0;
  for (const PoolBlock& row : allocator.pool_blocks()) {
    pool += row.bytes;
    if (row.in_use) in_use += row.bytes;
    if (!row.in_use && row.bytes > largest) largest = row.bytes;
  }
  require(in_use == statistics.in_use_bytes, "in use is not the sum of blocks");
  require(pool == statistics.pool_bytes, "the pool is not the sum of chunks");
  require(largest == statistics.largest_free_bytes, "the largest free chunk is not the largest");
}

struct SumWatcher final : Watcher {
  void on_allocated(const Allocator& allocator, const ReplayBlock&) override { require_sums(allocator); }
  void on_freed(const Allocator& allocator, const ReplayBlock&) override { require_sums(allocator); }
  void on_refused(const Allocator& allocator, const Request&) override { require_sums(allocator); }
};

void read_requests_text(const std::string& text) {
  const auto read = read_requests({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "fuzz", 1 << 20);
  if (!read) {
    require(!read.error().what.empty() && read.error().file == "fuzz", "an error without words or file");
    return;
  }
  for (const xla_gpu::VersionRules& rules : xla_gpu::all_versions()) {
    const xla_gpu::Options options = options_of(read->stream.config, rules.version);
    if (xla_gpu::find_fault_of(options) != nullptr) continue;
    SumWatcher watcher;
    Watcher* const watchers[] = {&watcher};
    const ReplayResult result = play(read->stream, options, watchers);
    require(result.fault != Fault::none || result.operations == read->stream.operations.size(),
            "a replay that ended early");
    check(read->stream, options);
  }
}

}  // namespace

FUZZ_TARGET(fuzz_read_requests, data, size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_requests_text(bytes);
  read_requests_text("{\"config\":{\"total_bytes\":1048576}}\n" + bytes);
  return 0;
}
