// Any bytes as a recording. The first byte selects the form. Even: the rest is a file, unmodified. Odd: the rest is
// blocks whose headers and checksums are corrected here, because no fuzzer guesses a checksum. Whatever they contain,
// the stream accepts them or returns an error, its states can be queried, sums equal their parts, and after merging
// small blocks the answers are unchanged.
#include <cstring>
#include <memory>
#include <span>

#include "analysis/read/recording/read_recording.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/profile_from_trace.h"
#include "collector/wire/block_merger.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/trace_questions.h"
#include "tests/trace/restored.h"

namespace {

using namespace hbmscope;

void check_state(const StreamState& state, const Definitions& definitions) {
  std::vector<std::uint64_t> in_use(definitions.heaps().size()), blocks(definitions.heaps().size());
  for (const LiveBlock& block : state.slots()) {
    if (!block.is_live()) continue;
    require(block.heap < definitions.heaps().size());
    in_use[block.heap] += block.size;
    ++blocks[block.heap];
  }
  for (std::uint32_t heap = 1; heap < in_use.size(); ++heap) {
    require(state.heap(heap).in_use_bytes == in_use[heap]);
    require(state.heap(heap).live_blocks == blocks[heap]);
    require(state.heap(heap).space.blocks() == blocks[heap]);
  }
}

// A heap owns what its handles are.
void check_physical(const PhysicalState& state, const Definitions& definitions) {
  std::vector<std::uint64_t> owned(definitions.heaps().size());
  for (const PhysicalHandle& handle : state.handles())
    if (handle.is_live() && !handle.is_imported) owned.at(handle.heap) += handle.size;
  for (std::uint32_t heap = 1; heap < owned.size(); ++heap) require(state.heap(heap).owned_bytes == owned[heap]);
}

void check_stream(const Stream& stream) {
  check_state(stream.last_state(), stream.definitions());
  const std::uint64_t end = stream.end_position();
  for (const std::uint64_t position : {std::uint64_t{0}, end / 3, end / 2, end}) {
    const StreamState state = stream.state_at(position);
    check_state(state, stream.definitions());
    const StreamState again = restored(state, stream.definitions());
    check_state(again, stream.definitions());
    for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap)
      require(again.heap(heap).in_use_bytes == state.heap(heap).in_use_bytes);
    check_physical(state.physical(), stream.definitions());
    check_physical(again.physical(), stream.definitions());
    require(again.physical().problems() == state.physical().problems());
    for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap)
      require(again.physical().heap(heap) == state.physical().heap(heap));
  }
  stream.position_of_time(stream.last_time_ns() / 2);
  for (const auto& named : stream.counters().series()) {
    const CounterSeries& series = named.second;
    std::uint64_t samples = 0;
    series.for_each([&](const CounterSample& sample) { samples += series.at(sample.event + 1).has_value() ? 1 : 0; });
    require(samples == series.size());
  }
  stream.clocks().time_on(stream.clocks(), stream.last_time_ns());
}

void check_merged(const Stream& stream) {
  Stream merged;
  wire::BlockMerger merger([&](wire::SharedBlock block) { require(!merged.append(std::move(block))); });
  for (const wire::SharedBlock& block : stream.blocks()) merger.add(block);
  merger.flush();
  merged.note_written(stream.end_position(), 0);  // Blocks alone do not reveal a lost end.
  require(merged.end_position() == stream.end_position());
  require(merged.counts().total == stream.counts().total && merged.counts().lost == stream.counts().lost);
  const StreamState &wanted = stream.last_state(), &got = merged.last_state();
  require(got.slots().size() == wanted.slots().size());
  require(got.problems().bad_slots == wanted.problems().bad_slots);
  for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap) {
    require(got.heap(heap).in_use_bytes == wanted.heap(heap).in_use_bytes);
    require(got.heap(heap).is_inexact == wanted.heap(heap).is_inexact);
  }
}

// [form, records, events, length low, length high] and the payload, repeated. A form from 240 on is a keyframe's block
// after up to seven missing events; from 200 on a block is missing before it.
Stream stream_from_blocks(std::span<const std::uint8_t> bytes, Stream::Keeps keeps = Stream::Keeps::everything) {
  Stream stream(keeps);
  std::uint32_t sequence = 0;
  while (bytes.size() >= 5) {
    auto block = std::make_shared<wire::Block>();
    block->header.form = static_cast<wire::BlockForm>(bytes[0] % 3);
    block->header.records = bytes[1];
    block->header.events = bytes[2];
    block->header.first_event = stream.end_position();
    if (bytes[0] >= 240) {
      block->header.type = wire::BlockType::keyframe;
      block->header.first_event += bytes[0] % 8;
      block->header.sequence = sequence;
    } else {
      sequence += bytes[0] >= 200 ? 1 : 0;
      block->header.sequence = sequence++;
    }
    const std::size_t length = std::min<std::size_t>(bytes[3] | bytes[4] << 8, bytes.size() - 5);
    block->payload.assign(bytes.begin() + 5, bytes.begin() + 5 + static_cast<std::ptrdiff_t>(length));
    block->header.stored_bytes = static_cast<std::uint32_t>(length);
    block->header.raw_bytes = static_cast<std::uint32_t>(length);
    block->header.xxh3 = wire::compute_block_hash(*block);
    stream.append(std::move(block));
    bytes = bytes.subspan(5 + length);
  }
  return stream;
}

// The curves of a curves-only stream equal those of a full one, unless it reports that it can't compute them.
void require_same_curves(const Stream& whole, const Stream& curves) {
  if (curves.needs_everything()) return;
  require(whole.end_position() == curves.end_position());
  require(whole.counts().total == curves.counts().total);
  require(whole.definitions().heaps().size() == curves.definitions().heaps().size());
  for (std::uint32_t heap = 0; heap < whole.definitions().heaps().size(); ++heap) {
    require(whole.peak(heap).in_use_bytes == curves.peak(heap).in_use_bytes);
    require(whole.peak(heap).position == curves.peak(heap).position);
  }
}

}  // namespace

FUZZ_TARGET(fuzz_read_recording, data, size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> rest(data + 1, size - 1);
  if (data[0] % 2 == 1) {
    Trace trace;
    trace.origin = TraceOrigin::recording;
    trace.streams.push_back(stream_from_blocks(rest));
    require_same_curves(trace.streams.front(), stream_from_blocks(rest, Stream::Keeps::curves));
    check_stream(trace.streams.front());
    check_merged(trace.streams.front());
    ask_all_questions(trace);
    return 0;
  }
  const auto trace = read_recording(rest, "fuzz");
  if (!trace) {
    require(!trace.error().what.empty());
    return 0;
  }
  for (const Stream& stream : trace->streams) {
    check_stream(stream);
    check_merged(stream);
  }
  const auto curves = read_recording_curves(rest, "fuzz", std::uint64_t{4} << 30);
  require(static_cast<bool>(curves) && curves->streams.size() == trace->streams.size());
  for (std::size_t i = 0; i < trace->streams.size(); ++i) require_same_curves(trace->streams[i], curves->streams[i]);
  find_moment(*trace, "peak");
  ask_all_questions(*trace);
  return 0;
}
