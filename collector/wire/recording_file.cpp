#include "collector/wire/recording_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "collector/wire/block_decoder.h"
#include "collector/wire/private_file.h"
#include "collector/wire/varint.h"

namespace hbmscope::wire {

std::uint64_t RecordingWriter::now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::optional<std::string> RecordingWriter::open(const std::string& path, std::uint64_t begun_ms) {
  file_.reset();
  std::string wrong;
  const int file = open_private_file(path, Name::chosen, wrong);
  if (file < 0) return failure_ = wrong;
  if (make_empty_and_private(file)) file_.reset(fdopen(file, "wb"));
  if (file_ == nullptr) {
    failure_ = std::strerror(errno);
    close(file);
    return failure_;
  }
  offset_ = 0;
  index_.clear();
  failure_.reset();
  FileHeader header;
  header.begun_ms = begun_ms;
  write(&header, sizeof(header));
  flush();
  return failure_;
}

std::optional<std::string> RecordingWriter::reopen(const std::string& path) {
  failure_.reset();
  index_.clear();
  offset_ = sizeof(FileHeader);
  file_.reset(std::fopen(path.c_str(), "r+b"));
  if (file_ == nullptr) return failure_ = std::strerror(errno);
  const auto refuse = [&](std::string why) {
    file_.reset();
    return failure_ = std::move(why);
  };
  FileHeader file_header;
  if (std::fread(&file_header, sizeof(file_header), 1, file_.get()) != 1 ||
      !looks_like_recording(reinterpret_cast<const std::uint8_t*>(&file_header), sizeof(file_header)))
    return refuse("it is not a recording");
  for (BlockHeader header;;) {
    if (fseeko(file_.get(), static_cast<off_t>(offset_), SEEK_SET) != 0 ||
        std::fread(&header, sizeof(header), 1, file_.get()) != 1 || find_header_fault(header))
      return refuse("it was not finished, or is damaged");
    if (header.type == BlockType::index) break;
    index_.push_back({offset_, header});
    offset_ += sizeof(header) + header.stored_bytes;
  }
  if (ftruncate(fileno(file_.get()), static_cast<off_t>(offset_)) != 0 ||
      fseeko(file_.get(), static_cast<off_t>(offset_), SEEK_SET) != 0)
    return refuse(std::strerror(errno));
  return std::nullopt;
}

bool RecordingWriter::write(const void* bytes, std::size_t count) {
  if (failure_ || file_ == nullptr) return false;
  if (count == 0) return true;
  if (std::fwrite(bytes, 1, count, file_.get()) != count) {
    failure_ = std::strerror(errno);
    return false;
  }
  offset_ += count;
  return true;
}

void RecordingWriter::flush() {
  if (!failure_ && file_ != nullptr && std::fflush(file_.get()) != 0) failure_ = std::strerror(errno);
}

std::optional<std::string> RecordingWriter::append(const Block& block) {
  const auto payload = find_payload(block, payload_);
  if (!payload && !failure_) failure_ = "the file that a block was put into can't be read";
  if (!payload) return failure_;
  index_.push_back({offset_, block.header});
  write(&block.header, sizeof(block.header));
  write(payload->data(), payload->size());
  flush();
  return failure_;
}

void RecordingWriter::append_index(std::vector<std::uint8_t>& out) const {
  const auto append = [&](std::uint64_t value) {
    std::uint8_t bytes[varint_bytes_max];
    out.insert(out.end(), bytes, write_varint(bytes, value));
  };
  append(index_.size());
  for (const IndexEntry& entry : index_) {
    append(entry.offset);
    append(static_cast<std::uint64_t>(entry.header.type));
    append(entry.header.stream);
    append(entry.header.records);
    append(entry.header.events);
    append(entry.header.first_event);
    append(zigzag(static_cast<std::uint64_t>(entry.header.first_time_ns)));
    append(zigzag(static_cast<std::uint64_t>(entry.header.last_time_ns)));
  }
}

std::optional<std::string> RecordingWriter::finish() {
  if (file_ == nullptr) return failure_;
  Block index;
  append_index(index.payload);
  index.header.type = BlockType::index;
  index.header.stored_bytes = index.header.raw_bytes = static_cast<std::uint32_t>(index.payload.size());
  index.header.xxh3 = compute_block_hash(index);
  FileTrailer trailer;
  trailer.index_offset = offset_;
  write(&index.header, sizeof(index.header));
  write(index.payload.data(), index.payload.size());
  write(&trailer, sizeof(trailer));
  if (std::fclose(file_.release()) != 0 && !failure_) failure_ = std::strerror(errno);
  return failure_;
}

bool looks_like_recording(const std::uint8_t* bytes, std::size_t count) {
  const FileHeader good;
  return count >= sizeof(good.magic) && std::memcmp(bytes, good.magic, sizeof(good.magic)) == 0;
}

namespace {

class Scanner {
 public:
  Scanner(const std::uint8_t* bytes, std::size_t count, const std::function<bool(SharedBlock)>& visit)
      : bytes_(bytes), count_(count), visit_(visit) {}

