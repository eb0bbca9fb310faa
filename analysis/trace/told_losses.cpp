#include "analysis/trace/told_losses.h"

#include <charconv>
#include <system_error>

namespace hbmscope {

std::string key_of_told_loss(std::string_view name) {
  return "hbmscope.import." + std::string(name);
}

std::string value_of_told_loss(const ToldLoss& loss) {
  return std::to_string(loss.count) + " " + loss.example;
}

ToldLoss find_told_loss(const Trace& trace, std::string_view name) {
  // Facts come from the file: what makes no sense adds nothing, and no sum overflows.
  constexpr std::int64_t count_max = std::int64_t{1} << 62;
  const std::string key = key_of_told_loss(name);
  ToldLoss sum;
  for (const Stream& stream : trace.streams)
    for (const JobFact& fact : stream.definitions().job()) {
      if (fact.key != key) continue;
      const char* const end = fact.value.data() + fact.value.size();
      std::int64_t count = 0;
      const auto [rest, error] = std::from_chars(fact.value.data(), end, count);
      if (error != std::errc() || count <= 0 || count > count_max - sum.count) continue;
      if (sum.count == 0 && rest != end) sum.example.assign(rest + 1, end);
      sum.count += count;
    }
  return sum;
}

}  // namespace hbmscope
