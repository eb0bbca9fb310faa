// The advice on a request that failed, from the table of advice (advice_rows.cpp).
#include "analysis/diagnose/advice.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/model/clamped.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

bool has(std::uint32_t set, unsigned member) {
  return (set >> member & 1U) != 0;
}

}  // namespace

std::optional<std::uint64_t> room_with(const AdviceFacts& facts, std::uint64_t more) {
  const FailureFacts& figures = facts.failed.figures;
  const auto used = facts.failed.row.used_bytes;
  std::optional<std::uint64_t> there;
  if (figures.free_bytes && figures.driver_bytes)
    there = clamped_sum(*figures.free_bytes, *figures.driver_bytes);
  else if (figures.limit_bytes && used)
    there = *figures.limit_bytes - std::min(*figures.limit_bytes, *used);
  if (!there) return std::nullopt;
  there = clamped_sum(*there, more);
  return *there - std::min(*there, figures.needed_bytes);
}

std::vector<Advice> find_advice(const AdviceFacts& facts) {
  std::vector<Advice> advice;
  for (const AdviceRow& row : all_advice()) {
    if (!has(row.frameworks, static_cast<unsigned>(facts.failed.framework)) ||
        !has(row.causes, static_cast<unsigned>(facts.cause)))
      continue;
    Advice one{std::string(row.change), std::string(row.why), std::string(row.price), row.proof, std::string(row.key)};
    if (row.is_setting) one.room_bytes = room_with(facts, 0);
    if (row.fill != nullptr && !row.fill(facts, one)) continue;
    if (row.is_setting) one.words = one.change;
    advice.push_back(std::move(one));
  }
  if (advice.empty() && facts.failed.row.line && facts.cause != Cause::compile_time)
    advice.push_back(general_advice(facts));
  return advice;
}

std::string_view text_from_proof(AdviceProof proof) {
  constexpr std::string_view texts[] = {"replayed", "computed", "rule", "compiler", "emulated", "assumed"};
  return texts[static_cast<std::size_t>(proof)];
}

std::string mark_of(const Advice& advice) {
  std::string text;
  if (advice.fits)
    text = fmt::format("{}, replayed{}", *advice.fits ? "fits" : "does not fit",
                       advice.is_approximate ? " approximately" : "");
  if (advice.steps_at_most && *advice.steps_at_most <= 1)
    return text + (text.empty() ? "" : "; ") + "one more step at most";
  if (!text.empty()) return text;
  if (advice.proof == AdviceProof::assumed) return "an estimate";
  if (advice.proof != AdviceProof::rule) return {};
  return advice.words.empty() ? "may not be enough" : "untested for this job";
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
