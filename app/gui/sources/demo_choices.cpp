#include "app/gui/sources/demo_choices.h"

#include "allocator/emulated/gpus/gpus.h"
#include "allocator/emulated/workload/workloads.h"
#include "allocator/reference/catalog/catalog.h"

namespace hbmscope::gui {

std::vector<DemoChoice> demo_workloads() {
  std::vector<DemoChoice> choices;
  for (const auto& one : allocator::workload::all_workloads()) choices.push_back({one.name, one.title, one.shows});
  return choices;
}

std::vector<DemoChoice> demo_allocators() {
  std::vector<DemoChoice> choices{{"", "default: XLA's BFC (not set)"}};
  for (const auto& one : allocator::all_allocators())
    if (!one.jax_setting.empty()) choices.push_back({one.jax_setting, one.name, one.what});
  return choices;
}

std::vector<DemoChoice> demo_devices() {
  std::vector<DemoChoice> choices{{"16GiB", "16 GiB"}, {"24GiB", "24 GiB"}};
  for (const auto& one : allocator::all_devices()) choices.push_back({one.name, one.title, one.source});
  return choices;
}

}  // namespace hbmscope::gui
