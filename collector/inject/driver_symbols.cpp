#include "collector/inject/driver_symbols.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "collector/inject/loaded_objects.h"

#define EXPORTED __attribute__((visibility("default")))

namespace hbmscope::inject {
using namespace driver;
#define TAKES(name, since, parameters, ...) extern "C" EXPORTED Result name parameters;
#define GIVES(name, since, parameters, ...) extern "C" EXPORTED Result name parameters;
#define REFUSES(name, since, parameters, ...) extern "C" EXPORTED Result name parameters;
#define RESOLVES(name, since, parameters, ...) extern "C" EXPORTED Result name parameters;
#include "collector/inject/driver_entries.inc"

namespace {

struct EntryPoint {
  const char* name;
  int since;
  void* ours;
};
#define TAKES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
#define GIVES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
#define REFUSES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
#define RESOLVES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
const EntryPoint entry_points[] = {
#include "collector/inject/driver_entries.inc"
};

// The driver's, or whoever's it is; renewed whenever it is found again, as a driver may be closed and loaded anew.
std::atomic<void*> targets[entry_count];
std::atomic<const void*> driver_address;  // Somewhere in it.
std::atomic<void*> device_helper;         // cuCtxGetDevice; null: not looked for since a target was set.
std::atomic<void*> context_helper;        // cuCtxGetCurrent, likewise.
std::atomic<void*> graph_helper;          // cuDeviceGetGraphMemAttribute, likewise.

bool is_ours(const void* function) {
  for (const EntryPoint& point : entry_points)
    if (point.ours == function) return true;
  return false;
}

void set_target(std::size_t entry, void* target) {
  targets[entry].store(target, std::memory_order_release);
  driver_address.store(target, std::memory_order_release);
  device_helper.store(nullptr, std::memory_order_release);
  context_helper.store(nullptr, std::memory_order_release);
  graph_helper.store(nullptr, std::memory_order_release);
}

Result have_no_device(Device*) {
  return no_device;
}

// Of a driver that exports nothing but cuGetProcAddress.
void* ask_for_function(const char* name) {
  constexpr int oldest_version = 2000;
  void* found = nullptr;
  if (void* ask = targets[static_cast<std::size_t>(Entry::cuGetProcAddress_v2)].load(std::memory_order_acquire))
    reinterpret_cast<decltype(&cuGetProcAddress_v2)>(ask)(name, &found, oldest_version, 0, nullptr);
  else if (void* ask_v1 = targets[static_cast<std::size_t>(Entry::cuGetProcAddress)].load(std::memory_order_acquire))
    reinterpret_cast<decltype(&cuGetProcAddress)>(ask_v1)(name, &found, oldest_version, 0);
  return found;
}

bool ends_a_thread_variant(const char* ending) {
  return std::strstr(ending, "_ptsz") != nullptr || std::strstr(ending, "_ptds") != nullptr;
}

// The endings that the driver's variants of a name have: "", "_v2", "_ptsz", "_v2_ptsz", ... Null: another name.
const char* find_ending(const char* name, const char* symbol) {
  const std::size_t length = std::strlen(symbol);
  if (std::strncmp(name, symbol, length) != 0) return nullptr;
  const char* ending = name + length;
  return *ending == 0 || std::strncmp(ending, "_v", 2) == 0 || ends_a_thread_variant(ending) ? ending : nullptr;
}

}  // namespace

const char* name_of(Entry entry) {
  return entry_points[static_cast<std::size_t>(entry)].name;
}

void* find_target(Entry entry) {
  const auto index = static_cast<std::size_t>(entry);
  void* target = targets[index].load(std::memory_order_acquire);
  if (__builtin_expect(target != nullptr, 1)) return target;
  target = find_next_function(entry_points[index].name);
  if (target != nullptr) set_target(index, target);
  return target;
}

void* replace_found(const char* symbol, void* found, int version, Flags flags) {
  // A driver that asked dlsym itself has ours; so it has where a program that is not position-independent keeps a jump
  // to ours, which is then the function's address for everybody.
  if (is_ours(found) || is_in_program(found)) return found;
  constexpr Flags per_thread_stream = 2;
  const bool is_per_thread = (flags & per_thread_stream) != 0;
  std::size_t best = entry_count;
  bool is_exported = false;
  for (std::size_t i = 0; i < entry_count; ++i) {
    const char* ending = find_ending(entry_points[i].name, symbol);
    if (ending == nullptr) continue;
    // What a name means depends on version and flags; the address is what it is.
    const void* beside = find_function_beside(found, entry_points[i].name);
    if (beside == found) {
      set_target(i, found);
      return entry_points[i].ours;
    }
    is_exported = is_exported || beside != nullptr;
    const bool may_be = entry_points[i].since <= version && (is_per_thread || !ends_a_thread_variant(ending));
    const auto rank = [&](std::size_t entry) {
      const char* its_ending = find_ending(entry_points[entry].name, symbol);
      return entry_points[entry].since + (is_per_thread && ends_a_thread_variant(its_ending) ? 1 : 0);
    };
    if (may_be && (best == entry_count || rank(i) >= rank(best))) best = i;
  }
  // A driver that exports its variants has found a newer one than we know, whose arguments may be others.
  if (best == entry_count || is_exported) return found;
  set_target(best, found);
  return entry_points[best].ours;
}

void* find_helper(const char* name) {
  const void* driver = driver_address.load(std::memory_order_acquire);
  if (driver == nullptr) return nullptr;
  if (void* found = find_function_beside(driver, name)) return found;
  if (void* found = find_next_function(name)) return found;
  return ask_for_function(name);
}

void* find_device_helper() {
  void* helper = device_helper.load(std::memory_order_acquire);
  if (__builtin_expect(helper != nullptr, 1)) return helper;
  helper = find_helper("cuCtxGetDevice");
  if (helper == nullptr) helper = reinterpret_cast<void*>(&have_no_device);
  device_helper.store(helper, std::memory_order_release);
  return helper;
}

static void* find_helper_once(std::atomic<void*>& kept, const char* name) {
  static char is_absent;
  void* helper = kept.load(std::memory_order_acquire);
  if (__builtin_expect(helper == nullptr, 0)) {
    helper = find_helper(name);
    if (helper == nullptr) helper = &is_absent;
    kept.store(helper, std::memory_order_release);
  }
  return helper != &is_absent ? helper : nullptr;
}
void* find_context_helper() {
  return find_helper_once(context_helper, "cuCtxGetCurrent");
}
void* find_graph_helper() {
  return find_helper_once(graph_helper, "cuDeviceGetGraphMemAttribute");
}

}  // namespace hbmscope::inject

