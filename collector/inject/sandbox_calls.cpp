// In front of glibc's prctl() and syscall(), or of another library's that stands in front of glibc's: they notice a
// filter of system calls that is added. Where there is none behind this library, which is so in a process that was
// attached to, the kernel is called.
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "collector/inject/loaded_objects.h"
#include "collector/inject/rings.h"
#include "collector/inject/sandbox.h"

#if defined(__x86_64__) || defined(__aarch64__)

namespace hbmscope::inject {
namespace {

long call_kernel(long number, const long (&arguments)[6]) {
#if defined(__x86_64__)
  long result = number;
  register long fourth __asm__("r10") = arguments[3];
  register long fifth __asm__("r8") = arguments[4];
  register long sixth __asm__("r9") = arguments[5];
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
#else
  register long result __asm__("x0") = arguments[0];
  register long second __asm__("x1") = arguments[1];
  register long third __asm__("x2") = arguments[2];
  register long fourth __asm__("x3") = arguments[3];
  register long fifth __asm__("x4") = arguments[4];
  register long sixth __asm__("x5") = arguments[5];
  register long call __asm__("x8") = number;
  __asm__ volatile("svc 0"
                   : "+r"(result)
                   : "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth), "r"(call)
                   : "memory");
#endif
  constexpr long errors_end = -4096;
  if (result >= 0 || result <= errors_end) return result;
  errno = static_cast<int>(-result);
  return -1;
}

using Call = long (*)(long, ...);

// Found once, by each thread that comes early.
class Next {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}
  Call get() {
    if (!is_known_.load(std::memory_order_acquire)) {
      call_.store(reinterpret_cast<Call>(find_next_at_start(name_)), std::memory_order_relaxed);
      is_known_.store(true, std::memory_order_release);
    }
    return call_.load(std::memory_order_relaxed);
  }

 private:
  const char* name_;
  std::atomic<Call> call_{nullptr};
  std::atomic<bool> is_known_{false};
};
Next next_syscall("syscall"), next_prctl("prctl");

long pass_on(Next& next, long number, const long (&arguments)[6]) {
  const Call call = next.get();
  if (call == nullptr) return call_kernel(number, arguments);
  const long* a = arguments;
  // prctl() returns an int.
  return &next == &next_prctl ? static_cast<int>(call(a[0], a[1], a[2], a[3], a[4]))
                              : call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// Known before the filter is in force, because another thread may be about to make a call that it forbids.
long add_filter(Next& next, long number, const long (&arguments)[6]) {
  const int errno_before = errno;
  const bool is_ours = is_watched_for_sandbox();
  errno = errno_before;
  const bool was_sandboxed = is_ours && is_in_sandbox.exchange(true);
  const long result = pass_on(next, number, arguments);
  if (is_ours && result != 0) is_in_sandbox.store(was_sandboxed);
  if (is_ours && result == 0) rings.note_sandbox();
  return result;
}

}  // namespace
}  // namespace hbmscope::inject

extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  using namespace hbmscope::inject;
  long arguments[6] = {};
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  const bool adds =
      number == SYS_seccomp && (arguments[0] == SECCOMP_SET_MODE_STRICT || arguments[0] == SECCOMP_SET_MODE_FILTER);
  return adds ? add_filter(next_syscall, number, arguments) : pass_on(next_syscall, number, arguments);
}

extern "C" __attribute__((visibility("default"))) int prctl(int option, ...) noexcept {
  using namespace hbmscope::inject;
  long arguments[6] = {option};
  va_list list;
  va_start(list, option);
  for (int i = 1; i < 5; ++i) arguments[i] = va_arg(list, long);
  va_end(list);
  return static_cast<int>(option == PR_SET_SECCOMP ? add_filter(next_prctl, SYS_prctl, arguments)
                                                   : pass_on(next_prctl, SYS_prctl, arguments));
}

#endif
