// `go tool pprof -top` as a reference: its output for a file, as numbers.
//
// Two properties need care. It prints names after trying to demangle them, which turns Python's "<module>" into
// nothing; -symbolize=none keeps the names in the file. And it adds the -1 that stands for the unknown size of an
// executable; comparisons must subtract these from its sums.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hbmscope::test {

struct PprofRow {
  std::int64_t flat = 0, cum = 0;
  friend bool operator==(const PprofRow&, const PprofRow&) = default;
};
// By the name that pprof prints: "function file" or "function file:line".
using PprofTop = std::map<std::string, PprofRow>;

// Whether this machine has `go tool pprof`.
bool has_go_pprof();

// Runs it with -top, without omissions, and with `options`. Empty if pprof refuses; its messages are in `messages`.
PprofTop run_go_pprof_top(const std::string& file, const std::string& value_type,
                          const std::vector<std::string>& options, std::string& messages);

// Builds and runs the heap-profiling Go program in this folder. Returns false and a reason on failure.
bool write_go_heap_profile(const std::string& out, std::string& reason);

struct CommandOutput {
  int status = -1;   // As returned by the shell; -1: it could not be started.
  std::string text;  // stdout and stderr.
};
CommandOutput run_command(const std::vector<std::string>& words);

}  // namespace hbmscope::test
