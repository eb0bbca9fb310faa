// A code module as the driver gets it: a cubin (an ELF file), a fat binary that contains cubins, or PTX text. Only the
// sizes and the initial values of global variables are read, from the cubin's symbols.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "allocator/emulated/cuda/model/outcome.h"

namespace hbmscope::device {

struct GlobalVariable {
  Bytes bytes;
  std::string initial;  // Empty: zeros.
};

class ModuleImage {
 public:
  // `image` as passed to cuModuleLoadData: its size is in its headers. What is not a cubin has no variables.
  static ModuleImage read(const void* image);
  std::optional<GlobalVariable> find_global(const char* name) const;

 private:
  std::string elf_;
};

}  // namespace hbmscope::device
