#include "app/cli/dry_run/device_size.h"

#include <fmt/format.h>

#include "allocator/emulated/gpus/gpus.h"
#include "analysis/units/format.h"
#include "app/cli/options.h"

namespace hbmscope::cli {
namespace {

std::string known_names() {
  std::string names;
  for (const allocator::DevicePreset& device : allocator::all_devices())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", device.name);
  return names;
}

}  // namespace

bool is_device_name(std::string_view text) {
  return allocator::find_device(text).has_value();
}

Result<std::uint64_t> device_bytes_from(std::string_view text) {
  if (const auto device = allocator::find_device(text)) return device->bytes();
  const auto bytes = parse_bytes(text);
  if (bytes && *bytes > 0) return static_cast<std::uint64_t>(*bytes);
  return Failure(refusal(fmt::format("'{}' is not a device size", text),
                         fmt::format("Write a size such as 80GiB, or one of {}.", known_names())));
}

std::string find_device_fault(const std::string& text) {
  if (is_device_name(text) || find_count_fault(text).empty()) return {};
  return fmt::format("'{}' is neither a device number nor one of {}", text, known_names());
}

}  // namespace hbmscope::cli
