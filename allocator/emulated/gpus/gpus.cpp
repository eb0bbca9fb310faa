#include "allocator/emulated/gpus/gpus.h"

#include <algorithm>

namespace hbmscope::allocator {
namespace {

// Reported: "GPU 0 has a total capacity of 79.11 GiB", as PyTorch prints the result of cuMemGetInfo.
constexpr DevicePreset devices[] = {
    {"t4", "NVIDIA T4", 1475, true, "github.com/hpcaitech/Open-Sora/issues/697", 75, 40, 135},
    {"v100-16", "NVIDIA V100 16GB", 1600, false, "nvidia.com/en-us/data-center/v100", 70, 80},
    {"v100-32", "NVIDIA V100 32GB", 3200, false, "nvidia.com/en-us/data-center/v100", 70, 80},
    {"a10", "NVIDIA A10 24GB", 2400, false, "nvidia.com/en-us/data-center/products/a10-gpu", 86, 72, 307},
    {"a30", "NVIDIA A30 24GB", 2353, true, "github.com/google/RB-Modulation/issues/5", 80, 56},
    {"a100-40", "NVIDIA A100 40GB", 3950, true, "github.com/TianheWu/CoSeR/issues/10", 80, 108},
    {"a100-80", "NVIDIA A100 80GB", 7925, true, "github.com/levihsu/OOTDiffusion/issues/235", 80, 108},
    {"a6000", "NVIDIA RTX A6000 48GB", 4800, false, "nvidia.com/en-us/design-visualization/rtx-a6000", 86, 84, 307},
    {"l4", "NVIDIA L4 24GB", 2400, false, "nvidia.com/en-us/data-center/l4", 89, 58},
    {"l40", "NVIDIA L40 48GB", 4440, true, "github.com/NVlabs/Eagle/issues/68", 89, 142},
    {"l40s", "NVIDIA L40S 48GB", 4442, true, "github.com/stepfun-ai/Step-Video-T2V/issues/8", 89, 142},
    {"h100-80", "NVIDIA H100 80GB", 7911, true, "github.com/vllm-project/vllm/issues/27508", 90, 132},
    {"h100-94", "NVIDIA H100 NVL 94GB", 9400, false, "nvidia.com/en-us/data-center/h100", 90, 132},
    {"h200", "NVIDIA H200 141GB", 14100, false, "nvidia.com/en-us/data-center/h200", 90, 132},
    {"b200", "NVIDIA B200 180GB", 18000, false, "nvidia.com/en-us/data-center/dgx-b200: 1,440 GB in eight", 100, 148},
    {"rtx3070", "NVIDIA RTX 3070 8GB", 778, true, "github.com/akshitac8/OW-DETR/issues/46", 86, 46, 205},
    {"rtx3090", "NVIDIA RTX 3090 24GB", 2400, false, "nvidia.com/en-us/geforce/graphics-cards/30-series", 86, 82, 307},
    {"rtx4090", "NVIDIA RTX 4090 24GB", 2368, true, "github.com/zai-org/CogVideo/issues/36", 89, 128},
    {"rtx5090", "NVIDIA RTX 5090 32GB", 3137, true, "github.com/Wan-Video/Wan2.1/issues/465", 120, 170, 594},
    {"rtx6000-ada", "NVIDIA RTX 6000 Ada 48GB", 4443, true, "github.com/DINGYANB/MTVCrafter/issues/21", 89, 142},
    {"mi210", "AMD Instinct MI210 64GB", 6400, false, "amd.com/en/products/accelerators/instinct/mi200/mi210"},
    {"mi250x", "AMD Instinct MI250X, one die, 64GB", 6400, false,
     "amd.com/en/products/accelerators/instinct/mi200/mi250x: 128 GB in two dies, each a device"},
    {"mi300x", "AMD Instinct MI300X 192GB", 19200, false, "amd.com/en/products/accelerators/instinct/mi300/mi300x"},
    {"mi325x", "AMD Instinct MI325X 256GB", 25600, false, "amd.com/en/products/accelerators/instinct/mi300/mi325x"},
    {"mi355x", "AMD Instinct MI355X 288GB", 28800, false, "amd.com/en/products/accelerators/instinct/mi350/mi355x"},
};

constexpr DeviceAlias aliases[] = {{"a100", "a100-80"}, {"h100", "h100-80"}, {"v100", "v100-16"}};

}  // namespace

std::span<const DevicePreset> all_devices() {
  return devices;
}

std::span<const DeviceAlias> device_aliases() {
  return aliases;
}

std::optional<DevicePreset> find_device(std::string_view name) {
  for (const DeviceAlias& alias : aliases)
    if (alias.name == name) name = alias.device;
  const auto found = std::find_if(std::begin(devices), std::end(devices),
                                  [&](const DevicePreset& device) { return device.name == name; });
  if (found == std::end(devices)) return {};
  return *found;
}

}  // namespace hbmscope::allocator
