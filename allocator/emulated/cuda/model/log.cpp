#include "allocator/emulated/cuda/model/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <string>

#include "allocator/emulated/cuda/model/settings.h"

namespace hbmscope::device {

void log(LogLevel level, const char* format, ...) {
  if (settings().log_level < static_cast<int>(level)) return;
  char line[512];
  int length = std::snprintf(line, sizeof(line), "hbmscope device: ");
  va_list arguments;
  va_start(arguments, format);
  length += std::vsnprintf(line + length, sizeof(line) - static_cast<std::size_t>(length) - 1, format, arguments);
  va_end(arguments);
  if (length > static_cast<int>(sizeof(line)) - 2) length = static_cast<int>(sizeof(line)) - 2;
  line[length++] = '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
}

}  // namespace hbmscope::device

extern "C" void hbmscope_device_note(const char* name, const char* kind) {
  const std::string& folder = hbmscope::device::settings().report_folder;
  if (folder.empty()) return;
  const std::string path = folder + "/" + std::to_string(::getpid()) + "." + kind;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string line = std::string(name) + "\n";
  [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
  ::close(file);
}

extern "C" int hbmscope_device_stub(const char* name, int* was_said, int answer) {
  if (*was_said == 0) {
    *was_said = 1;
    hbmscope::device::log(hbmscope::device::LogLevel::not_emulated, "%s is not emulated; it returns %d", name, answer);
    if (answer != 0) hbmscope_device_note(name, "not_emulated");
  }
  return answer;
}
