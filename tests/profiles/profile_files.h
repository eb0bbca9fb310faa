// The profiles that tests use: the committed samples, and all files in the folder of real data, which is not part of
// the repository: ${HBMSCOPE_DATA}, or ../shared/data next to it. Files are not listed by name, so adding one to the
// folder is enough to test it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hbmscope::test {

std::vector<std::filesystem::path> sample_files();  // samples/*.pprof.gz, sorted; never empty in a whole checkout.

// pprof/* and jax/*.pprof.gz of the data folder, sorted. Empty if the folder is missing; `reason_if_none` then names
// the folder.
std::vector<std::filesystem::path> real_files(std::string& reason_if_none);

std::string read_whole_file(const std::filesystem::path& path);

}  // namespace hbmscope::test