// dlsym and dlvsym, for names that begin with "cu"; of all others nothing is known here: they go on to the next one
// with the caller's return address, by which glibc knows whom RTLD_NEXT is meant for.
#if defined(__x86_64__)

using hbmscope::inject::entry_points;
using LookUp = void* (*)(void*, const char*);
using LookUpVersion = void* (*)(void*, const char*, const char*);

// Looked at by the assembly below.
extern "C" {
__attribute__((visibility("hidden"))) void* hbmscope_next_dlsym[2] = {nullptr, nullptr};
__attribute__((visibility("hidden"))) void* hbmscope_find_next_dlsym(int is_versioned) {
  void* next = hbmscope::inject::find_next_at_start(is_versioned != 0 ? "dlvsym" : "dlsym");
  __atomic_store_n(&hbmscope_next_dlsym[is_versioned], next, __ATOMIC_RELEASE);
  return next;
}
}

namespace {

LookUp next_dlsym() {
  void* next = __atomic_load_n(&hbmscope_next_dlsym[0], __ATOMIC_ACQUIRE);
  return reinterpret_cast<LookUp>(next != nullptr ? next : hbmscope_find_next_dlsym(0));
}

void* replace_looked_up(const char* name, void* found) {
  using namespace hbmscope::inject;
  if (found == nullptr) return nullptr;
  for (std::size_t i = 0; i < entry_count; ++i) {
    if (std::strcmp(entry_points[i].name, name) != 0) continue;
    // Ours was in front of the driver's, or there is no driver at all, which is what the caller asks.
    if (found == entry_points[i].ours)
      return find_target(static_cast<Entry>(i)) != nullptr ? found : next_dlsym()(RTLD_NEXT, name);
    set_target(i, found);
    return entry_points[i].ours;
  }
  return found;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) void* hbmscope_look_up(void* handle, const char* name) {
  return replace_looked_up(name, next_dlsym()(handle, name));
}
extern "C" __attribute__((visibility("hidden"))) void* hbmscope_look_up_version(void* handle, const char* name,
                                                                                const char* version) {
  void* next = __atomic_load_n(&hbmscope_next_dlsym[1], __ATOMIC_ACQUIRE);
  if (next == nullptr) next = hbmscope_find_next_dlsym(1);
  return replace_looked_up(name, reinterpret_cast<LookUpVersion>(next)(handle, name, version));
}

// RTLD_NEXT is -1. Registers with arguments are kept while the next one is being found.
#define HBMSCOPE_DLSYM(symbol, is_versioned, ours) \
  __asm__(                                         \
      ".pushsection .text\n"                       \
      ".globl " symbol                             \
      "\n"                                         \
      ".type " symbol                              \
      ", @function\n"                              \
      ".balign 16\n" symbol                        \
      ":\n"                                        \
      ".cfi_startproc\n"                           \
      "  cmpb $'c', (%rsi)\n"                      \
      "  jne 1f\n"                                 \
      "  cmpb $'u', 1(%rsi)\n"                     \
      "  jne 1f\n"                                 \
      "  cmpb $'A', 2(%rsi)\n"                     \
      "  jb 1f\n"                                  \
      "  cmpb $'Z', 2(%rsi)\n"                     \
      "  ja 1f\n"                                  \
      "  cmpq $-1, %rdi\n"                         \
      "  jne " ours                                \
      "\n"                                         \
      "1: movq hbmscope_next_dlsym+" is_versioned  \
      "*8(%rip), %rax\n"                           \
      "  testq %rax, %rax\n"                       \
      "  jz 2f\n"                                  \
      "  jmpq *%rax\n"                             \
      "2: pushq %rdi\n"                            \
      ".cfi_adjust_cfa_offset 8\n"                 \
      "  pushq %rsi\n"                             \
      ".cfi_adjust_cfa_offset 8\n"                 \
      "  pushq %rdx\n"                             \
      ".cfi_adjust_cfa_offset 8\n"                 \
      "  movl $" is_versioned                      \
      ", %edi\n"                                   \
      "  call hbmscope_find_next_dlsym\n"          \
      "  popq %rdx\n"                              \
      ".cfi_adjust_cfa_offset -8\n"                \
      "  popq %rsi\n"                              \
      ".cfi_adjust_cfa_offset -8\n"                \
      "  popq %rdi\n"                              \
      ".cfi_adjust_cfa_offset -8\n"                \
      "  jmpq *%rax\n"                             \
      ".cfi_endproc\n"                             \
      ".size " symbol ", .-" symbol                \
      "\n"                                         \
      ".popsection\n")
HBMSCOPE_DLSYM("dlsym", "0", "hbmscope_look_up");
HBMSCOPE_DLSYM("dlvsym", "1", "hbmscope_look_up_version");

#endif
