// The calling thread's stack of native code. It is unwound with the tables that every library contains, however the
// code was compiled: first by our own table reader, whose results are cached (frame_rules.h). If that meets anything
// unusual (a signal frame, code that was compiled at run time), the whole stack is unwound again by the unwinder that
// C++ programs have loaded (libgcc_s.so.1). If none is loaded, frame pointers are followed, each checked first; that
// ends at the first function that keeps none.
//
// An unwinder that was loaded by dlopen can be unloaded. So it is looked up again after every unload
// (look_at_loaded_code()), and nothing of it is kept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/inject/code_modules.h"
#include "collector/inject/stack_frame.h"

struct dl_phdr_info;

namespace hbmscope::inject {

class UnwinderSearch {
 public:
  // A loaded object, with the loader's lock held.
  void look_into(const dl_phdr_info& object, const char* file);
  void publish() const;

 private:
  void* walk_ = nullptr;
  void* get_address_ = nullptr;
};

struct CodeStack {
  StackFrame* frames;  // Innermost first: our caller, its caller, and so on; the addresses of the call instructions.
  std::size_t max;
  std::uint64_t unloads;  // The result of the last look_at_loaded_code().
  std::size_t count = 0;
  bool is_cut = false;  // The stack has more frames.
  CodeRange stop{};     // The stack ends at this code.
};
void walk_code(CodeStack& stack);

// Uses only our own table reader. False: it met something unusual, and `stack` is empty.
bool walk_by_rules(CodeStack& stack);

}  // namespace hbmscope::inject
