#include "collector/inject/line.h"

#include <unistd.h>

#include <atomic>
#include <cstring>

namespace hbmscope::inject {
namespace {

std::atomic<bool> is_silent{false};

}  // namespace

void be_silent() {
  is_silent.store(true, std::memory_order_relaxed);
}

void say(const Line& line) {
  if (is_silent.load(std::memory_order_relaxed)) return;
  Line whole;
  whole.add("hbmscope: ").add(line.text).add("\n");
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, whole.text, std::strlen(whole.text));
}

}  // namespace hbmscope::inject
