#include "collector/inject/sandbox.h"

#include <unistd.h>

#include <cstring>

#include "collector/inject/file_text.h"
#include "collector/inject/rings.h"

namespace hbmscope::inject {
namespace {

int expected_filters = 0;
// Set where filters matter: in a process that may be observed. A child of vfork() has its parent's memory, but filters
// of its own.
pid_t process = 0;

int number_after(const char* text, const char* key) {
  const char* at = std::strstr(text, key);
  if (at == nullptr) return -1;
  int number = 0;
  for (at += std::strlen(key); *at == ' ' || *at == '\t';) ++at;
  for (; *at >= '0' && *at <= '9' && number < 1'000'000; ++at) number = number * 10 + (*at - '0');
  return number;
}

// Kernels before 5.9 report only that there are some.
int count_filters() {
  const FileText status("/proc/thread-self/status");
  const int filters = number_after(status.text(), "\nSeccomp_filters:");
  if (filters >= 0) return filters;
  return number_after(status.text(), "\nSeccomp:") > 0 ? 1 : 0;
}

}  // namespace

void expect_filters(const char* filters) {
  prepare_thread_numbers();
  process = static_cast<pid_t>(number_of_thread());  // Only one thread runs when libraries are loaded.
  expected_filters = filters != nullptr ? number_after(filters, "") : 0;
}

void expect_present_filters() {
  process = getpid();
  expected_filters = count_filters();
}

void follow_fork_in_sandbox() {
  if (process != 0) process = static_cast<pid_t>(number_of_thread());  // Its only thread; getpid() may be forbidden.
}

void look_for_sandbox() {
  if (process != 0 && !is_sandboxed() && count_filters() > expected_filters)
    is_in_sandbox.store(true, std::memory_order_relaxed);
}

bool is_watched_for_sandbox() {
  return process != 0 && getpid() == process;
}

}  // namespace hbmscope::inject
