// Profiles as JAX writes them, of any size: for the benchmark, and for tests that need more data than a real file has.
//
// The shape of a profile determines how expensive it is to read, so the shape is JAX's: 2 value types, the labels
// `kind` and `device`, and stacks of 20 to 60 frames (40 on average). All stacks share the outer frames, the inner
// frames are the same few library calls, and between them is a walk through a call graph with about 8,000 functions and
// 30,000 locations if there are enough samples to reach them. Ids count from 1 in the order of first use, fields are in
// the order in which protobuf writes them, and repeated integers are packed. A million samples take about 114 MB, 2
// bytes per location.
#pragma once

#include <cstdint>
#include <string>

namespace hbmscope::test {

struct GeneratedProfile {
  std::uint64_t samples = 10'000;
  std::uint64_t seed = 1;
  std::uint32_t devices = 8;
  // True: executables have the size -1, as on TPUs. False: they have a size, as on GPUs.
  bool unknown_executables = false;
};

// The same request gives the same bytes on every machine. Not compressed.
std::string generate_profile(const GeneratedProfile& request);

// As a file: one gzip member.
std::string gzip_text(const std::string& bytes);

}  // namespace hbmscope::test
