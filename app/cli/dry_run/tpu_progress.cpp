#include "app/cli/dry_run/tpu_progress.h"

#include <fmt/format.h>

#include "allocator/emulated/accounts/tpu_account.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

void TpuProgress::look() {
  constexpr std::chrono::seconds pause(1), patience(10), interval(60);
  const Clock::time_point now = Clock::now();
  if (now - looked_at_ < pause) return;
  looked_at_ = now;
  std::string program;
  std::uint64_t compiled = 0;
  for (const allocator::tpu::TpuAccount& account : allocator::tpu::read_tpu_accounts(folder_)) {
    compiled += account.compiled_programs;
    if (account.compiling.text[0] != 0) program = account.compiling.text;
  }
  if (program != program_) {
    program_ = program;
    since_ = now;
    is_said_ = false;
  }
  if (program_.empty() || now - since_ < patience || (is_said_ && now - said_at_ < interval)) return;
  is_said_ = true;
  said_at_ = now;
  say(fmt::format("libtpu has been compiling {} for {} s; {} done before", printable(program_),
                  std::chrono::duration_cast<std::chrono::seconds>(now - since_).count(),
                  text_from_count_of(compiled, "program was", "programs were")));
}

}  // namespace hbmscope::cli
