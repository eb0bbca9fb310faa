// The calling thread's stack of native code. It is unwound by the tables that every library brings, whatever the code
// was compiled with: by our own reading of them, whose answers are kept (frame_rules.h), and where that meets anything
// unusual (a signal's frame, code that was compiled at run time), anew and as a whole by the unwinder that C++ programs
// have loaded (libgcc_s.so.1). Where none is loaded, by frame pointers, each of which is looked at before it is
// followed; that ends at the first function that keeps none.
//
// An unwinder that came by dlopen can go again. So it is looked for anew when anything has been unloaded
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
  // An object that is loaded, with the loader's lock held.
  void look_into(const dl_phdr_info& object, const char* file);
  void publish() const;

 private:
  void* walk_ = nullptr;
  void* get_address_ = nullptr;
};

struct CodeStack {
  StackFrame* frames;  // Innermost first: of who called us, and so on; the addresses of the instructions that called.
  std::size_t max;
  std::uint64_t unloads;  // As look_at_loaded_code() said just now.
  std::size_t count = 0;
  bool is_cut = false;  // There are more.
  CodeRange stop{};     // Code at which it ends.
};
void walk_code(CodeStack& stack);

// Its first way alone; false: it met something unusual, and `stack` is empty.
bool walk_by_rules(CodeStack& stack);

}  // namespace hbmscope::inject
