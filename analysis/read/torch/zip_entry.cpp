#include "analysis/read/torch/zip_entry.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <libdeflate.h>

#include "analysis/units/format.h"

namespace hbmscope {
namespace {

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

}  // namespace

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

}  // namespace hbmscope
