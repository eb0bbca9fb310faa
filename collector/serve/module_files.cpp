#include "collector/serve/module_files.h"

#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

namespace hbmscope::serve {
namespace {

// Both GDB's and the distributions' rules: by build id, and by the name in the file (.gnu_debuglink).
std::vector<std::string> list_debug_files(const CodeModule& module, const std::string& link) {
  const char* variable = std::getenv(debug_folder_variable);
  std::istringstream folders(variable != nullptr ? variable : "/usr/lib/debug");
  const std::string own_folder = module.path.substr(0, module.path.rfind('/'));
  const bool has_link = !link.empty() && link.find('/') == std::string::npos;
  std::vector<std::string> all;
  if (has_link) {
    all.push_back(own_folder + "/" + link);
    all.push_back(own_folder + "/.debug/" + link);
  }
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.starts_with('/')) continue;
    all.push_back(folder + "/.build-id/" + module.build_id.substr(0, 2) + "/" + module.build_id.substr(2) + ".debug");
    if (has_link) all.push_back(folder.append(own_folder).append("/").append(link));
  }
  return all;
}

// Takes what the files do not have yet.
bool take(ModuleFiles& files, const std::string& path, const std::string& build_id) {
  RegularFile file(path);
  auto symbols = file.is_open() ? ElfSymbols::read(file, build_id) : std::nullopt;
  if (!symbols) return false;
  if (!files.debug_file && symbols->has_debug_info()) {
    files.debug_file.emplace(std::move(file));
    files.debug_path = path;
  }
  if (!files.symbols || (!files.symbols->has_full_table() && symbols->has_full_table()))
    files.symbols = std::move(symbols);
  return true;
}

}  // namespace

ModuleFiles read_module_files(const CodeModule& module) {
  ModuleFiles files;
  const std::string root = "/proc/" + std::to_string(module.process) + "/root";
  const bool is_read = take(files, root + module.path, module.build_id) ||
                       (!module.build_id.empty() && take(files, module.path, module.build_id));
  if (!is_read || module.build_id.size() <= 2) return files;
  // Distributions keep full tables and debugging information in separate files.
  const std::string link = files.symbols->debug_link();
  for (const std::string& candidate : list_debug_files(module, link)) {
    if (files.symbols->has_full_table() && files.debug_file) break;
    if (!take(files, root + candidate, module.build_id)) take(files, candidate, module.build_id);
  }
  return files;
}

}  // namespace hbmscope::serve
