#include "app/gui/core/demo_choices.h"

#include "allocator/workload/workloads.h"

namespace hbmscope::gui {

std::vector<DemoChoice> demo_workloads() {
  std::vector<DemoChoice> choices;
  for (const auto& one : allocator::workload::all_workloads()) choices.push_back({one.name, one.title, one.shows});
  return choices;
}

}  // namespace hbmscope::gui
