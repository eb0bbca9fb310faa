// The loader's functions that we replace: dlsym and dlvsym, which hand out the driver's entry points; dlclose, after
// which the driver may be gone; and dlopen, before which we look at what was loaded earlier.
#include <dlfcn.h>
#include <errno.h>

#include <atomic>
#include <cstring>

#include "collector/inject/driver_symbols.h"
#include "collector/inject/framework_pools.h"
#include "collector/inject/loaded_objects.h"

using namespace hbmscope::inject;

// dlsym and dlvsym answer for the names of our entry points; all others go on to the next dlsym with the caller's
// return address, which tells glibc for whom RTLD_NEXT is meant, and which libraries RTLD_DEFAULT includes. dlopen goes
// on in the same way: there that address says whose search paths count.
using LookUp = void* (*)(void*, const char*);
using LookUpVersion = void* (*)(void*, const char*, const char*);

namespace {

std::atomic<void*> known_dlsym{nullptr}, known_dlvsym{nullptr}, known_dlopen{nullptr}, known_dlclose{nullptr};

void* next_of(std::atomic<void*>& known, const char* name) {
  void* next = known.load(std::memory_order_acquire);
  if (next == nullptr) known.store(next = find_next_at_start(name), std::memory_order_release);
  return next;
}

LookUp next_dlsym() {
  return reinterpret_cast<LookUp>(next_of(known_dlsym, "dlsym"));
}

void look_for_pools_quietly() {
  const int errno_of_job = errno;
  look_for_pools();
  errno = errno_of_job;
}

void* look_up(void* handle, const char* name, const void* caller) {
  return replace_looked_up(name, next_dlsym()(handle, name), next_dlsym(), caller);
}

void* look_up_version(void* handle, const char* name, const char* version, const void* caller) {
  const auto next = reinterpret_cast<LookUpVersion>(next_of(known_dlvsym, "dlvsym"));
  return replace_looked_up(name, next(handle, name, version), next_dlsym(), caller);
}

// "cuMemAlloc", "hipMalloc"
bool may_be_entry_point(const char* name) {
  const auto is_capital = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
  return (name[0] == 'c' && name[1] == 'u' && is_capital(name[2])) ||
         (name[0] == 'h' && name[1] == 'i' && name[2] == 'p' && is_capital(name[3]));
}

// Sanitizers ask for names before their own strcmp can be called.
bool is_ours(void* handle, const char* name) {
  // JAX has loaded a plugin, and will use it.
  if (name[0] == 'G' && std::strcmp(name, "GetPjrtApi") == 0) look_for_pools_quietly();
  return handle != RTLD_NEXT && may_be_entry_point(name) && is_entry_point(name);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) {
  const int result = reinterpret_cast<int (*)(void*)>(next_of(known_dlclose, "dlclose"))(handle);
  forget_unloaded_driver();
  return result;
}

// Called by the assembly below: where to jump.
extern "C" {
__attribute__((visibility("hidden"))) void* hbmscope_target_of_dlsym(void* handle, const char* name) {
  return is_ours(handle, name) ? reinterpret_cast<void*>(look_up) : reinterpret_cast<void*>(next_dlsym());
}
__attribute__((visibility("hidden"))) void* hbmscope_target_of_dlvsym(void* handle, const char* name) {
  return is_ours(handle, name) ? reinterpret_cast<void*>(look_up_version) : next_of(known_dlvsym, "dlvsym");
}
// A framework loads the driver, or another library of its own, before it makes its pools.
__attribute__((visibility("hidden"))) void* hbmscope_target_of_dlopen() {
  look_for_pools_quietly();
  return next_of(known_dlopen, "dlopen");
}
}

// `symbol` asks hbmscope_target_of_`symbol` where to jump, with its own three arguments, and with the caller's return
// address as one more in the register `last`.
#if defined(__x86_64__) || defined(__aarch64__)
#define HBMSCOPE_JUMPS(symbol, last) \
  __asm__(".pushsection .text\n"               \
          ".globl " symbol "\n"                \
          ".type " symbol ", %function\n"      \
          ".balign 16\n" symbol ":\n"          \
          ".cfi_startproc\n"                   \
          HBMSCOPE_ASK_AND_JUMP(symbol, last)  \
          ".cfi_endproc\n"                     \
          ".size " symbol ", .-" symbol "\n"   \
          ".popsection\n")
#endif

#if defined(__x86_64__)
#define HBMSCOPE_ASK_AND_JUMP(symbol, last) \
  "  pushq %rdi\n"                          \
  ".cfi_adjust_cfa_offset 8\n"              \
  "  pushq %rsi\n"                          \
  ".cfi_adjust_cfa_offset 8\n"              \
  "  pushq %rdx\n"                          \
  ".cfi_adjust_cfa_offset 8\n"              \
  "  call hbmscope_target_of_" symbol       \
  "\n"                                      \
  "  popq %rdx\n"                           \
  ".cfi_adjust_cfa_offset -8\n"             \
  "  popq %rsi\n"                           \
  ".cfi_adjust_cfa_offset -8\n"             \
  "  popq %rdi\n"                           \
  ".cfi_adjust_cfa_offset -8\n"             \
  "  movq (%rsp), %" last                   \
  "\n"                                      \
  "  jmpq *%rax\n"
HBMSCOPE_JUMPS("dlsym", "rdx");
HBMSCOPE_JUMPS("dlvsym", "rcx");
HBMSCOPE_JUMPS("dlopen", "rcx");
#elif defined(__aarch64__)
#define HBMSCOPE_ASK_AND_JUMP(symbol, last) \
  "  stp x29, x30, [sp, #-48]!\n"           \
  ".cfi_def_cfa_offset 48\n"                \
  ".cfi_offset 29, -48\n"                   \
  ".cfi_offset 30, -40\n"                   \
  "  mov x29, sp\n"                         \
  "  stp x0, x1, [sp, #16]\n"               \
  "  str x2, [sp, #32]\n"                   \
  "  bl hbmscope_target_of_" symbol         \
  "\n"                                      \
  "  mov x16, x0\n"                         \
  "  ldp x0, x1, [sp, #16]\n"               \
  "  ldr x2, [sp, #32]\n"                   \
  "  ldp x29, x30, [sp], #48\n"             \
  ".cfi_def_cfa_offset 0\n"                 \
  ".cfi_restore 29\n"                       \
  ".cfi_restore 30\n"                       \
  "  mov " last                             \
  ", x30\n"                                 \
  "  br x16\n"
HBMSCOPE_JUMPS("dlsym", "x2");
HBMSCOPE_JUMPS("dlvsym", "x3");
HBMSCOPE_JUMPS("dlopen", "x3");
#endif
