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

extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) {
  static std::atomic<void*> known_next{nullptr};
  void* next = known_next.load(std::memory_order_acquire);
  if (next == nullptr) known_next.store(next = find_next_at_start("dlclose"), std::memory_order_release);
  const int result = reinterpret_cast<int (*)(void*)>(next)(handle);
  forget_unloaded_driver();
  return result;
}

// dlsym and dlvsym answer for the names of our entry points; all others go on to the next dlsym with the caller's
// return address, which tells glibc for whom RTLD_NEXT is meant, and which libraries RTLD_DEFAULT includes.
#if defined(__x86_64__)

using LookUp = void* (*)(void*, const char*);
using LookUpVersion = void* (*)(void*, const char*, const char*);

// Read by the assembly below.
extern "C" {
__attribute__((visibility("hidden"))) void* hbmscope_next_dlsym[2] = {nullptr, nullptr};
__attribute__((visibility("hidden"))) void* hbmscope_find_next_dlsym(int is_versioned) {
  void* next = find_next_at_start(is_versioned != 0 ? "dlvsym" : "dlsym");
  __atomic_store_n(&hbmscope_next_dlsym[is_versioned], next, __ATOMIC_RELEASE);
  return next;
}
}

namespace {

LookUp next_dlsym() {
  void* next = __atomic_load_n(&hbmscope_next_dlsym[0], __ATOMIC_ACQUIRE);
  return reinterpret_cast<LookUp>(next != nullptr ? next : hbmscope_find_next_dlsym(0));
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) bool hbmscope_is_entry_point(const char* name) {
  return is_entry_point(name);
}
// JAX has loaded a plugin, and is about to use it.
extern "C" __attribute__((visibility("hidden"))) void hbmscope_before_dlsym(const char* name) {
  if (std::strcmp(name, "GetPjrtApi") != 0) return;
  const int errno_of_job = errno;
  look_for_pools();
  errno = errno_of_job;
}
extern "C" __attribute__((visibility("hidden"))) void* hbmscope_look_up(void* handle, const char* name,
                                                                        const void* caller) {
  return replace_looked_up(name, next_dlsym()(handle, name), next_dlsym(), caller);
}
extern "C" __attribute__((visibility("hidden"))) void* hbmscope_look_up_version(void* handle, const char* name,
                                                                                const char* version,
                                                                                const void* caller) {
  void* next = __atomic_load_n(&hbmscope_next_dlsym[1], __ATOMIC_ACQUIRE);
  if (next == nullptr) next = hbmscope_find_next_dlsym(1);
  return replace_looked_up(name, reinterpret_cast<LookUpVersion>(next)(handle, name, version), next_dlsym(), caller);
}

// Calls a function of ours before the next one is jumped to: argument registers are saved meanwhile, and the stack is
// aligned to sixteen bytes at the call. `argument` sets the function's own one.
#define HBMSCOPE_CALL_FIRST(argument, function)            \
  "  pushq %rdi\n"                                         \
  ".cfi_adjust_cfa_offset 8\n"                             \
  "  pushq %rsi\n"                                         \
  ".cfi_adjust_cfa_offset 8\n"                             \
  "  pushq %rdx\n"                                         \
  ".cfi_adjust_cfa_offset 8\n" argument "  call " function \
  "\n"                                                     \
  "  popq %rdx\n"                                          \
  ".cfi_adjust_cfa_offset -8\n"                            \
  "  popq %rsi\n"                                          \
  ".cfi_adjust_cfa_offset -8\n"                            \
  "  popq %rdi\n"                                          \
  ".cfi_adjust_cfa_offset -8\n"
#define HBMSCOPE_WITH_NAME "  movq %rsi, %rdi\n"

// RTLD_NEXT is -1. `ours` gets the caller's return address as its last argument.
#define HBMSCOPE_DLSYM(symbol, is_versioned, ours, last_argument) \
  __asm__(                                                                                     \
      ".pushsection .text\n"                                                                   \
      ".globl " symbol                                                                         \
      "\n"                                                                                     \
      ".type " symbol                                                                          \
      ", @function\n"                                                                          \
      ".balign 16\n" symbol                                                                    \
      ":\n"                                                                                    \
      ".cfi_startproc\n"                                                                       \
      "  cmpb $'G', (%rsi)\n"                                                                  \
      "  je 3f\n"                                                                              \
      "  cmpb $'c', (%rsi)\n"                                                                  \
      "  jne 4f\n"                                                                             \
      "  cmpb $'u', 1(%rsi)\n"                                                                 \
      "  jne 1f\n"                                                                             \
      "  cmpb $'A', 2(%rsi)\n"                                                                 \
      "  jb 1f\n"                                                                              \
      "  cmpb $'Z', 2(%rsi)\n"                                                                 \
      "  ja 1f\n"                                                                              \
      "5: cmpq $-1, %rdi\n"                                                                    \
      "  je 1f\n" HBMSCOPE_CALL_FIRST(HBMSCOPE_WITH_NAME, "hbmscope_is_entry_point")           \
      "  testb %al, %al\n"                                                                     \
      "  jz 1f\n"                                                                              \
      "  movq (%rsp), " last_argument                                                          \
      "\n"                                                                                     \
      "  jmp " ours                                                                            \
      "\n"                                                                                     \
      "1: movq hbmscope_next_dlsym+" is_versioned                                              \
      "*8(%rip), %rax\n"                                                                       \
      "  testq %rax, %rax\n"                                                                   \
      "  jz 2f\n"                                                                              \
      "  jmpq *%rax\n"                                                                         \
      "2:\n" HBMSCOPE_CALL_FIRST("  movl $" is_versioned ", %edi\n", "hbmscope_find_next_dlsym") \
      "  jmpq *%rax\n"                                                                         \
      "3:\n" HBMSCOPE_CALL_FIRST(HBMSCOPE_WITH_NAME, "hbmscope_before_dlsym")                  \
      "  jmp 1b\n"                                                                             \
      "4: cmpb $'h', (%rsi)\n"                                                                 \
      "  jne 1b\n"                                                                             \
      "  cmpb $'i', 1(%rsi)\n"                                                                 \
      "  jne 1b\n"                                                                             \
      "  cmpb $'p', 2(%rsi)\n"                                                                 \
      "  jne 1b\n"                                                                             \
      "  cmpb $'A', 3(%rsi)\n"                                                                 \
      "  jb 1b\n"                                                                              \
      "  cmpb $'Z', 3(%rsi)\n"                                                                 \
      "  ja 1b\n"                                                                              \
      "  jmp 5b\n"                                                                             \
      ".cfi_endproc\n"                                                                         \
      ".size " symbol ", .-" symbol                                                            \
      "\n"                                                                                     \
      ".popsection\n")
// A framework loads the driver, or another library of its own, before it makes its pools. The caller's return address
// tells glibc whose search paths to use, so this one jumps on, too.
extern "C" {
__attribute__((visibility("hidden"))) void* hbmscope_next_dlopen = nullptr;
__attribute__((visibility("hidden"))) void* hbmscope_before_dlopen() {
  const int errno_of_job = errno;
  look_for_pools();
  errno = errno_of_job;
  void* next = __atomic_load_n(&hbmscope_next_dlopen, __ATOMIC_ACQUIRE);
  if (next == nullptr) __atomic_store_n(&hbmscope_next_dlopen, next = find_next_at_start("dlopen"), __ATOMIC_RELEASE);
  return next;
}
}
__asm__(
    ".pushsection .text\n"
    ".globl dlopen\n"
    ".type dlopen, @function\n"
    ".balign 16\n"
    "dlopen:\n"
    ".cfi_startproc\n" HBMSCOPE_CALL_FIRST("", "hbmscope_before_dlopen")
    "  jmpq *%rax\n"
    ".cfi_endproc\n"
    ".size dlopen, .-dlopen\n"
    ".popsection\n");

HBMSCOPE_DLSYM("dlsym", "0", "hbmscope_look_up", "%rdx");
HBMSCOPE_DLSYM("dlvsym", "1", "hbmscope_look_up_version", "%rcx");

#endif
