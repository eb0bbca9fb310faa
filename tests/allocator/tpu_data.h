// Outputs of real compilers about TPU memory, if the folder of real data is available.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::allocator::tpu {

// The lines of a file below ${HBMSCOPE_DATA} (default: shared/data next to the checkout). Empty: the file is missing.
std::vector<std::string> lines_of_data(const std::string& file);
// Why a test is skipped.
std::string no_data(const std::string& file);
// The cells of a line, separated by tabs.
std::vector<std::string> cells_of(const std::string& line);

}  // namespace hbmscope::allocator::tpu
