// What real compilers said of TPU memory, where there is a folder of it.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::allocator::tpu {

// Of a file below ${HBMSCOPE_DATA} (default: shared/data beside the checkout). None: the file is missing.
std::vector<std::string> lines_of_data(const std::string& file);
// Why a test is skipped.
std::string no_data(const std::string& file);
// Between tabs.
std::vector<std::string> cells_of(const std::string& line);

}  // namespace hbmscope::allocator::tpu
