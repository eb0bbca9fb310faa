// Parses PYTORCH_CUDA_ALLOC_CONF like c10/cuda/CUDAAllocatorConfig.cpp.
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "allocator/pytorch/caching_allocator.h"

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

tl::expected<void, std::string> take(std::string_view key, std::string_view value, Options& options) {
  if (key == "expandable_segments") {
    if (value != "True" && value != "False")
      return Refusal(fmt::format("{}:{} is neither True nor False, which PyTorch refuses", key, value));
    options.expandable_segments = value == "True";
    return {};
  }
  if (key == "garbage_collection_threshold")
    return Refusal("garbage_collection_threshold has an effect only with a fraction of memory that the program sets");
  if (key != "max_split_size_mb" && key != "max_non_split_rounding_mb" && key != "roundup_power2_divisions")
    return Refusal(fmt::format("unknown setting {}", key));
  const auto number = number_from(key, value);
  if (!number) return Refusal(number.error());
  if (key == "roundup_power2_divisions") {
    if (!std::has_single_bit(*number))
      return Refusal(fmt::format("{}:{} is no power of two, which PyTorch refuses", key, value));
    options.roundup_power2_divisions = *number;
    return {};
  }
  // PyTorch refuses values up to 20 MiB, the size of a segment.
  if (*number <= 20) return Refusal(fmt::format("{}:{} is not above 20, which PyTorch refuses", key, value));
  (key == "max_split_size_mb" ? options.max_split_bytes : options.max_non_split_rounding_bytes) = *number << 20;
  return {};
}

}  // namespace

tl::expected<Options, std::string> options_from_conf(std::string_view conf) {
  Options options;
  while (!conf.empty()) {
    const std::size_t end = std::min(conf.find(','), conf.size());
    const std::string_view item = conf.substr(0, end);
    conf.remove_prefix(std::min(end + 1, conf.size()));
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos) return Refusal(fmt::format("'{}' is not KEY:VALUE", item));
    if (const auto taken = take(item.substr(0, colon), item.substr(colon + 1), options); !taken)
      return Refusal(taken.error());
  }
  return options;
}

}  // namespace hbmscope::allocator::pytorch
