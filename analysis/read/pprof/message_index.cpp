#include "analysis/read/pprof/message_index.h"

#include <fmt/format.h>

namespace hbmscope::pprof {
namespace {

// Field numbers of perftools.profiles.Profile.
enum Field : std::uint32_t {
  sample_type = 1,
  sample,
  mapping,
  location,
  function,
  string_table,
  drop_frames,
  keep_frames,
  time_nanos,
  duration_nanos,
  period_type,
  period,
  comment,
  default_sample_type,
  doc_url
};

bool read_packed(ByteRange packed, std::vector<std::uint64_t>& values, WireProblem& problem) {
  WireCursor cursor(packed);
  while (cursor.at() != packed.end) {
    std::uint64_t value = 0;
    if (!cursor.read_varint(value)) {
      problem = cursor.problem();
      return false;
    }
    values.push_back(value);
  }
  return true;
}

void add_sample(MessageIndex& index, const std::uint8_t* begin, const std::uint8_t* end) {
  if (index.chunks.empty() || index.chunks.back().samples == samples_a_chunk) {
    index.chunks.push_back({{begin, end}, 0, index.samples, 0, 0});
  }
  SampleChunk& chunk = index.chunks.back();
  chunk.bytes.end = end;  // Other fields may lie between two samples; code that walks the chunk skips them.
  ++chunk.samples;
  ++index.samples;
}

}  // namespace

Error wire_error(WireProblem problem, const std::uint8_t* at, ByteRange message, const char* part,
                 const std::string& name) {
  Error error{{}, {}, name, static_cast<std::uint64_t>(at - message.begin), true};
  const char* damaged = "This is not a pprof profile, or it is damaged; save it again.";
  switch (problem) {
    case WireProblem::none: break;
    case WireProblem::cut_off:
      error.what = fmt::format("the data ends inside a {}", part);
      error.remedy = "The file was cut off while it was written or copied, or is not a pprof profile; save it again.";
      break;
    case WireProblem::long_varint:
      error.what = fmt::format("a number in a {} is longer than ten bytes", part);
      error.remedy = damaged;
      break;
    case WireProblem::bad_tag:
      error.what = fmt::format("a field in a {} has an impossible number or type", part);
      error.remedy = damaged;
      break;
    case WireProblem::bad_group:
      error.what = fmt::format("a group in a {} has no matching begin or end", part);
      error.remedy = damaged;
      break;
  }
  return error;
}

Result<MessageIndex> index_message(ByteRange message, const std::string& name) {
  MessageIndex index;
  index.message = message;
  WireCursor cursor(message);
  WireField field;
  WireProblem packed_problem = WireProblem::none;
  while (cursor.next_field(field)) {
    switch (field.key) {
      case bytes_key(sample): add_sample(index, cursor.field_begin(), cursor.at()); break;
      case bytes_key(sample_type): index.value_types.push_back(field.bytes); break;
      case bytes_key(mapping): index.mappings.push_back(field.bytes); break;
      case bytes_key(location): index.locations.push_back(field.bytes); break;
      case bytes_key(function): index.functions.push_back(field.bytes); break;
      case bytes_key(string_table):
        index.strings.push_back(field.bytes);
        index.string_bytes += static_cast<std::uint64_t>(field.bytes.end - field.bytes.begin);
        break;
      case bytes_key(period_type): index.period_types.push_back(field.bytes); break;
      case varint_key(drop_frames): index.drop_frames = field.varint; break;
      case varint_key(keep_frames): index.keep_frames = field.varint; break;
      case varint_key(time_nanos): index.time_ns = field.varint; break;
      case varint_key(duration_nanos): index.duration_ns = field.varint; break;
      case varint_key(period): index.period = field.varint; break;
      case varint_key(comment): index.comments.push_back(field.varint); break;
      case bytes_key(comment):
        if (!read_packed(field.bytes, index.comments, packed_problem))
          return Failure(wire_error(packed_problem, field.bytes.begin, message, "comment", name));
        break;
      case varint_key(default_sample_type): index.default_value_type = field.varint; break;
      case varint_key(doc_url): index.doc_url = field.varint; break;
      default: ++index.unknown_fields; break;
    }
  }
  if (cursor.problem() != WireProblem::none)
    return Failure(wire_error(cursor.problem(), cursor.field_begin(), message, "profile", name));
  if (index.samples >= 0xffffffff)
    return Failure(
        refusal("the profile has 2^32 samples or more", "Split it, or merge equal stacks with pprof -proto.", name));
  return index;
}

}  // namespace hbmscope::pprof
