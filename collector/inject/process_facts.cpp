#include "collector/inject/process_facts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "collector/inject/line.h"
#include "collector/inject/rings.h"
#include "collector/wire/masked_arguments.h"
#include "collector/wire/reported_names.h"
#include "collector/wire/reported_variables.h"

namespace hbmscope::inject {
namespace {

// A file in /proc, followed by a zero byte.
class ProcFile {
 public:
  explicit ProcFile(const char* path) {
    void* at = mmap(nullptr, bytes_max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return;
    text_ = static_cast<char*>(at);
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    for (ssize_t more = 1; more > 0 && bytes_ < bytes_max - 1;) {
      more = read(file, text_ + bytes_, bytes_max - 1 - bytes_);
      if (more > 0) bytes_ += static_cast<std::size_t>(more);
    }
    ::close(file);
  }
  ~ProcFile() {
    if (text_ != nullptr) munmap(text_, bytes_max);
  }
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  char* begin() { return text_; }
  char* end() { return text_ + bytes_; }

 private:
  // Arguments and environment together are smaller: six MiB at most (Linux, fs/exec.c, bprm_set_stack_limit). A process
  // may have replaced them with something longer, which is cut off.
  static constexpr std::size_t bytes_max = std::size_t{7} << 20;

  char* text_ = nullptr;
  std::size_t bytes_ = 0;
};

void report_command() {
  ProcFile arguments("/proc/self/cmdline");
  char* end = arguments.end();
  while (end != arguments.begin() && end[-1] == 0) --end;
  char* const last = wire::mask_arguments(arguments.begin(), end);
  if (last < end) *last = 0;
  end = last;
  for (char* at = arguments.begin(); at != end; ++at)
    if (*at == 0) *at = ' ';
  if (end != arguments.begin()) rings.define_job_fact(wire::command_fact.data(), arguments.begin());
}

void report_variables() {
  ProcFile environment("/proc/self/environ");
  wire::find_reported_variables(
      environment.begin(), environment.end(),
      [](const char* variable, const char* value) {
        rings.define_job_fact(Line().add(wire::variable_facts.data()).add(variable).text, value);
      },
      [](const char* rank) { rings.define_job_fact(wire::rank_fact.data(), rank); });
}

}  // namespace

void report_process_facts() {
  report_command();
  report_variables();
}

}  // namespace hbmscope::inject
