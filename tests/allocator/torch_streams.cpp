#include "tests/allocator/torch_streams.h"

#include <algorithm>
#include <set>
#include <utility>

namespace hbmscope::allocator {
namespace {

constexpr std::uint64_t small_segment = std::uint64_t{2} << 20;

struct Released {
  std::uint64_t stream = 0;
  std::string_view pool;
  bool is_small = false;

  bool is_of_one_set_with(const Released& other) const { return pool == other.pool && is_small == other.is_small; }
};

using Pairs = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // A stream, and one that comes after it.

// Garbage collection visits the large pool several times, so its releases show no order.
void collect(const TorchStep& step, bool collects_garbage, Pairs& pairs) {
  std::vector<Released> run;
  std::uint64_t part = 0;  // The bytes of the last call that unmapped memory: 2 MiB in small pools.
  const auto end_run = [&] {
    for (std::size_t i = 1; i < run.size(); ++i)
      if (run[i - 1].stream != run[i].stream && run[i - 1].is_of_one_set_with(run[i]))
        pairs.emplace(run[i - 1].stream, run[i].stream);
    run.clear();
  };
  for (const std::string_view line : step.answers) {
    const auto fields = split_at(line, '\t');
    if (fields[0] == "d" && fields[1] == "unmap") part = number_in(fields[3]);
    if (fields[0] == "d" && fields[1].ends_with("_oom")) end_run();
    if (fields[0] != "e" || (fields[1] != "SEGMENT_FREE" && fields[1] != "SEGMENT_UNMAP")) continue;
    const bool is_small = (fields[1] == "SEGMENT_UNMAP" ? part : number_in(fields[3])) == small_segment;
    if (is_small || !collects_garbage) run.push_back({number_in(fields[4]), fields[5], is_small});
  }
  end_run();
}

}  // namespace

std::vector<std::uint32_t> ranks_of_streams(const TorchTrace& trace) {
  const bool collects_garbage = trace.conf.find("garbage_collection_threshold") != std::string::npos;
  Pairs pairs;
  std::size_t streams = 0;
  for (const TorchStep& step : trace.steps) {
    const std::string_view operation = step.operation.empty() ? std::string_view() : step.operation[0];
    const bool is_request = operation == "A";
    if (is_request || operation == "R") streams = std::max(streams, number_in(step.operation[2]) + 1);
    if (operation == "W") streams = std::max(streams, number_in(step.operation[1]) + 1);
    collect(step, is_request && collects_garbage, pairs);
  }
  std::set<std::uint64_t> left;
  for (std::size_t stream = 0; stream < streams; ++stream) left.insert(stream);
  std::vector<std::uint32_t> ranks(streams);
  for (std::uint32_t rank = 0; !left.empty(); ++rank) {
    const auto is_first = [&](std::uint64_t stream) {
      return std::none_of(pairs.begin(), pairs.end(),
                          [&](const auto& pair) { return pair.second == stream && left.count(pair.first) > 0; });
    };
    auto found = std::find_if(left.begin(), left.end(), is_first);
    if (found == left.end()) found = left.begin();
    ranks[*found] = rank;
    left.erase(found);
  }
  return ranks;
}

}  // namespace hbmscope::allocator
