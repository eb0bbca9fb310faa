// Files that belong to this program: next to it in a build, in lib/hbmscope when it is installed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

std::filesystem::path program_path();  // The program of this process.

// libhbmscope_collector.so; nothing if it is missing, which is this error.
std::optional<std::filesystem::path> find_collector();
Error collector_is_missing();
// The folder with the libraries of the emulated device (allocator/emulated/cuda/README.md). Empty if there is none.
std::filesystem::path find_emulated_folder();
// The plugin of the emulated TPU there (allocator/emulated/tpu/plugin); nothing if it is missing.
std::optional<std::filesystem::path> find_tpu_plugin();

// The page for browsers in one file (app/web); nothing if it is missing.
std::optional<std::filesystem::path> find_viewer_page();

// The Python whose packages commands use, unless --python names another one: that of the virtual environment in which
// hbmscope is installed, otherwise the one on the PATH.
std::string default_python();

// A Python program that belongs to this one: "fleet/store.py" (app/fleet); nothing if it is missing.
std::optional<std::filesystem::path> find_python_program(const std::string& name);

// "samples/tpu/server.json", "samples/leak_step_*.pprof.gz", as help and pages have it, where the program is installed.
std::vector<std::string> find_samples(const std::string& pattern);
// The folder of the documentation of this installation; empty where there is none.
std::string find_documentation();

// Why the loader can't preload a file with this path; nothing if it can. `owner`: "the collector".
std::optional<Error> find_preload_fault(std::string_view owner, const std::string& path);

}  // namespace hbmscope::cli
