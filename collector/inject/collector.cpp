// libhbmscope_collector.so, in the job: finds what can be listened to, and connects to the observer when there is
// something. Without an observer, or with nothing to listen to, it does nothing at all.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "collector/inject/annotate_sink.h"
#include "collector/inject/rings.h"

// Glibc's own under pthread_atfork, which a shared library would have to link in.
extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library);
extern "C" void* __dso_handle;

namespace hbmscope::inject {
namespace {

const char* observer = nullptr;

// Once, in one line, on the host's standard error; the job goes on without us.
void say(const char* what) {
  char line[256] = "hbmscope: this process is not observed: ";
  std::strncat(line, what, sizeof(line) - std::strlen(line) - 2);
  std::strcat(line, "\n");
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, std::strlen(line));
}

void after_fork_in_child() {
  stop_listening();
  rings.forget();
  observer = nullptr;
}

void connect_and_listen(hbmscope_table* table) {
  if (observer == nullptr) return;
  if (!rings.is_open()) {
    if (const char* wrong = rings.open(observer)) {
      observer = nullptr;
      say(wrong);
      return;
    }
    __register_atfork(nullptr, nullptr, after_fork_in_child, __dso_handle);
  }
  listen_to(table);
}

__attribute__((constructor)) void begin() {
  observer = std::getenv(wire::observer_variable);
  if (observer != nullptr) find_annotated_tables(connect_and_listen);
}

}  // namespace
}  // namespace hbmscope::inject

// A library that is loaded later calls this from its constructor (collector/annotate/hbmscope.h).
extern "C" __attribute__((visibility("default"))) void hbmscope_announce(hbmscope_table* table) {
  hbmscope::inject::connect_and_listen(table);
}
