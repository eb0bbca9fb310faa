#include "analysis/read/torch/read_torch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "analysis/read/file_bytes.h"
#include "analysis/read/gzip.h"
#include "analysis/read/other_format.h"
#include "analysis/read/pickle/old_protocols.h"
#include "analysis/read/torch/json_document.h"
#include "analysis/read/torch/snapshot_builder.h"
#include "analysis/read/torch/viewer_page.h"
#include "analysis/read/torch/zip_entry.h"

namespace hbmscope {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Where the pickle lies in the file, for error offsets.
struct Place {
  std::uint64_t offset = 0;
  bool inflated = false;
};

// A smaller history is read in a tenth of a second.
constexpr std::size_t history_bytes_min = std::size_t{8} << 20;

// The position of the history's key, as protocols 4 and 2 write it; 0: not found.
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
