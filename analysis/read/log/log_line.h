// The lines of a log as a person would read them: without colours, with the steps of progress bars apart, and with the
// lines inside JSON strings (structured logs, notebooks) as lines of their own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope::log {

// Calls `use` for each line within a physical line, which has no line end. `use` must not keep the text.
void for_each_line(std::string_view physical, const std::function<void(std::string_view)>& use);

// The same, kept.
std::vector<std::string> lines_of(std::string_view physical);

}  // namespace hbmscope::log
