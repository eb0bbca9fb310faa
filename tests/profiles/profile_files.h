// The profiles that tests run on: the committed samples, and whatever lies in the folder of real data, which is not
// part of the repository: ${HBMSCOPE_DATA}, or ../shared/data beside it. No file is named, so that new ones are tested
// by being put there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hbmscope::test {

std::vector<std::filesystem::path> sample_files();  // samples/*.pprof.gz, sorted; never empty in a whole checkout.

// pprof/* and jax/*.pprof.gz of the data folder, sorted. Empty where the folder is missing; `reason_if_none` then says
// where it was looked for.
std::vector<std::filesystem::path> real_files(std::string& reason_if_none);

std::string read_whole_file(const std::filesystem::path& path);

}  // namespace hbmscope::test
