// What a process needed of the emulated TPUs: a file that the plugin maps and keeps up to date, so that it is known
// however the process ends. `hbmscope run --emulate` reads it for the verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hbmscope::allocator::tpu {

constexpr std::size_t account_devices_max = 1024;

// A short text in the file; longer ones are cut.
template <std::size_t size>
struct AccountText {
  char text[size] = {};

  void set(const std::string& from) {
    const std::size_t length = from.copy(text, size - 1);
    text[length] = 0;
  }
};

// One device. All in bytes.
struct DeviceAccount {
  // When most was in use, which is the sum of `arguments`, `program` and `others`; `padding` is a part of it.
  std::uint64_t peak = 0;
  std::uint64_t arguments = 0;       // Arrays that the program in progress got or made.
  std::uint64_t program = 0;         // Temporaries of the largest loaded program, and the code of all.
  std::uint64_t others = 0;          // Other arrays.
  std::uint64_t padding = 0;         // What arrays have besides, to whole tiles.
  std::uint64_t peak_execution = 0;  // The number of the program's execution in progress, from 1, or 0 if none was.
  std::uint64_t peak_plan = 0;       // The number of that program's plan: 7 of module_0007.jit_step.hlo.pb.
  AccountText<96> peak_program;
  std::uint64_t host_peak = 0;  // Arrays in pinned host memory.
  std::uint64_t moves = 0, unloads = 0;
};

// The last request that found no room on a device.
struct RefusalAccount {
  std::uint64_t requested = 0, free = 0, largest_free = 0;
  AccountText<96> program;  // Empty: an array.
};

struct TpuAccount {
  static constexpr std::uint64_t magic_now = 0x33'7570'7465'7062'68;  // Changes with the structs.
  std::uint64_t magic = magic_now;
  std::int64_t pid = 0;
  std::uint64_t device_count = 0;
  AccountText<64> topology;
  AccountText<128> compiler;
  std::uint64_t compiled_programs = 0, cached_programs = 0, executions = 0;
  double compile_seconds = 0;
  // Executions whose arguments were summed up, and those where the sum was not the compiler's.
  std::uint64_t compared_executions = 0, differing_executions = 0;
  std::uint64_t compiler_refusals = 0, refusals = 0;
  RefusalAccount refusal;
  // What had to be guessed: layouts of arrays that libtpu did not give, programs whose aliases it did not give.
  std::uint64_t guessed_layouts = 0, programs_without_aliases = 0;
  AccountText<96> refused_program;  // The last one that the compiler refused.
  AccountText<96> compiling;        // Empty: nothing is being compiled.
  AccountText<96> unsupported;      // The first function called that this plugin doesn't have, if there was one.
  DeviceAccount devices[account_devices_max];
};

// The file of this process in the folder; if that can't be made, an account that nobody reads.
TpuAccount& open_tpu_account(const std::string& folder);
// Those of all processes of a run.
std::vector<TpuAccount> read_tpu_accounts(const std::string& folder);

}  // namespace hbmscope::allocator::tpu
