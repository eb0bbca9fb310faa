// Any bytes as the life of a heap: regions, blocks and nonsense, held against the slow and obvious version.
#include <string>

#include "tests/analysis/address_space_trial.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(fuzz_address_space, data, size) {
  using namespace hbmscope;
  std::size_t at = 0;
  const AddressSpaceTrial::Draw draw = [&](std::uint64_t n) {
    std::uint64_t number = 0;
    for (std::uint64_t reach = 1; reach < n && at < size; reach *= 256) number = number * 256 + data[at++];
    return number % n;
  };
  AddressSpaceTrial::Kinds kinds;
  const std::uint64_t where = draw(3);
  if (where > 0) kinds.base = where == 1 ? 0 : ~std::uint64_t{0} - 200'000;
  AddressSpaceTrial trial(kinds);
  while (at < size) {
    trial.step(draw);
    std::string difference = trial.difference_of_figures();
    if (difference.empty()) difference = trial.difference_of_layout();
    require(difference.empty(), "different at byte " + std::to_string(at) + ": " + difference);
  }
  return 0;
}