  RecordingScan scan(std::size_t offset) {
    while (offset < count_) {
      if (is_trailer(offset)) {
        scan_.has_index = true;
        break;
      }
      const std::optional<std::size_t> next = read_block(offset);
      if (stopped_) break;
      if (next) {
        offset = *next;
        continue;
      }
      const std::size_t found = find_next_header(offset + 1);
      scan_.lost_bytes += found - offset;
      offset = found;
    }
    return scan_;
  }

 private:
  bool is_trailer(std::size_t offset) const {
    const FileTrailer good;
    return count_ - offset == sizeof(good) &&
           std::memcmp(bytes_ + offset + offsetof(FileTrailer, magic), good.magic, sizeof(good.magic)) == 0;
  }

  void note_fault(std::size_t offset, std::string what) {
    if (scan_.first_fault_offset) return;
    scan_.first_fault_offset = offset;
    scan_.first_fault = std::move(what);
  }

  // Returns the offset of the next block; no value if no block can be read here.
  std::optional<std::size_t> read_block(std::size_t offset) {
    auto block = std::make_shared<Block>();
    const std::size_t rest = count_ - offset;
    if (rest < sizeof(BlockHeader)) {
      note_fault(offset, "the file ends in the middle of a block's header");
      return std::nullopt;
    }
    std::memcpy(&block->header, bytes_ + offset, sizeof(BlockHeader));
    if (auto fault = find_header_fault(block->header)) {
      note_fault(offset, std::move(*fault));
      return std::nullopt;
    }
    if (rest - sizeof(BlockHeader) < block->header.stored_bytes) {
      note_fault(offset, "the file ends in the middle of a block");
      return std::nullopt;
    }
    const std::uint8_t* payload = bytes_ + offset + sizeof(BlockHeader);
    const std::size_t end = offset + sizeof(BlockHeader) + block->header.stored_bytes;
    // Every magic inside a payload looks like a block; a file full of them must not be hashed again and again.
    hashed_bytes_ += block->header.stored_bytes;
    if (hashed_bytes_ > 4 * std::uint64_t{count_} + (1U << 26)) {
      note_fault(offset, "too much of the file is damaged");
      stopped_ = true;
      scan_.lost_bytes += rest;
      return std::nullopt;
    }
    if (compute_block_hash(block->header, {payload, block->header.stored_bytes}) != block->header.xxh3) {
      note_fault(offset, "a block's check sum differs: bytes of it were changed");
      ++scan_.damaged_blocks;
      // The length may be what was damaged: trusted only if another block begins after it, or the file ends.
      if (end != count_ && !begins_block(end) && !is_trailer(end)) return std::nullopt;
      scan_.lost_bytes += end - offset;
      return end;
    }
    if (!is_known(block->header)) {
      ++scan_.unknown_blocks;
    } else if (block->header.type == BlockType::index) {
      read_index({payload, block->header.stored_bytes});
    } else {
      block->payload.assign(payload, payload + block->header.stored_bytes);
      stopped_ = !visit_(std::move(block));
    }
    return end;
  }

  // Reads the format that append_index() writes.
  void read_index(std::span<const std::uint8_t> payload) {
    VarintReader reader(payload.data(), payload.data() + payload.size());
    for (std::uint64_t left = reader.read(); left > 0 && reader.remaining() > 0; --left) {
      std::uint64_t fields[8];  // Offset, what, stream, records, events, first event, times.
      for (std::uint64_t& field : fields) field = reader.read();
      if (reader.failed()) return;
      if (fields[1] != static_cast<std::uint64_t>(BlockType::events) || fields[2] >= streams_max ||
          fields[5] > events_max || fields[4] > block_events_max)
        continue;
      RecordingScan::WrittenStream& stream = scan_.written[static_cast<std::uint32_t>(fields[2])];
      stream.end_event = std::max(stream.end_event, fields[5] + fields[4]);
      ++stream.blocks;
    }
  }

  bool begins_block(std::size_t offset) const {
    if (count_ - offset < sizeof(BlockHeader)) return false;
    BlockHeader header;
    std::memcpy(&header, bytes_ + offset, sizeof(header));
    return !find_header_fault(header);
  }

  std::size_t find_next_header(std::size_t offset) const {
    const BlockHeader good;
    std::uint8_t magic[4];
    std::memcpy(magic, &good.magic, sizeof(magic));
    const std::uint8_t* const end = bytes_ + count_;
    for (const std::uint8_t* at = bytes_ + offset;; ++at) {
      at = std::search(at, end, magic, magic + sizeof(magic));
      if (at == end || begins_block(static_cast<std::size_t>(at - bytes_)))
        return static_cast<std::size_t>(at - bytes_);
    }
  }

  const std::uint8_t* bytes_;
  std::size_t count_;
  const std::function<bool(SharedBlock)>& visit_;
  RecordingScan scan_;
  bool stopped_ = false;
  std::uint64_t hashed_bytes_ = 0;
};

}  // namespace

std::optional<RecordingScan> scan_recording(const std::uint8_t* bytes, std::size_t count,
                                            const std::function<bool(SharedBlock)>& visit) {
  FileHeader header;
  if (!looks_like_recording(bytes, count) || count < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes, sizeof(header));
  if (header.bytes < sizeof(header) || header.bytes > count) return std::nullopt;
  return Scanner(bytes, count, visit).scan(header.bytes);
}

}  // namespace hbmscope::wire
