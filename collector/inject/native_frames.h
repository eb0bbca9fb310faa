// The calling thread's stack of native code. It is unwound by the tables that every library brings, with the unwinder
// that C++ programs have loaded (libgcc_s.so.1), whatever the code was compiled with. Where none is loaded, by frame
// pointers, each of which is looked at before it is followed; that ends at the first function that keeps none.
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
  std::size_t count = 0;
  bool is_cut = false;  // There are more.
  CodeRange stop{};     // Code at which it ends.
};
void walk_code(CodeStack& stack);

}  // namespace hbmscope::inject
