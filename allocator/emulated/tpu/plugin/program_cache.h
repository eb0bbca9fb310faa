// Compiled programs in files, so that the same program is compiled once, also by later runs and by other processes. The
// name of a file is a hash of everything that the result depends on.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "allocator/emulated/tpu/plugin/compiled_program.h"

namespace hbmscope::allocator::tpu::plugin {

class ProgramCache {
 public:
  // An empty folder: nothing is kept.
  explicit ProgramCache(std::string folder) : folder_(std::move(folder)) {}

  // `parts`: the program, the options, the compiler's version, the topology.
  static std::string key_from(std::initializer_list<std::string_view> parts);

  // Null: not there, or unreadable.
  std::shared_ptr<const CompiledProgram> find(const std::string& key) const;
  // What can't be written isn't kept, without a word.
  void keep(const std::string& key, const CompiledProgram& program) const;

 private:
  std::string path_of(const std::string& key) const { return folder_ + "/" + key + ".program"; }

  std::string folder_;
};

}  // namespace hbmscope::allocator::tpu::plugin
