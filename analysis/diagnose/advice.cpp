#include "analysis/diagnose/advice.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/units/format.h"

namespace hbmscope {

std::string_view text_from_proof(AdviceProof proof) {
  constexpr std::string_view texts[] = {"replayed", "computed", "rule", "compiler", "emulated", "assumed"};
  return texts[static_cast<std::size_t>(proof)];
}

std::string_view mark_of(const Advice& advice) {
  if (advice.steps_at_most && *advice.steps_at_most <= 1) return "one more step at most";
  return advice.proof == AdviceProof::rule ? "may not be enough" : "";
}

const AdviceRow& advice_row(std::string_view key) {
  const auto rows = all_advice();
  return *std::find_if(rows.begin(), rows.end(), [&](const AdviceRow& row) { return row.key == key; });
}

std::string text_from_left_outside(double bytes) {
  return fmt::format("It leaves {} outside the pool, for cuBLAS, cuDNN, NCCL, CUDA graphs and other processes.",
                     text_from_bytes(bytes));
}

}  // namespace hbmscope
