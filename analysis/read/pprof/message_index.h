// The first pass: where the parts of a profile are, without looking into them. Texts stand at the end of the message
// and samples at its beginning, so nothing can be decoded before everything has been found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::pprof {

using namespace protobuf;

// A run of the message with at most samples_a_chunk samples in it: what one thread takes at a time.
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
  std::vector<ByteRange> period_types;  // A singular message that occurs twice is merged, as protobuf does.
  std::vector<std::uint64_t> comments;
  std::uint64_t drop_frames = 0, keep_frames = 0, time_ns = 0, duration_ns = 0, period = 0, default_value_type = 0,
                doc_url = 0;
  std::uint64_t unknown_fields = 0, string_bytes = 0;
};

Result<MessageIndex> index_message(ByteRange message, const std::string& name);

// The Error of a problem that a cursor met at `at`. `part` says in what: "sample", "location".
Error wire_error(WireProblem problem, const std::uint8_t* at, ByteRange message, const char* part,
                 const std::string& name);

}  // namespace hbmscope::pprof
