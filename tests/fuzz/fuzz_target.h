// Shared by all fuzz targets: FUZZ_TARGET(name, data, size) { ... return 0; } defines the one function that libFuzzer
// calls (https://llvm.org/docs/LibFuzzer.html) or, in the program that replays corpora, a row of its table. require()
// reports an invariant that does not hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// libFuzzer keeps the input of a run that aborts. (Clang 14 has no std::source_location, but these builtins.)
inline void require(bool holds, const std::string& what = {}, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.empty() ? "an invariant does not hold" : what.c_str());
  std::abort();
}

#ifdef HBMSCOPE_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
#define FUZZ_TARGET(name, data, size) int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
#else
using FuzzTarget = int (*)(const std::uint8_t* data, std::size_t size);
bool add_fuzz_target(const char* name, FuzzTarget target);  // Returns true; called before main.
#define FUZZ_TARGET(name, data, size)                                 \
  static int run_##name(const std::uint8_t* data, std::size_t size);  \
  static const bool has_##name = add_fuzz_target(#name, &run_##name); \
  static int run_##name(const std::uint8_t* data, std::size_t size)
#endif
