// The lines of the user's code that held most when most was in use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/read/source/read_source.h"

namespace hbmscope {

struct DryRunHolder {
  std::string line;  // "train_step train.py:55"
  std::uint64_t bytes = 0;
};

// Of a recording, a dump or a program's plan, when most was in use; the largest first. Empty: unknown.
std::vector<DryRunHolder> find_holders(const Source& at_peak);
// "5.00 GiB by init_weights train.py:10, 256 MiB by ...": the largest three. One that holds less than a hundredth of
// `total_bytes` is left out.
std::string text_from_holders(std::span<const DryRunHolder> holders, std::uint64_t total_bytes);

}  // namespace hbmscope
