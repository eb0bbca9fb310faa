// Profiles as JAX would write them, of any size: for the benchmark, and for tests that need more than a real file has.
//
// What makes a profile expensive to read is its shape, so the shape is JAX's: 2 value types, the labels `kind` and
// `device`, stacks of 20 to 60 frames (40 on average), outer frames that all stacks share, inner frames that are the
// same few library calls, and between them a walk through a call graph, about 8,000 functions and 30,000 locations
// when there are samples enough to reach them. Ids count from 1 in the order of first use, fields come in the order
// in which protobuf writes them, repeated integers are packed. A million samples are about 114 MB, 2 bytes a location.
#pragma once

#include <cstdint>
#include <string>

namespace hbmscope::test {

struct GeneratedProfile {
  std::uint64_t samples = 10'000;
  std::uint64_t seed = 1;
  std::uint32_t devices = 8;
  bool unknown_executables = false;  // Executables have the size -1, as on TPUs; else they have one, as on GPUs.
};

// The same request gives the same bytes on every machine. Not compressed.
std::string generate_profile(const GeneratedProfile& request);

// As a file: one gzip member.
std::string gzip_text(const std::string& bytes);

}  // namespace hbmscope::test
