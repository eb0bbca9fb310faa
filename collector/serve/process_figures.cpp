// What the driver reports about a process and its devices, as counters of its stream.
#include <algorithm>

#include "collector/serve/process_drain.h"
#include "collector/wire/reported_names.h"

namespace hbmscope::serve {
namespace {

// "GPU-..." and "MIG-..." differ only in what they say it is.
std::string_view number_in(std::string_view uuid) {
  return uuid.substr(std::min<std::size_t>(uuid.size(), 4));
}

}  // namespace

void ProcessDrain::note_device(std::uint32_t ordinal, const std::string& uuid) {
  if (uuid.empty() || ordinal == wire::no_device) return;
  devices_.try_emplace(std::string(number_in(uuid)), ordinal);
}

// A device has the number that the process uses for it: cuda:0 may be the machine's third GPU. That number is known
// only where the process has a heap; "machine's GPU 2" is the number that NVML uses.
std::string ProcessDrain::name_of(const DeviceTotals& device, std::size_t position) const {
  const auto found = devices_.find(std::string(number_in(device.uuid)));
  return found != devices_.end() ? "GPU " + std::to_string(found->second) : name_of_machine(device, position);
}

std::string ProcessDrain::name_of_machine(const DeviceTotals& device, std::size_t position) const {
  const std::string name = device.title.empty() ? "GPU " + std::to_string(position) : device.title;
  return device.uuid.empty() || is_left_alone_ ? name : "machine's " + name;
}

void ProcessDrain::report_figure(const std::string& name, std::uint64_t bytes) {
  const auto [figure, is_new] = reported_figures_.try_emplace(name);
  if (!is_new && figure->second.bytes == bytes && last_drain_ns_ - figure->second.time_ns < clock_record_ns) return;
  figure->second = {bytes, last_drain_ns_};
  wire::CounterRecord counter;
  counter.name = writer_.define_string(name);
  counter.value = static_cast<std::int64_t>(bytes);
  writer_.add(counter, last_drain_ns_);
  if (is_left_alone_) ++figures_;  // There are no other events.
}

void ProcessDrain::note_pool_figure(const wire::CounterRecord& figure, std::string_view name) {
  if (name.starts_with(wire::pool_counter)) pool_figures_[{figure.heap, figure.name}] = figure.value;
}

// For viewers that have skipped to now: a job reports them only when they change.
void ProcessDrain::repeat_pool_figures(std::int64_t now_ns) {
  for (const auto& [place, value] : pool_figures_) {
    wire::CounterRecord figure;
    figure.heap = place.first;
    figure.name = place.second;
    figure.value = value;
    writer_.add(figure, now_ns);
  }
}

void ProcessDrain::report_devices(std::span<const DeviceTotals> devices) {
  bool is_any_reported = false;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string name = name_of(devices[i], i);
    const std::string held_name = name + std::string(wire::held_by_process_ending);
    const HeldMemory held = held_by(static_cast<pid_t>(process_), devices[i]);
    is_any_reported = is_any_reported || held.is_reported;
    // It held memory before and no longer does: record a last 0.
    const bool has_left = !held.is_reported && devices[i].knows_holders && reported_figures_.contains(held_name);
    if (!held.is_reported && !has_left) continue;
    // Before it had a heap there, its figure had the machine's name.
    const std::string name_before = name_of_machine(devices[i], i) + std::string(wire::held_by_process_ending);
    if (name_before != held_name && reported_figures_.contains(name_before)) report_figure(name_before, 0);
    if (devices[i].used_bytes) report_figure(name + std::string(wire::in_use_by_all_ending), *devices[i].used_bytes);
    if (has_left || held.bytes) report_figure(held_name, held.bytes.value_or(0));
  }
  if (!is_any_reported && devices.size() == 1 && devices[0].used_bytes)
    report_figure(name_of(devices[0], 0) + std::string(wire::in_use_by_all_ending), *devices[0].used_bytes);
}

}  // namespace hbmscope::serve
