#include "analysis/read/torch/read_torch.h"

#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "analysis/read/gzip.h"
#include "analysis/read/other_format.h"
#include "analysis/read/pickle/old_protocols.h"
#include "analysis/read/torch/snapshot_builder.h"
#include "analysis/read/torch/zip_entry.h"

namespace hbmscope {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Where the pickle lies in the file, for the offsets of errors.
struct Place {
  std::uint64_t offset = 0;
  bool inflated = false;
};

// Less is read in a tenth of a second.
constexpr std::size_t history_bytes_min = std::size_t{8} << 20;

// Where the key of the history stands, as protocols 4 and 2 write it; 0: nowhere.
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
  const std::string_view other = find_other_format(bytes);
  return Failure(Error{other.empty()
                           ? "this is no PyTorch memory snapshot: a pickle begins with the bytes 80 02 to 80 05"
                           : fmt::format("this looks like {}, not like a PyTorch memory snapshot", other),
                       "Give the file that torch.cuda.memory._dump_snapshot() wrote.",
                       name,
                       {},
                       false});
}

Result<TorchSnapshot> read_snapshot(Bytes bytes, Place place, TorchSnapshot snapshot, const TorchReadOptions& options,
                                    ReadControl* control) {
  if (!pickle::looks_like_pickle(bytes) && !pickle::find_old_pickle(bytes)) return not_a_pickle(bytes, snapshot.file);
  auto document = pickle::read_pickle(bytes, snapshot.file, options.pickle_limits, control);
  if (!document) {
    Error error = std::move(document.error());
    if (error.offset) *error.offset += place.offset;
    error.inflated = place.inflated && error.offset;
    return Failure(std::move(error));
  }
  snapshot.pickle_bytes = bytes.size();
  snapshot.pickle_protocol = document->protocol();
  if (document->end_offset() < bytes.size())
    snapshot.import.add("bytes_after_pickle", Severity::warning,
                        static_cast<std::int64_t>(bytes.size() - document->end_offset()),
                        "Bytes behind the end of the pickle were left out. Two files pasted together?",
                        fmt::format("at byte {}", place.offset + document->end_offset()));
  if (auto error = torch::SnapshotBuilder(*document, snapshot, control).build()) return Failure(std::move(*error));
  if (control != nullptr) control->done_bytes = bytes.size();
  return snapshot;
}

Result<TorchSnapshot> read_container(Bytes bytes, const std::string& name, const TorchReadOptions& options,
                                     ReadControl* control) {
  TorchSnapshot snapshot;
  snapshot.file = name;
  snapshot.file_bytes = bytes.size();
  ByteBuffer inflated;
  Place place;
  for (int layer = 0; layer < 3 && is_gzip(bytes); ++layer) {
    auto next = inflate_gzip(bytes, name, options.max_inflated_bytes, snapshot.import);
    if (!next) return Failure(std::move(next.error()));
    inflated = std::move(*next);
    bytes = inflated.bytes();
    place.inflated = true;
  }
  if (bytes.empty())
    return Failure(Error{"nothing is inside the gzip data", "Save the snapshot again.", name, {}, false});
  if (!is_zip(bytes)) return read_snapshot(bytes, place, std::move(snapshot), options, control);
  const auto entry = read_pickle_of_zip(bytes, name, options.max_inflated_bytes, snapshot.import);
  if (!entry) return Failure(entry.error());
  place = {entry->offset, place.inflated || entry->is_inflated};
  return read_snapshot(entry->bytes, place, std::move(snapshot), options, control);
}

}  // namespace

bool looks_like_torch(Bytes bytes) {
  return pickle::looks_like_pickle(bytes) || is_zip(bytes) || pickle::find_old_pickle(bytes);
}

std::optional<TorchSnapshot> read_torch_state(Bytes bytes, const std::string& name, const TorchReadOptions& options) {
  ImportStatistics unused;
  if (is_zip(bytes)) {
    const auto entry = read_pickle_of_zip(bytes, name, options.max_inflated_bytes, unused);
    if (!entry || entry->is_inflated) return std::nullopt;  // To inflate it is most of the work.
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
    return Failure(Error{
        "the file is empty", "Was the job stopped while it was writing? Save the snapshot again.", name, {}, false});
  try {
    return read_container(bytes, name, options, control);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return Failure(Error{"there is not enough memory for what is in this snapshot",
                       "Close other programs, or read the file on a larger machine.",
                       name,
                       {},
                       false});
}

}  // namespace hbmscope
