// The first pass: locates the parts of a profile without decoding them. Texts are at the end of the message and samples
// at its beginning, so everything must be located before anything can be decoded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::pprof {

using namespace protobuf;

// A part of the message with at most samples_a_chunk samples: the unit of work of a thread.
inline constexpr std::uint32_t samples_a_chunk = 4096;
struct SampleChunk {
  ByteRange bytes;
  std::uint32_t samples = 0;
  std::uint64_t first_sample = 0;
  std::uint64_t locations = 0, first_location = 0;  // Known after count_locations.
};

struct MessageIndex {
  ByteRange message;
  std::vector<SampleChunk> chunks;
  std::uint64_t samples = 0;
  std::vector<ByteRange> value_types, mappings, locations, functions, strings;
  std::vector<ByteRange> period_types;  // A singular message that occurs twice is merged, as in protobuf.
  std::vector<std::uint64_t> comments;
  std::uint64_t drop_frames = 0, keep_frames = 0, time_ns = 0, duration_ns = 0, period = 0, default_value_type = 0,
                doc_url = 0;
  std::uint64_t unknown_fields = 0, string_bytes = 0;
};

Result<MessageIndex> index_message(ByteRange message, const std::string& name);

// Converts a cursor's problem at `at` to an Error. `part` is the kind of message: "sample", "location".
Error wire_error(WireProblem problem, const std::uint8_t* at, ByteRange message, const char* part,
                 const std::string& name);

}  // namespace hbmscope::pprof
