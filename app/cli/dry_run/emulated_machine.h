// The machine of `hbmscope run --emulate h100:8` or `--emulate v5e:2x4`: how it is named and started.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/judge/dry_run.h"
#include "analysis/model/result.h"

namespace hbmscope::cli {

// `spec` is "h100" or "h100:8", or a TPU generation with its slice: "v5e:2x4". `device_bytes` ("40GiB") replaces the
// device's memory unless it is empty. Errors: there is no such device, it can't be emulated, or the number or the size
// is wrong.
Result<EmulatedMachine> emulated_machine_from(std::string_view spec, std::string_view device_bytes);
std::string text_from_machine(const EmulatedMachine& machine);  // "8 x NVIDIA H100 80GB, 79.1 GiB each"

// The variables that the libraries of allocator/emulated/cuda read, or the plugin in allocator/emulated/tpu/plugin.
std::vector<std::pair<std::string, std::string>> variables_of(const EmulatedMachine& machine);

// hbmscope emulate: lists the devices.
int run_emulate(bool json);

}  // namespace hbmscope::cli
