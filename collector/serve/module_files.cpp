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
    if (has_link) all.push_back(folder + own_folder + "/" + link);
  }
  return all;
}

}  // namespace

ModuleFiles read_module_files(const CodeModule& module) {
  ModuleFiles files;
  const std::string root = "/proc/" + std::to_string(module.process) + "/root";
  std::string path = root + module.path;
  files.symbols = ElfSymbols::read(path, module.build_id);
  if (!files.symbols && !module.build_id.empty()) files.symbols = ElfSymbols::read(path = module.path, module.build_id);
  if (!files.symbols) return files;
  if (files.symbols->has_debug_info()) files.debug_file = path;
  if (module.build_id.size() <= 2 || (files.symbols->has_full_table() && !files.debug_file.empty())) return files;
  // Distributions keep full tables and debugging information in separate files.
  for (const std::string& candidate : list_debug_files(module, files.symbols->debug_link()))
    for (const std::string& seen : {root + candidate, candidate}) {
      auto apart = ElfSymbols::read(seen, module.build_id);
      if (!apart) continue;
      if (files.debug_file.empty() && apart->has_debug_info()) files.debug_file = seen;
      if (!files.symbols->has_full_table() && apart->has_full_table()) files.symbols = std::move(apart);
      if (files.symbols->has_full_table() && !files.debug_file.empty()) return files;
    }
  return files;
}

}  // namespace hbmscope::serve
