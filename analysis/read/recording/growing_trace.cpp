#include "analysis/read/recording/growing_trace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/trace/common_zero.h"

namespace hbmscope {
namespace {

// From the first stream that has it: a recording covers one job.
std::string find_job_fact(const Trace& trace, std::string_view key) {
  for (const Stream& stream : trace.streams)
    if (const std::string_view fact = stream.definitions().job_fact(key); !fact.empty()) return std::string(fact);
  return {};
}

void name_producer(Trace& trace) {
  const std::string source = find_job_fact(trace, "hbmscope.source");
  trace.producer = source.empty() ? "Recording" : fmt::format("Recording of a {}", source);
  trace.drop_frames = find_job_fact(trace, "hbmscope.drop_frames");
}

}  // namespace

GrowingTrace::GrowingTrace(const std::string& name) {
  trace_.files = {name};
  trace_.format = "recording";
  trace_.origin = TraceOrigin::recording;
}

void GrowingTrace::take(const wire::SharedBlock& block) {
  // Writers number streams from 0; a damaged number must not create a million streams.
  if (block->header.stream >= wire::streams_max) {
    ++bad_blocks_;
    return;
  }
  while (trace_.streams.size() <= block->header.stream) trace_.streams.emplace_back(keeps_);
  const bool is_keyframe = block->header.type == wire::BlockType::keyframe;
  const Stream::Gap gap = is_keyframe ? keyframe_gap_ : Stream::Gap::lost;
  if (const auto fault = trace_.streams[block->header.stream].append(put_away(block), gap)) {
    if (bad_blocks_++ == 0) fault_ = *fault;
  }
  events_ += block->header.events;
  if (is_keyframe) {
    ++keyframes_;
    last_time_ns_ = std::max(last_time_ns_, block->header.last_time_ns);
  }
  if (block->header.events > 0) last_time_ns_ = std::max(last_time_ns_, block->header.last_time_ns);
}

// Returns the block unmodified, or with its payload moved to the file.
wire::SharedBlock GrowingTrace::put_away(const wire::SharedBlock& block) {
  if (memory_max_ == 0 || !file_fault_.empty() || block->payload.size() != block->header.stored_bytes) return block;
  std::uint64_t bytes = block->payload.size();
  for (const Stream& stream : trace_.streams) bytes += stream.event_memory_bytes();
  if (bytes <= memory_max_) return block;
  if (!file_ && !(file_ = wire::PayloadFile::open(file_fault_))) return block;
  const auto offset = file_->append(block->payload, file_fault_);
  if (!offset) return block;
  trace_.streams[block->header.stream].spare_memory();
  auto away = std::make_shared<wire::Block>();
  away->header = block->header;
  away->file = file_;
  away->file_offset = *offset;
  return away;
}

std::string GrowingTrace::file_fault() const {
  return file_fault_.empty() && file_ && file_->has_failed() ? "it could not be read back" : file_fault_;
}

std::shared_ptr<const Trace> GrowingTrace::version() const {
  auto version = std::make_shared<Trace>();
  version->files = trace_.files;
  version->format = trace_.format;
  version->origin = trace_.origin;
  for (const Stream& stream : trace_.streams) version->streams.push_back(stream.version());
  share_zero(*version);
  name_producer(*version);
  return version;
}

void GrowingTrace::end_job() {
  for (Stream& stream : trace_.streams) stream.end_refusals();
}

Trace GrowingTrace::finish() {
  share_zero(trace_);
  name_producer(trace_);
  return std::move(trace_);
}

}  // namespace hbmscope
