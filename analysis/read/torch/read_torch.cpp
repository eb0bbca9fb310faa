#include "analysis/read/torch/read_torch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <libdeflate.h>

#include "analysis/model/import_statistics.h"
#include "analysis/model/result.h"
#include "analysis/read/file_bytes.h"
#include "analysis/read/gzip.h"
#include "analysis/read/other_format.h"
#include "analysis/read/pickle/old_protocols.h"
#include "analysis/read/torch/json_document.h"
#include "analysis/read/torch/snapshot_builder.h"
#include "analysis/read/torch/viewer_page.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// Extracts one file from a zip archive (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT): only the part of
// the format that torch.save and an uploaded snapshot use. Entries are stored or deflated. Nothing is unpacked to disk,
// and names are only compared, never used as paths.
bool is_zip(std::span<const std::uint8_t> bytes);

struct ZipEntry {
  std::string name;
  std::span<const std::uint8_t> bytes;  // In `inflated`, or in the archive itself if it was stored.
  std::uint64_t offset = 0;             // For a stored entry: where its bytes begin in the archive.
  ByteBuffer inflated;
  bool is_inflated = false;
};

// The entry "data.pkl" in the archive's only folder (torch.save), else the only entry that ends in .pickle or .pkl.
// Errors: damaged, encrypted, another compression, no such entry or several, more than max_inflated_bytes (a bomb).
Result<ZipEntry> read_pickle_of_zip(std::span<const std::uint8_t> archive, const std::string& name,
                                    std::uint64_t max_inflated_bytes, ImportStatistics& import);

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t end_record_size = 22, central_entry_size = 46, local_header_size = 30;
constexpr std::size_t comment_max = 0xffff;
constexpr std::uint64_t best_ratio = 1032;  // Deflate compresses by at most this; a larger claim is ignored.
constexpr std::uint16_t stored = 0, deflated = 8;

std::uint32_t word(Bytes bytes, std::size_t at, unsigned size) {
  std::uint32_t value = 0;
  for (unsigned i = size; i > 0; --i) value = value << 8 | bytes[at + i - 1];
  return value;
}

struct CentralEntry {
  std::string_view name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0, unpacked_bytes = 0, header_offset = 0;
};

// `offset` may be the archive's own claim and lie outside of it.
Failure damaged(Bytes archive, const std::string& name, std::string_view what, std::uint64_t offset) {
  return Failure(Error{fmt::format("the zip archive is damaged: {}", what),
                       "The file was cut off while it was written or copied; save or copy it again.", name,
                       std::min<std::uint64_t>(offset, archive.size()), false});
}

std::optional<std::size_t> find_end_record(Bytes archive) {
  if (archive.size() < end_record_size) return std::nullopt;
  const std::size_t last = archive.size() - end_record_size;
  const std::size_t first = last > comment_max ? last - comment_max : 0;
  for (std::size_t at = last + 1; at > first; --at)
    if (word(archive, at - 1, 4) == 0x06054b50) return at - 1;
  return std::nullopt;
}

// The 64-bit sizes that torch.save adds for files beyond 4 GiB are not needed, because a snapshot's own entry is
// smaller.
Result<std::vector<CentralEntry>> read_directory(Bytes archive, const std::string& name) {
  const auto end_record = find_end_record(archive);
  if (!end_record) return damaged(archive, name, "its directory, which is at its end, is missing", archive.size());
  std::uint32_t entries = word(archive, *end_record + 10, 2);
  std::size_t at = word(archive, *end_record + 16, 4);
  std::vector<CentralEntry> directory;
  for (; entries > 0; --entries) {
    if (at + central_entry_size > *end_record || word(archive, at, 4) != 0x02014b50)
      return damaged(archive, name, "its directory is not where it should be", at);
    const std::size_t name_size = word(archive, at + 28, 2);
    const std::size_t next =
        at + central_entry_size + name_size + word(archive, at + 30, 2) + word(archive, at + 32, 2);
    if (next > *end_record) return damaged(archive, name, "its directory ends too early", at);
    CentralEntry entry;
    entry.flags = static_cast<std::uint16_t>(word(archive, at + 8, 2));
    entry.method = static_cast<std::uint16_t>(word(archive, at + 10, 2));
    entry.crc = word(archive, at + 16, 4);
    entry.packed_bytes = word(archive, at + 20, 4);
    entry.unpacked_bytes = word(archive, at + 24, 4);
    entry.header_offset = word(archive, at + 42, 4);
    entry.name = {reinterpret_cast<const char*>(archive.data()) + at + central_entry_size, name_size};
    directory.push_back(entry);
    at = next;
  }
  return directory;
}

