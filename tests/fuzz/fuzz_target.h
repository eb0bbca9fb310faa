// What all targets share: the one function that libFuzzer calls (https://llvm.org/docs/LibFuzzer.html), and replay.cpp
// where there is no clang.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// libFuzzer keeps the input of a run that aborts.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
