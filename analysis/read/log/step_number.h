// The numbers of steps that a log prints: "step 12", "iter: 19", "[120/1000]", the bars of tqdm.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hbmscope::log {

struct StepNumber {
  std::string_view word;  // How the line calls it: "step", "iteration".
  std::uint64_t number = 0;
};

// "step 12", "iter: 19", "iteration       10/  500000", "step=10", "[120/1000]", "after 10 iterations".
// `folded`: in lower case.
std::optional<StepNumber> find_step(std::string_view folded);

// A number at the beginning of the text: not "0.5" or "3e-4".
std::optional<std::uint64_t> number_at(std::string_view text);

// The last one, if at least four came one after the other, each with a greater number.
std::optional<StepNumber> find_last_step(std::span<const std::string> lines);

}  // namespace hbmscope::log
