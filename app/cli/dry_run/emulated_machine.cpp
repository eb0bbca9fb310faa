#include "app/cli/dry_run/emulated_machine.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "allocator/emulated/accounts/tpu_account.h"
#include "allocator/emulated/cuda/model/settings.h"
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

// "2x4" or "2x2x1": the number of chips. Nothing if it is neither.
std::optional<int> chips_from(std::string_view slice) {
  constexpr int chips_max = 1 << 16;
  int chips = 1, sizes = 0;
  while (true) {
    int size = 0;
    const auto parsed = std::from_chars(slice.data(), slice.data() + slice.size(), size);
    if (parsed.ec != std::errc() || size < 1 || size > chips_max / chips) return std::nullopt;
    chips *= size;
    ++sizes;
    slice.remove_prefix(static_cast<std::size_t>(parsed.ptr - slice.data()));
    if (slice.empty()) return sizes > 1 ? std::optional(chips) : std::nullopt;
    if (slice.front() != 'x') return std::nullopt;
    slice.remove_prefix(1);
  }
}

Result<std::uint64_t> read_device_bytes(std::string_view text) {
  const auto bytes = parse_bytes(text);
  if (bytes && *bytes >= (std::int64_t{1} << 30)) return static_cast<std::uint64_t>(*bytes);
  return Failure(
      refusal(fmt::format("'{}' is not a size of 1 GiB or more", printable(text)), "Write e.g. --device-bytes 40GiB."));
}

Result<EmulatedMachine> tpu_slice_from(const allocator::tpu::Generation& generation, std::string_view slice,
                                       std::string_view device_bytes) {
  if (slice.empty()) slice = generation.smallest_topology;
  const auto chips = chips_from(slice);
  if (!chips)
    return Failure(refusal(fmt::format("'{}' is not a slice of TPU {}", printable(slice), generation.name),
                           fmt::format("Write the chips in each direction, e.g. {}:{}.", generation.name,
                                       generation.smallest_topology == "2x2x1" ? "2x2x2" : "2x4")));
  EmulatedMachine machine;
  machine.tpu = &generation;
  machine.topology = fmt::format("{}:{}", generation.name, slice);
  machine.device.name = generation.name;
  machine.device.title = generation.jax_kind;
  machine.count = *chips * static_cast<int>(generation.devices_per_chip);
  machine.device_bytes = generation.hbm_usable.value;
  if (machine.count > static_cast<int>(allocator::tpu::account_devices_max))
    return Failure(
        refusal(fmt::format("{} has {} devices", machine.topology, machine.count),
                fmt::format("At most {} can be emulated in one process.", allocator::tpu::account_devices_max)));
  if (!device_bytes.empty()) {
    const auto bytes = read_device_bytes(device_bytes);
    if (!bytes) return Failure(bytes.error());
    machine.device_bytes = *bytes;
  }
  return machine;
}

std::string tpu_table(const Terminal& terminal) {
  std::vector<std::vector<Value>> rows;
  for (const allocator::tpu::Generation& one : allocator::tpu::all_generations())
    rows.push_back({std::string(one.name), one.hbm_usable.value, one.devices_per_chip == 1 ? "chip" : "core",
                    fmt::format("{}:{}", one.name, one.smallest_topology), std::string(one.jax_kind)});
  return text_from_table({.columns = {{.title = "TPU"},
                                      {.title = "HBM", .unit = Unit::bytes},
                                      {.title = "Of a"},
                                      {.title = "Smallest slice"},
                                      {.title = "Name in JAX"}},
                          .rows = std::move(rows)},
                         TextStyle{.paint = terminal.style().paint, .shows_all = true});
}

}  // namespace

Result<EmulatedMachine> emulated_machine_from(std::string_view spec, std::string_view device_bytes) {
  EmulatedMachine machine;
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  if (const auto* generation = allocator::tpu::find_generation(name))
    return tpu_slice_from(*generation, colon == spec.npos ? std::string_view() : spec.substr(colon + 1), device_bytes);
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
    const auto bytes = read_device_bytes(device_bytes);
    if (!bytes) return Failure(bytes.error());
    machine.device_bytes = *bytes;
  }
  return machine;
}

std::string text_from_machine(const EmulatedMachine& machine) {
  const std::string size = text_from_bytes(machine.device_bytes);
  if (machine.tpu != nullptr)
    return fmt::format("{} ({}, {} of HBM{})", machine.topology,
                       text_from_count_of(static_cast<std::uint64_t>(machine.count), machine.tpu_unit(),
                                          std::string(machine.tpu_unit()) + "s"),
                       size, machine.count == 1 ? "" : " each");
  if (machine.count == 1) return fmt::format("{}, {}", machine.device.title, size);
  return fmt::format("{} x {}, {} each", machine.count, machine.device.title, size);
}

std::vector<std::pair<std::string, std::string>> variables_of(const EmulatedMachine& machine) {
  if (machine.tpu != nullptr)
    return {{"HBMSCOPE_TPU_TOPOLOGY", machine.topology},
            {"HBMSCOPE_TPU_HBM_BYTES", std::to_string(machine.device_bytes)}};
  return {{"HBMSCOPE_DEVICE_COUNT", std::to_string(machine.count)},
          {"HBMSCOPE_DEVICE_BYTES", std::to_string(machine.device_bytes)},
          {"HBMSCOPE_DEVICE_CONTEXT_BYTES", std::to_string(machine.device.context_bytes())},
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
                         {"context_bytes", device.context_bytes()},
                         {"is_reported", device.is_reported},
                         {"compute_capability", capability_text(device)},
                         {"multiprocessors", device.multiprocessors},
                         {"source", device.source}});
    }
    nlohmann::ordered_json tpus = nlohmann::ordered_json::array();
    for (const allocator::tpu::Generation& one : allocator::tpu::all_generations())
      tpus.push_back({{"name", one.name},
                      {"title", one.jax_kind},
                      {"hbm_bytes", one.hbm_usable.value},
                      {"devices_per_chip", one.devices_per_chip},
                      {"smallest_topology", one.smallest_topology}});
    return print_to_stdout(text_from_json({{"schema", 1}, {"devices", devices}, {"tpus", tpus}})) ? exit_ok
                                                                                                  : exit_unreadable;
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
  text += "* the published size; a driver reports up to a fiftieth less\n\n" + tpu_table(terminal) +
          "\n"
          "hbmscope run --emulate h100 -- python train.py     one device\n"
          "hbmscope run --emulate h100:8 -- python train.py   eight\n"
          "hbmscope run --emulate v5e:2x4 -- python train.py  eight TPU chips, for JAX\n";
  return print_to_stdout(text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
