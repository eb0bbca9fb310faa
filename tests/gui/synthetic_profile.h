// Small profiles in the shape of JAX's device memory profiles, with sums that can be checked in one's head.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hbmscope::test {

struct SyntheticFrame {
  std::string function, file;
  std::int64_t line = 0;
};

struct SyntheticSample {
  std::vector<SyntheticFrame> stack;  // Outermost first.
  std::string device, kind;
  std::int64_t bytes = 0, count = 1;
};

void write_synthetic_profile(const std::filesystem::path& file, const std::vector<SyntheticSample>& samples);

inline constexpr std::int64_t profile_mib = 1 << 20;

// A training loop on two devices: 1,024 MiB in total. The largest flat value: init_params, 512 MiB; the largest
// cumulative value: <module> and main, all of it.
//
//   <module> main            init_params   512 MiB in 8 buffers on each of TPU_0 and TPU_1, half on each
//   <module> main train      make_batch    256 MiB in 4 buffers on TPU_0
//   <module> main train step loss          192 MiB in 3 buffers on TPU_1
//   <module> main train step jit_step       64 MiB in 1 executable on TPU_0
std::vector<SyntheticSample> training_samples();

// The same, 128 MiB later: log_metrics in train.py kept 256 MiB in 32 buffers on TPU_0, and half of the batches are
// gone.
std::vector<SyntheticSample> leaking_samples();

}  // namespace hbmscope::test
