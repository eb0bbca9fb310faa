#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "allocator/reference/pytorch/caching_allocator.h"

namespace hbmscope::allocator::pytorch {
namespace {

using Refusal = tl::unexpected<std::string>;

tl::expected<std::uint64_t, std::string> number_from(std::string_view key, std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value > (std::uint64_t{1} << 40))
    return Refusal(fmt::format("{}:{} is not a whole number", key, text));
  return value;
}

// Removes the text up to the next `separator` outside of brackets from `text`, and returns it.
std::string_view cut_item(std::string_view& text, char separator) {
  std::size_t end = 0;
  for (bool is_in_list = false; end < text.size() && (is_in_list || text[end] != separator); ++end)
    is_in_list = text[end] == '[' || (is_in_list && text[end] != ']');
  const std::string_view item = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return item;
}

// A number for all sizes, or a list: "[256:1,512:2,1024:4,>:8]" has sizes in MiB. An entry is for sizes from its own up
// to twice as much; the first one also for all below, ">" for all from the entry before it on. Other sizes have none.
tl::expected<void, std::string> take_divisions(std::string_view key, std::string_view value, Options& options) {
  RoundupDivisions& divisions = options.roundup_power2_divisions;
  const bool is_list = value.size() >= 2 && value.front() == '[' && value.back() == ']';
  if (!is_list) {
    const auto number = number_from(key, value);
    if (!number) return Refusal(number.error());
    if (!std::has_single_bit(*number))
      return Refusal(fmt::format("{}:{} is no power of two, which PyTorch refuses", key, value));
    divisions.fill(*number);
    return {};
  }
  value = value.substr(1, value.size() - 2);
  std::size_t last = 0;
  for (bool is_first = true; !value.empty(); is_first = false) {
    std::string_view item = cut_item(value, ',');
    const std::string_view size = cut_item(item, ':');
    const auto number = number_from(key, item);
    if (!number) return Refusal(number.error());
    if (*number != 0 && !std::has_single_bit(*number))
      return Refusal(fmt::format("{}: {} is no power of two, which PyTorch refuses", key, *number));
    if (size == ">") {
      std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(last), divisions.end(), *number);
      continue;
    }
    const auto mebibytes = number_from(key, size);
    if (!mebibytes) return Refusal(mebibytes.error());
    if (!std::has_single_bit(*mebibytes))
      return Refusal(fmt::format("{}: {} is no power of two, which PyTorch refuses", key, size));
    last = std::min(static_cast<std::size_t>(std::bit_width(*mebibytes) - 1), divisions.size() - 1);
    if (is_first) std::fill(divisions.begin(), divisions.begin() + static_cast<std::ptrdiff_t>(last), *number);
    divisions[last] = *number;
  }
  return {};
}

tl::expected<void, std::string> take_threshold(std::string_view key, std::string_view value, Options& options) {
  if (options.memory_fraction >= 1)
    return Refusal("garbage_collection_threshold has an effect only with a fraction of memory that the program sets");
  const std::string text(value);
  char* end = nullptr;
  const double threshold = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !(threshold > 0 && threshold < 1))
    return Refusal(fmt::format("{}:{} is not between 0 and 1, which PyTorch refuses", key, value));
  options.garbage_collection_threshold = threshold;
  return {};
}

tl::expected<void, std::string> take(std::string_view key, std::string_view value, Options& options) {
  if (key == "expandable_segments") {
    if (value != "True" && value != "False")
      return Refusal(fmt::format("{}:{} is neither True nor False, which PyTorch refuses", key, value));
    options.expandable_segments = value == "True";
    return {};
  }
  if (key == "garbage_collection_threshold") return take_threshold(key, value, options);
  if (key == "roundup_power2_divisions") return take_divisions(key, value, options);
  if (key != "max_split_size_mb" && key != "max_non_split_rounding_mb")
    return Refusal(fmt::format("unknown setting {}", key));
  const auto number = number_from(key, value);
  if (!number) return Refusal(number.error());
  // PyTorch refuses values up to 20 MiB, the size of a segment.
  if (*number <= 20) return Refusal(fmt::format("{}:{} is not above 20, which PyTorch refuses", key, value));
  (key == "max_split_size_mb" ? options.max_split_bytes : options.max_non_split_rounding_bytes) = *number << 20;
  return {};
}

}  // namespace

tl::expected<Options, std::string> options_from_conf(std::string_view conf, double memory_fraction) {
  Options options;
  options.memory_fraction = memory_fraction;
  while (!conf.empty()) {
    const std::string_view item = cut_item(conf, ',');
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos) return Refusal(fmt::format("'{}' is not KEY:VALUE", item));
    if (const auto taken = take(item.substr(0, colon), item.substr(colon + 1), options); !taken)
      return Refusal(taken.error());
  }
  return options;
}

std::string conf_from_options(const Options& options) {
  const Options defaults;
  std::vector<std::string> items;
  if (options.expandable_segments) items.emplace_back("expandable_segments:True");
  if (options.max_split_bytes != defaults.max_split_bytes)
    items.push_back(fmt::format("max_split_size_mb:{}", options.max_split_bytes >> 20));
  if (options.max_non_split_rounding_bytes != defaults.max_non_split_rounding_bytes)
    items.push_back(fmt::format("max_non_split_rounding_mb:{}", options.max_non_split_rounding_bytes >> 20));
  if (const RoundupDivisions& all = options.roundup_power2_divisions; all != defaults.roundup_power2_divisions) {
    std::vector<std::string> entries;
    for (std::size_t i = 0; i < all.size(); ++i) entries.push_back(fmt::format("{}:{}", std::uint64_t{1} << i, all[i]));
    const bool is_same = std::all_of(all.begin(), all.end(), [&](std::uint64_t one) { return one == all.front(); });
    items.push_back(is_same ? fmt::format("roundup_power2_divisions:{}", all.front())
                            : fmt::format("roundup_power2_divisions:[{}]", fmt::join(entries, ",")));
  }
  if (options.garbage_collection_threshold > 0)
    items.push_back(fmt::format("garbage_collection_threshold:{}", options.garbage_collection_threshold));
  return fmt::format("{}", fmt::join(items, ","));
}

}  // namespace hbmscope::allocator::pytorch
