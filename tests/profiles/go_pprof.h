// `go tool pprof -top` as a peer: what it prints for a file, as numbers.
//
// Two of its ways need care. It prints names after trying to demangle them, which turns Python's "<module>" into
// nothing; -symbolize=none keeps names as they are in the file. And it adds the -1 that an executable of unknown size
// has instead of a size; whoever compares takes those out of its sums, exactly.
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

// Is there a `go tool pprof` on this machine?
bool has_go_pprof();

// Runs it with -top, nothing left out, and `options` besides; empty where pprof refuses, with what it said in
// `messages`.
PprofTop run_go_pprof_top(const std::string& file, const std::string& value_type,
                          const std::vector<std::string>& options, std::string& messages);

// Builds and runs the heap-profiling Go program beside this file; false with a reason where that fails.
bool write_go_heap_profile(const std::string& out, std::string& reason);

struct CommandOutput {
  int status = -1;   // As the shell gives it; -1: it could not be started.
  std::string text;  // stdout and stderr.
};
CommandOutput run_command(const std::vector<std::string>& words);

}  // namespace hbmscope::test