// macOS adds files to every archive that look like the original ones.
bool is_pickle_name(std::string_view name) {
  if (name.starts_with("__MACOSX/") || name.find("/._") != std::string_view::npos) return false;
  return name.ends_with(".pickle") || name.ends_with(".pkl");
}

bool is_torch_save(std::string_view name) {
  return name == "data.pkl" || (name.ends_with("/data.pkl") && std::count(name.begin(), name.end(), '/') == 1);
}

Result<CentralEntry> find_entry(const std::vector<CentralEntry>& directory, const std::string& name) {
  for (const auto& wanted : {is_torch_save, is_pickle_name}) {
    const auto fits = [&](const CentralEntry& entry) { return wanted(entry.name); };
    const auto count = std::count_if(directory.begin(), directory.end(), fits);
    if (count == 1) return *std::find_if(directory.begin(), directory.end(), fits);
    if (count > 1)
      return Failure(refusal(fmt::format("{} pickles are in this zip archive", count),
                             "Unpack it and give the snapshot that you mean.", name));
  }
  return Failure(
      other_format(directory.size() == 1
                       ? std::string("this is a zip archive, and its only file is no pickle")
                       : fmt::format("this is a zip archive, and none of its {} files is a pickle", directory.size()),
                   "Unpack it, and open what is inside.", name));
}

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const { libdeflate_free_decompressor(decompressor); }
};

Result<ByteBuffer> inflate_entry(Bytes archive, Bytes packed, const CentralEntry& entry, const std::string& name) {
  if (entry.unpacked_bytes > (packed.size() + 1) * best_ratio)
    return damaged(archive, name, "an entry claims more than it can contain", entry.header_offset);
  auto buffer = ByteBuffer::allocate(entry.unpacked_bytes, name);
  if (!buffer) return buffer;
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(libdeflate_alloc_decompressor());
  if (libdeflate_deflate_decompress(decompressor.get(), packed.data(), packed.size(), buffer->data(),
                                    static_cast<std::size_t>(buffer->size()), nullptr) != LIBDEFLATE_SUCCESS)
    return damaged(archive, name, "an entry can't be inflated to the size that it claims", entry.header_offset);
  return buffer;
}

Result<Bytes> find_packed_bytes(Bytes archive, const CentralEntry& entry, const std::string& name) {
  const std::uint64_t at = entry.header_offset;
  if (at + local_header_size > archive.size() || word(archive, at, 4) != 0x04034b50)
    return damaged(archive, name, "an entry is not where the directory says", at);
  const std::uint64_t begin = at + local_header_size + word(archive, at + 26, 2) + word(archive, at + 28, 2);
  if (begin > archive.size() || entry.packed_bytes > archive.size() - begin)
    return damaged(archive, name, "an entry goes beyond the end of the file", at);
  return archive.subspan(begin, entry.packed_bytes);
}

std::optional<Error> find_refusal(const CentralEntry& entry, const std::string& name, std::uint64_t limit) {
  if ((entry.flags & 1) != 0)
    return refusal("the zip archive is encrypted", "Unpack it with its password first.", name);
  if (entry.method != stored && entry.method != deflated)
    return refusal(
        fmt::format("the zip archive uses compression method {}, which hbmscope does not know", entry.method),
        "Unpack it first.", name);
  if (entry.packed_bytes == 0xffffffff || entry.unpacked_bytes == 0xffffffff)
    return refusal("the pickle in this zip archive has 4 GiB or more", "Unpack it first.", name);
  if (entry.unpacked_bytes > limit)
    return refusal(fmt::format("the pickle in this zip archive inflates to more than {}, the limit",
                               text_from_bytes(static_cast<std::int64_t>(limit))),
                   "If this file is really that large, raise the limit: --max-size 16GiB.", name);
  return std::nullopt;
}

bool is_zip(Bytes bytes) {
  return bytes.size() >= 4 && bytes[0] == 'P' && bytes[1] == 'K' && bytes[2] == 3 && bytes[3] == 4;
}

