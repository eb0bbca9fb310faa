#include "analysis/query/fit_advice.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/query/workload_verdict.h"
#include "analysis/units/format.h"

namespace hbmscope {

std::string_view text_from_advice_kind(AdviceKind kind) {
  switch (kind) {
    case AdviceKind::compiler: return "compiler";
    case AdviceKind::emulated: return "emulated";
    case AdviceKind::assumed: return "assumed";
  }
  return {};
}

std::vector<FitAdvice> advise_on_program(const ProgramNeed& need) {
  std::vector<FitAdvice> advice;
  const std::int64_t over = signed_from(need.needed_bytes) - signed_from(need.usable_bytes);
  if (over <= 0 || need.usable_bytes == 0) return advice;
  if (need.donatable_bytes.value_or(0) > 0) {
    const std::int64_t spare = signed_from(*need.donatable_bytes) - over;
    advice.push_back(
        {"donation",
         fmt::format("donating arguments (donate_argnums), {} of outputs in their place: {}{}",
                     text_from_bytes(*need.donatable_bytes), spare >= 0 ? "" : "still ", text_from_spare(spare)),
         spare >= 0, spare, need.is_donatable_from_compiler ? AdviceKind::compiler : AdviceKind::assumed});
  }
  if (need.temp_bytes.value_or(0) > 0) {
    const std::int64_t temp = signed_from(*need.temp_bytes), spare = temp - over;
    if (spare >= 0)
      advice.push_back({"temporaries",
                        fmt::format("{} less of temporaries, {} of their {} (jax.checkpoint, a smaller batch)",
                                    text_from_bytes(over), text_from_share(over, temp), text_from_bytes(temp)),
                        true, std::nullopt, AdviceKind::assumed});
    else
      advice.push_back(
          {"temporaries",
           fmt::format("less of temporaries: without all {} still {}", text_from_bytes(temp), text_from_spare(spare)),
           false, spare, AdviceKind::assumed});
  }
  const std::uint64_t devices = (need.needed_bytes + need.usable_bytes - 1) / need.usable_bytes;
  const std::uint64_t share = (need.needed_bytes + devices - 1) / devices;
  const std::int64_t spare = signed_from(need.usable_bytes) - signed_from(share);
  advice.push_back({"devices",
                    fmt::format("{} times as many devices, if everything divides evenly among them (assumed): {}",
                                text_from_count(devices), text_from_spare(spare)),
                    true, spare, AdviceKind::assumed});
  std::stable_partition(advice.begin(), advice.end(), [](const FitAdvice& each) { return each.suffices; });
  return advice;
}

}  // namespace hbmscope
