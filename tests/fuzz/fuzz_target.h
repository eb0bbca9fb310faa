// What all targets share: the one function that libFuzzer calls (https://llvm.org/docs/LibFuzzer.html), and replay.cpp
// where there is no clang; and what a target says of an invariant that does not hold.
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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
