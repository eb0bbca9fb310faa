// What the demo's controls offer.
#pragma once

#include <string_view>
#include <vector>

namespace hbmscope::gui {

struct DemoChoice {
  std::string_view name;        // As a command has it.
  std::string_view title;       // As a person reads it.
  std::string_view shows = {};  // What to look at.
};
std::vector<DemoChoice> demo_workloads();
std::vector<DemoChoice> demo_allocators();  // Values of XLA_PYTHON_CLIENT_ALLOCATOR.
std::vector<DemoChoice> demo_devices();     // Sizes, and common GPUs by name.

}  // namespace hbmscope::gui
