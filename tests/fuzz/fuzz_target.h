// The one function that libFuzzer calls (https://llvm.org/docs/LibFuzzer.html), and replay.cpp where there is no clang.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
