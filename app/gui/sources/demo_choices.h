// The choices in the demo's controls.
#pragma once

#include <string_view>
#include <vector>

namespace hbmscope::gui {

struct DemoChoice {
  std::string_view name;        // As used in a command.
  std::string_view title;       // As shown in the window.
  std::string_view shows = {};  // What the user should look at.
};
std::vector<DemoChoice> demo_workloads();
std::vector<DemoChoice> demo_allocators();  // Values of XLA_PYTHON_CLIENT_ALLOCATOR.
std::vector<DemoChoice> demo_devices();     // Sizes, and common GPUs by name.

}  // namespace hbmscope::gui
