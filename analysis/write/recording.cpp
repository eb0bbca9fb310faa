#include "analysis/write/recording.h"

#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "analysis/trace/reported_losses.h"
#include "analysis/write/strip_paths.h"
#include "collector/wire/block_encoder.h"
#include "collector/wire/block_merger.h"
#include "collector/wire/recording_file.h"

namespace hbmscope {
namespace {

Failure write_refusal(const std::string& path, const std::string& why) {
  return Failure(refusal(fmt::format("the recording can't be written: {}", why),
                         "Check the free space and the permissions of the folder.", path));
}

// The number in the stream's blocks; without blocks, its index in the trace.
std::uint32_t number_of(const Trace& trace, const Stream& stream) {
  return stream.blocks().empty() ? static_cast<std::uint32_t>(&stream - trace.streams.data())
                                 : stream.blocks().front()->header.stream;
}

// A last block for a stream, with facts about the job that the stream does not contain yet.
class LastFacts {
 public:
  LastFacts(const Trace& trace, const Stream& stream)
      : stream_(stream),
        encoder_(number_of(trace, stream), wire::BlockType::events, stream.end_position()),
        next_string_(stream.definitions().next_string()) {}

  void add(std::string_view key, std::string_view value) {
    wire::JobRecord fact;
    fact.key = define(key);
    fact.value = define(value);
    encoder_.add(fact, stream_.last_time_ns());
  }
  // Null if there are none.
  wire::SharedBlock close() {
    if (encoder_.is_empty()) return nullptr;
    wire::Block block = encoder_.close();
    if (!stream_.blocks().empty()) {
      const wire::BlockHeader& last = stream_.blocks().back()->header;
      const std::uint32_t next = last.sequence + (last.type == wire::BlockType::keyframe ? 0 : 1);
      block.header.sequence = next + static_cast<std::uint32_t>(stream_.blocks_lost_at_end());
    }
    block.header.xxh3 = compute_block_hash(block);
    return std::make_shared<const wire::Block>(std::move(block));
  }

 private:
  std::uint32_t define(std::string_view text) {
    wire::StringRecord record;
    record.id = next_string_++;
    encoder_.add(record, stream_.last_time_ns(), text);
    return record.id;
  }

  const Stream& stream_;
  wire::BlockEncoder encoder_;
  std::uint32_t next_string_;
};

// Facts about the recording itself. Null if there are none.
wire::SharedBlock make_last_facts(const Trace& trace, const Stream& stream, Paths paths) {
  LastFacts facts(trace, stream);
  if (paths == Paths::stripped && stream.definitions().job_fact(stripped_fact).empty())
    facts.add(stripped_fact, "paths");
  const bool is_first = &stream == trace.streams.data();
  for (const std::string_view name : reported_losses) {
    if (!is_first) break;
    for (const ImportStatistic& row : trace.import.rows()) {
      const std::int64_t unreported = row.name == name ? row.count - find_reported_loss(trace, name).count : 0;
      if (unreported > 0) facts.add(key_of_reported_loss(name), value_of_reported_loss({unreported, row.example}));
    }
  }
  if (is_first)
    for (const ReportedCaveat& caveat : find_new_caveats(trace))
      facts.add(caveat.key, paths == Paths::stripped ? stripped_text(caveat.value) : caveat.value);
  // A later block would show the gap; at the end only this fact does.
  if (stream.events_lost_at_end() > 0 || stream.blocks_lost_at_end() > 0)
    facts.add("hbmscope.lost_at_the_end", fmt::format("{} events", stream.events_lost_at_end()));
  return facts.close();
}

Result<SharedLog<wire::SharedBlock>> find_blocks(const Stream& stream, Paths paths) {
  if (paths == Paths::as_they_are) return stream.blocks();
  SharedLog<wire::SharedBlock> blocks;
  const auto stripped = for_each_stripped_block(stream, nullptr, [&](const wire::SharedBlock& block) {
    blocks.push_back(block);
    return true;
  });
  if (!stripped) return Failure(stripped.error());
  return blocks;
}

// One stream while it is written.
class OutgoingStream {
 public:
  OutgoingStream(SharedLog<wire::SharedBlock> blocks, wire::SharedBlock last)
      : blocks_(std::move(blocks)), merger_([this](wire::SharedBlock block) { ready_.push_back(std::move(block)); }) {
    if (last) blocks_.push_back(std::move(last));
  }
  OutgoingStream(const OutgoingStream&) = delete;
  OutgoingStream& operator=(const OutgoingStream&) = delete;

  // Null at the end.
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

// In the order in which a recorder of all streams would have closed the blocks, so that a reader of part of the file
// has all streams up to about the same time.
Result<void> append_streams(const Trace& trace, Paths paths, wire::RecordingWriter& writer,
                            std::optional<std::string>& failure) {
  std::deque<OutgoingStream> streams;
  for (const Stream& stream : trace.streams) {
    auto blocks = find_blocks(stream, paths);
    if (!blocks) return Failure(blocks.error());
    streams.emplace_back(std::move(*blocks), make_last_facts(trace, stream, paths));
  }
  while (!failure) {
    OutgoingStream* first = nullptr;
    for (OutgoingStream& stream : streams) {
      const wire::Block* block = stream.peek();
      if (block != nullptr && (first == nullptr || block->header.last_time_ns < first->peek()->header.last_time_ns))
        first = &stream;
    }
    if (first == nullptr) break;
    failure = writer.append(*first->peek());
    first->take();
  }
  return {};
}

}  // namespace

Result<std::uint64_t> write_recording(const Trace& trace, const std::string& path, Paths paths) {
  namespace fs = std::filesystem;
  std::error_code error;
  // If the path is a link, its target is replaced, not the link. A device or pipe is written to directly, never
  // replaced.
  const fs::path target = fs::exists(path, error) ? fs::canonical(path, error) : fs::path(path);
  const bool is_replaced = !fs::exists(target, error) || fs::is_regular_file(target, error);
  const std::string unfinished = is_replaced ? target.string() + ".unfinished" : target.string();
  wire::RecordingWriter writer;
  std::optional<std::string> failure = writer.open(unfinished, trace.begun_ms);
  const auto appended = failure ? Result<void>{} : append_streams(trace, paths, writer, failure);
  if (!appended) {
    if (is_replaced) fs::remove(unfinished, error);
    Error why = appended.error();
    why.file = trace.files.empty() ? path : trace.files.front();
    return Failure(std::move(why));
  }
  if (!failure) failure = writer.finish();
  if (!failure && is_replaced) {
    fs::rename(unfinished, target, error);
    if (error) failure = error.message();
  }
  if (failure) {
    if (is_replaced) fs::remove(unfinished, error);
    return write_refusal(path, *failure);
  }
  return writer.bytes();
}

Result<void> add_facts(const Trace& trace, const std::string& path, const std::vector<NewFact>& facts) {
  if (trace.streams.empty()) return Failure(write_refusal(path, "it has no stream"));
  LastFacts last(trace, trace.streams.front());
  for (const NewFact& fact : facts) last.add(fact.key, fact.value);
  wire::RecordingWriter file;
  auto wrong = file.reopen(path);
  if (!wrong)
    if (const wire::SharedBlock block = last.close()) file.append(*block);
  if (!wrong) wrong = file.finish();
  if (wrong) return Failure(write_refusal(path, *wrong));
  return {};
}

}  // namespace hbmscope
