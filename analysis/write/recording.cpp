#include "analysis/write/recording.h"

#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "analysis/trace/told_losses.h"
#include "collector/wire/block_encoder.h"
#include "collector/wire/block_merger.h"
#include "collector/wire/recording_file.h"

namespace hbmscope {
namespace {

Failure refusal(const std::string& path, const std::string& why) {
  return Failure(Error{fmt::format("the recording can't be written: {}", why),
                       "Is there room, and may you write there?",
                       path,
                       {},
                       false});
}

// A last block for a stream: facts about what was lost before, where the stream does not tell them yet.
wire::SharedBlock make_told_losses(const Trace& trace, const Stream& stream) {
  const std::size_t number = static_cast<std::size_t>(&stream - trace.streams.data());
  wire::BlockEncoder encoder(static_cast<std::uint32_t>(number), wire::BlockType::events, stream.end_position());
  std::uint32_t next_string = stream.definitions().next_string();
  const auto define = [&](const std::string& text) {
    wire::StringRecord record;
    record.id = next_string++;
    encoder.add(record, stream.last_time_ns(), text);
    return record.id;
  };
  for (const std::string_view name : told_losses) {
    for (const ImportStatistic& row : trace.import.rows()) {
      const std::int64_t untold = row.name == name ? row.count - find_told_loss(trace, name).count : 0;
      if (untold <= 0) continue;
      wire::JobRecord fact;
      fact.key = define(key_of_told_loss(name));
      fact.value = define(value_of_told_loss({untold, row.example}));
      encoder.add(fact, stream.last_time_ns());
    }
  }
  if (encoder.is_empty()) return nullptr;
  wire::Block block = encoder.close();
  block.header.sequence = stream.blocks().empty() ? 0 : stream.blocks().back()->header.sequence + 1;
  block.header.xxh3 = compute_block_hash(block);
  return std::make_shared<const wire::Block>(std::move(block));
}

// One stream on its way into the file.
class OutgoingStream {
 public:
  OutgoingStream(const Stream& stream, wire::SharedBlock last)
      : blocks_(stream.blocks()), merger_([this](wire::SharedBlock block) { ready_.push_back(std::move(block)); }) {
    if (last) blocks_.push_back(std::move(last));
  }
  OutgoingStream(const OutgoingStream&) = delete;
  OutgoingStream& operator=(const OutgoingStream&) = delete;

  // Null at its end.
  const wire::Block* peek() {
    while (ready_.empty() && next_ < blocks_.size()) {
      merger_.add(blocks_[next_]);
      if (++next_ == blocks_.size()) merger_.flush();
    }
    return ready_.empty() ? nullptr : ready_.front().get();
  }
  void take() { ready_.pop_front(); }

 private:
  SharedLog<wire::SharedBlock> blocks_;
  std::size_t next_ = 0;
  std::deque<wire::SharedBlock> ready_;
  wire::BlockMerger merger_;
};

// In the order in which a recorder of all streams would have closed the blocks, so that who reads a part of the file
// has all streams to about the same time.
void append_streams(const Trace& trace, wire::RecordingWriter& writer, std::optional<std::string>& failure) {
  std::deque<OutgoingStream> streams;
  for (const Stream& stream : trace.streams)
    streams.emplace_back(stream, streams.empty() ? make_told_losses(trace, stream) : nullptr);
  while (!failure) {
    OutgoingStream* first = nullptr;
    for (OutgoingStream& stream : streams) {
      const wire::Block* block = stream.peek();
      if (block != nullptr && (first == nullptr || block->header.last_time_ns < first->peek()->header.last_time_ns))
        first = &stream;
    }
    if (first == nullptr) return;
    failure = writer.append(*first->peek());
    first->take();
  }
}

}  // namespace

Result<std::uint64_t> write_recording(const Trace& trace, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  // What a link leads to is replaced, not the link; a device or a pipe is written to as it is, never replaced.
  const fs::path target = fs::exists(path, error) ? fs::canonical(path, error) : fs::path(path);
  const bool is_replaced = !fs::exists(target, error) || fs::is_regular_file(target, error);
  const std::string unfinished = is_replaced ? target.string() + ".unfinished" : target.string();
  wire::RecordingWriter writer;
  std::optional<std::string> failure = writer.open(unfinished, trace.begun_ms);
  append_streams(trace, writer, failure);
  if (!failure) failure = writer.finish();
  if (!failure && is_replaced) {
    fs::rename(unfinished, target, error);
    if (error) failure = error.message();
  }
  if (failure) {
    if (is_replaced) fs::remove(unfinished, error);
    return refusal(path, *failure);
  }
  return writer.bytes();
}

}  // namespace hbmscope