Result<ZipEntry> read_pickle_of_zip(Bytes archive, const std::string& name, std::uint64_t max_inflated_bytes,
                                    ImportStatistics& import) {
  const auto directory = read_directory(archive, name);
  if (!directory) return Failure(directory.error());
  const auto entry = find_entry(*directory, name);
  if (!entry) return Failure(entry.error());
  if (auto refusal = find_refusal(*entry, name, max_inflated_bytes)) return Failure(std::move(*refusal));
  const auto packed = find_packed_bytes(archive, *entry, name);
  if (!packed) return Failure(packed.error());

  ZipEntry result;
  result.name = std::string(entry->name);
  if (entry->method == stored) {
    result.bytes = *packed;
    result.offset = static_cast<std::uint64_t>(packed->data() - archive.data());
  } else {
    auto inflated = inflate_entry(archive, *packed, *entry, name);
    if (!inflated) return Failure(std::move(inflated.error()));
    result.inflated = std::move(*inflated);
    result.bytes = result.inflated.bytes();
    result.is_inflated = true;
  }
  if (libdeflate_crc32(0, result.bytes.data(), result.bytes.size()) != entry->crc)
    import.add("zip_checksum", Severity::warning, 1,
               "The checksum of the pickle in the zip archive does not match: the file was changed or damaged. Figures "
               "may be wrong; copy or save it again.");
  return result;
}

using Bytes = std::span<const std::uint8_t>;

// Where the pickle lies in the file, for error offsets.
struct Place {
  std::uint64_t offset = 0;
  bool inflated = false;
};

// A smaller history is read in a tenth of a second.
constexpr std::size_t history_bytes_min = std::size_t{8} << 20;

// The position of the history's key, as protocols 4 and 2 write it, or 0.
std::size_t find_history(Bytes bytes) {
  using namespace std::string_view_literals;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view rest = text.substr(0, text.size() / 2 + 1);
  for (const std::string_view key : {"\x8c\x0d"
                                     "device_traces"sv,
                                     "X\x0d\0\0\0"
                                     "device_traces"sv})
    if (const std::size_t at = rest.find(key); at != std::string_view::npos) return at;
  return 0;
}

Failure not_a_pickle(Bytes bytes, const std::string& name) {
  const std::string_view other = find_other_format(bytes).name;
  return Failure(refusal(other.empty()
                             ? "this is not a PyTorch memory snapshot: a pickle begins with the bytes 80 02 to 80 05"
                             : fmt::format("this looks like {}, not like a PyTorch memory snapshot", other),
                         "Use the file that torch.cuda.memory._dump_snapshot() wrote.", name));
}

// `read(document, taker)` reads the pickle. Entries are taken while it is read. If its lists are not in PyTorch's usual
// order, it is read again, and everything is in memory before anything is taken.
template <class Read>
Result<TorchSnapshot> read_snapshot(const TorchSnapshot& begun, Place place, ReadControl* control, const Read& read) {
  for (bool takes_entries = true;; takes_entries = false) {
    TorchSnapshot snapshot = begun;
    pickle::Document document;
    torch::SnapshotBuilder builder(document, snapshot, control);
    std::optional<Error> error = read(document, takes_entries ? &builder : nullptr);
    if (!error) {
      snapshot.pickle_protocol = document.protocol();
      if (document.end_offset() < snapshot.pickle_bytes)
        snapshot.import.add("bytes_after_pickle", Severity::warning,
                            static_cast<std::int64_t>(snapshot.pickle_bytes - document.end_offset()),
                            "Bytes after the end of the pickle were ignored; two files may have been concatenated.",
                            fmt::format("at byte {}", place.offset + document.end_offset()));
      error = builder.build();
    } else {
      if (error->offset) *error->offset += place.offset;
      error->inflated = place.inflated && error->offset;
    }
    if (takes_entries && builder.has_given_up()) continue;
    if (error) return Failure(std::move(*error));
    if (control != nullptr) control->done_bytes = snapshot.pickle_bytes;
    return snapshot;
  }
}

Result<TorchSnapshot> read_snapshot(Bytes bytes, Place place, TorchSnapshot begun, const TorchReadOptions& options,
                                    ReadControl* control) {
  const bool is_json = torch::looks_like_json_snapshot(bytes);
  if (!is_json && !pickle::looks_like_pickle(bytes) && !pickle::find_old_pickle(bytes))
    return not_a_pickle(bytes, begun.file);
  begun.pickle_bytes = bytes.size();
  return read_snapshot(begun, place, control, [&](pickle::Document& document, pickle::ItemTaker* taker) {
    if (is_json) return torch::read_json(document, bytes, begun.file, control);
    return pickle::read_pickle(document, bytes, begun.file, options.pickle_limits, control, taker);
  });
}

