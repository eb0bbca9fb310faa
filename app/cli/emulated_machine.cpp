#include "app/cli/emulated_machine.h"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "allocator/device/model/settings.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

constexpr const char* list_hint = "hbmscope emulate lists the devices.";

bool is_cuda(const allocator::DevicePreset& device) {
  return device.compute_capability > 0;
}

std::string capability_text(const allocator::DevicePreset& device) {
  return fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10);
}

std::vector<std::string_view> aliases_of(const allocator::DevicePreset& device) {
  std::vector<std::string_view> names;
  for (const allocator::DeviceAlias& alias : allocator::device_aliases())
    if (alias.device == device.name) names.push_back(alias.name);
  return names;
}

}  // namespace

Result<EmulatedMachine> emulated_machine_from(std::string_view spec, std::string_view device_bytes) {
  EmulatedMachine machine;
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const auto device = allocator::find_device(name);
  if (!device) return Failure(refusal(fmt::format("there is no device '{}' to emulate", printable(name)), list_hint));
  if (!is_cuda(*device))
    return Failure(
        refusal(fmt::format("{} is not a CUDA device, and only those can be emulated", device->title), list_hint));
  machine.device = *device;
  machine.device_bytes = device->bytes();
  if (colon != spec.npos) {
    const std::string_view count = spec.substr(colon + 1);
    const auto parsed = std::from_chars(count.data(), count.data() + count.size(), machine.count);
    if (parsed.ec != std::errc() || parsed.ptr != count.data() + count.size() || machine.count < 1 ||
        machine.count > device::device_count_max)
      return Failure(refusal(
          fmt::format("'{}' is not a number of devices between 1 and {}", printable(count), device::device_count_max),
          fmt::format("Write e.g. {}:8.", name)));
  }
  if (!device_bytes.empty()) {
    const auto bytes = parse_bytes(device_bytes);
    if (!bytes || *bytes < (std::int64_t{1} << 30))
      return Failure(refusal(fmt::format("'{}' is not a size of 1 GiB or more", printable(device_bytes)),
                             "Write e.g. --device-bytes 40GiB."));
    machine.device_bytes = static_cast<std::uint64_t>(*bytes);
  }
  return machine;
}

std::string text_from_machine(const EmulatedMachine& machine) {
  const std::string size = text_from_bytes(machine.device_bytes);
  if (machine.count == 1) return fmt::format("{}, {}", machine.device.title, size);
  return fmt::format("{} x {}, {} each", machine.count, machine.device.title, size);
}

std::vector<std::pair<std::string, std::string>> variables_of(const EmulatedMachine& machine) {
  return {{"HBMSCOPE_DEVICE_COUNT", std::to_string(machine.count)},
          {"HBMSCOPE_DEVICE_BYTES", std::to_string(machine.device_bytes)},
          {"HBMSCOPE_DEVICE_CONTEXT_BYTES", std::to_string(device::Settings{}.context_bytes)},
          {"HBMSCOPE_DEVICE_NAME", std::string(machine.device.title)},
          {"HBMSCOPE_DEVICE_COMPUTE", capability_text(machine.device)},
          {"HBMSCOPE_DEVICE_SMS", std::to_string(machine.device.multiprocessors)}};
}

int run_emulate(bool json) {
  if (json) {
    nlohmann::ordered_json devices = nlohmann::ordered_json::array();
    for (const allocator::DevicePreset& device : allocator::all_devices()) {
      if (!is_cuda(device)) continue;
      devices.push_back({{"name", device.name},
                         {"aliases", aliases_of(device)},
                         {"title", device.title},
                         {"total_bytes", device.bytes()},
                         {"is_reported", device.is_reported},
                         {"compute_capability", capability_text(device)},
                         {"multiprocessors", device.multiprocessors},
                         {"source", device.source}});
    }
    return print_to_stdout(text_from_json({{"schema", 1}, {"devices", devices}})) ? exit_ok : exit_unreadable;
  }
  const Terminal terminal = Terminal::of_stdout();
  std::string text = terminal.paint("device       memory     compute  SMs  name\n", Ink::dim);
  for (const allocator::DevicePreset& device : allocator::all_devices()) {
    if (!is_cuda(device)) continue;
    const auto aliases = aliases_of(device);
    text += fmt::format("{:<12} {:<10} {:>7} {:>4}  {}{}\n", device.name,
                        text_from_bytes(device.bytes()) + (device.is_reported ? "" : "*"), capability_text(device),
                        device.multiprocessors, device.title,
                        aliases.empty() ? "" : fmt::format(" ({})", fmt::join(aliases, ", ")));
  }
  text +=
      "* the published size; a driver reports up to a fiftieth less\n\n"
      "hbmscope run --emulate h100 -- python train.py     one device\n"
      "hbmscope run --emulate h100:8 -- python train.py   eight\n";
  return print_to_stdout(text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