Result<TorchSnapshot> read_container(Bytes bytes, const std::string& name, const TorchReadOptions& options,
                                     ReadControl* control) {
  TorchSnapshot snapshot;
  snapshot.file = name;
  snapshot.file_bytes = bytes.size();
  ByteBuffer inflated, of_page;
  Place place;
  for (int layer = 0; layer < 3 && is_gzip(bytes); ++layer) {
    auto next = inflate_gzip(bytes, name, options.max_inflated_bytes, snapshot.import);
    if (!next) return Failure(std::move(next.error()));
    inflated = std::move(*next);
    bytes = inflated.bytes();
    place.inflated = true;
  }
  if (bytes.empty()) return Failure(refusal("nothing is inside the gzip data", "Save the snapshot again.", name));
  if (torch::looks_like_viewer_page(bytes)) {
    auto decoded = torch::read_viewer_page(bytes, name);
    if (!decoded) {
      decoded.error().inflated = place.inflated && decoded.error().offset;
      return Failure(std::move(decoded.error()));
    }
    of_page = std::move(*decoded);
    bytes = of_page.bytes();
    place.inflated = true;
  }
  if (!is_zip(bytes)) return read_snapshot(bytes, place, std::move(snapshot), options, control);
  const auto entry = read_pickle_of_zip(bytes, name, options.max_inflated_bytes, snapshot.import);
  if (!entry) return Failure(entry.error());
  place = {entry->offset, place.inflated || entry->is_inflated};
  return read_snapshot(entry->bytes, place, std::move(snapshot), options, control);
}

template <class Read>
Result<TorchSnapshot> with_enough_memory(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return Failure(refusal("there is not enough memory for what is in this snapshot",
                         "Close other programs, or read the file on a larger machine.", name));
}

// A file of known size, from its beginning.
class FileSource final : public pickle::ByteSource {
 public:
  FileSource(std::FILE* file, std::uint64_t size) : file_(file), size_(size) {}

  std::uint64_t size() const override { return size_; }
  std::size_t read(std::span<std::uint8_t> room) override {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), size_ - at_));
    const std::size_t got = std::fread(room.data(), 1, wanted, file_);
    if (got < wanted && std::ferror(file_) != 0) errno_ = errno;
    at_ += got;
    return got;
  }
  bool has_failed() const { return errno_ != 0; }
  Error error(const std::string& file) const { return reading_failed(file, at_, errno_); }

 private:
  std::FILE* file_;
  std::uint64_t size_, at_ = 0;
  int errno_ = 0;
};

}  // namespace

bool looks_like_torch(Bytes bytes) {
  return pickle::looks_like_pickle(bytes) || is_zip(bytes) || torch::looks_like_json_snapshot(bytes) ||
         torch::looks_like_viewer_page(bytes) || pickle::find_old_pickle(bytes);
}

std::optional<TorchSnapshot> read_torch_state(Bytes bytes, const std::string& name, const TorchReadOptions& options) {
  ImportStatistics unused;
  if (is_zip(bytes)) {
    const auto entry = read_pickle_of_zip(bytes, name, options.max_inflated_bytes, unused);
    if (!entry || entry->is_inflated) return std::nullopt;  // Inflating it is most of the work.
    bytes = entry->bytes;
  }
  const std::size_t history = find_history(bytes);
  if (history < 2 || history > bytes.size() / 2 || bytes.size() - history < history_bytes_min) return std::nullopt;
  TorchReadOptions of_beginning = options;
  of_beginning.pickle_limits.is_beginning = true;
  auto snapshot = read_torch(bytes.first(history), name, of_beginning);
  if (!snapshot || snapshot->segments.size() == 0) return std::nullopt;
  snapshot->file_bytes = bytes.size();
  return std::move(*snapshot);
}

Result<TorchSnapshot> read_torch(Bytes bytes, const std::string& name, const TorchReadOptions& options,
                                 ReadControl* control) {
  if (bytes.empty())
    return Failure(refusal("the file is empty",
                           "The job may have been stopped while it was writing; save the snapshot again.", name));
  return with_enough_memory(name, [&] { return read_container(bytes, name, options, control); });
}

std::optional<Result<TorchSnapshot>> read_large_torch(InputFile& file, const TorchReadOptions& options,
                                                      ReadControl* control) {
  const std::uint64_t size = file.size().value_or(0);
  if (size < history_bytes_min || size > options.max_inflated_bytes) return std::nullopt;
  if (!pickle::looks_like_pickle(file.first_bytes())) return std::nullopt;
  TorchSnapshot begun;
  begun.file = file.name();
  begun.file_bytes = begun.pickle_bytes = size;
  return with_enough_memory(file.name(), [&] {
    return read_snapshot(begun, {}, control, [&](pickle::Document& document, pickle::ItemTaker* taker) {
      FileSource source(file.rewound_stream(), size);
      auto error = pickle::read_pickle(document, source, file.name(), control, taker);
      return source.has_failed() ? std::optional(source.error(file.name())) : std::move(error);
    });
  });
}

}  // namespace hbmscope
