#include "collector/serve/ring_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace hbmscope::serve {
namespace {

constexpr std::uint32_t rings_max = 4096;
constexpr std::uint64_t ring_bytes_min = 4096, ring_bytes_max = std::uint64_t{1} << 32;
// Limits on what a job can make us store.
constexpr std::uint64_t definitions_bytes_max = std::uint64_t{256} << 20, listing_bytes_max = std::uint64_t{1} << 30;

std::uint64_t load(const std::uint64_t& number) {
  return std::atomic_ref(const_cast<std::uint64_t&>(number)).load(std::memory_order_acquire);
}

bool lies_within(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return offset <= size && bytes <= size - offset && offset % 64 == 0;
}

// Reads the row whose first byte is at `at`, where at most `room` bytes may be read. Returns its length, or 0 if there
// is no row.
std::uint64_t read_row(const std::uint8_t* at, std::uint64_t room, Row& row) {
  wire::RowHeader header;
  if (room < sizeof(header)) return 0;
  std::memcpy(&header, at, sizeof(header));
  const std::uint64_t bytes = std::uint64_t{header.words} * 8;
  if (bytes > room || sizeof(header) + header.struct_bytes + std::uint64_t{header.text_bytes} > bytes) return 0;
  if (header.struct_bytes > sizeof(row.fields)) return 0;
  row.kind = header.kind;
  row.ticks = static_cast<std::uint64_t>(header.time_ns);
  row.struct_bytes = header.struct_bytes;
  std::memcpy(row.fields, at + sizeof(header), header.struct_bytes);
  row.text.assign(reinterpret_cast<const char*>(at) + sizeof(header) + header.struct_bytes, header.text_bytes);
  return bytes;
}

}  // namespace

RingMemory::~RingMemory() {
  munmap(bytes_, size_);
}

namespace {

// Only memory that the kernel gives page by page when it is touched, as a memfd has it (tmpfs). A page of a hugetlbfs
// is missing if no huge page is free, and reading it would end this process.
bool is_ordinary_memory(int memory) {
  struct statfs system {};
  return fstatfs(memory, &system) == 0 && static_cast<unsigned long>(system.f_type) == TMPFS_MAGIC;
}

}  // namespace

std::unique_ptr<RingMemory> RingMemory::map(int memory, std::string& wrong) {
  struct stat file {};
  std::unique_ptr<RingMemory> mapped;
  const int seals = fcntl(memory, F_GET_SEALS);
  if (!is_ordinary_memory(memory)) {
    wrong = "its shared memory is not of a kind that can be read safely";
  } else if (fstat(memory, &file) != 0 || file.st_size < static_cast<off_t>(sizeof(wire::RingsHeader))) {
    wrong = "its shared memory is too small";
  } else if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    wrong = "its shared memory could shrink while it is read";
  } else {
    const auto size = static_cast<std::uint64_t>(file.st_size);
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
    if (at == MAP_FAILED) {
      wrong = "cannot map its shared memory";
    } else {
      // The observer may run in the job itself, whose children and core file must not get this memory.
      madvise(at, size, MADV_DONTFORK);
      madvise(at, size, MADV_DONTDUMP);
      mapped.reset(new RingMemory(static_cast<std::uint8_t*>(at), size));
    }
  }
  close(memory);
  if (mapped && !mapped->read_layout(wrong)) mapped.reset();
  return mapped;
}

std::unique_ptr<RingMemory> RingMemory::of_nothing() {
  constexpr std::uint64_t size = 4096;
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  new (at) wire::RingsHeader;
  std::unique_ptr<RingMemory> memory(new RingMemory(static_cast<std::uint8_t*>(at), size));
  memory->ticks_are_ns_ = true;
  return memory;
}

bool RingMemory::read_layout(std::string& wrong) {
  wire::RingsHeader copy;
  std::memcpy(static_cast<void*>(&copy), bytes_, sizeof(copy));
  if (std::memcmp(copy.magic, wire::RingsHeader{}.magic, sizeof(copy.magic)) != 0 ||
      copy.version != wire::rings_version) {
    wrong = "its collector has another version";
    return false;
  }
  rings_ = copy.rings;
  ring_bytes_ = copy.ring_bytes;
  rings_offset_ = copy.rings_offset;
  definitions_offset_ = copy.definitions_offset;
  definitions_bytes_ = copy.definitions_bytes;
  listing_offset_ = copy.listing_offset;
  listing_bytes_ = copy.listing_bytes;
  ticks_are_ns_ = copy.ticks_are_ns != 0;
  const bool is_possible = rings_ >= 1 && rings_ <= rings_max && ring_bytes_ >= ring_bytes_min &&
                           ring_bytes_ <= ring_bytes_max && (ring_bytes_ & (ring_bytes_ - 1)) == 0 &&
                           lies_within(rings_offset_, rings_ * wire::ring_stride(ring_bytes_), size_) &&
                           definitions_bytes_ <= definitions_bytes_max && listing_bytes_ <= listing_bytes_max &&
                           lies_within(definitions_offset_, definitions_bytes_, size_) &&
                           lies_within(listing_offset_, listing_bytes_, size_);
  if (!is_possible) wrong = "its shared memory is invalid";
  return is_possible;
}

wire::RingHeader& RingMemory::ring(std::uint32_t number) const {
  return *reinterpret_cast<wire::RingHeader*>(bytes_ + rings_offset_ + number * wire::ring_stride(ring_bytes_));
}

std::vector<std::uint32_t> RingMemory::used_rings() const {
  std::vector<std::uint32_t> used;
  const std::uint64_t taken = load(header().rings_taken);
  for (std::uint32_t i = 0; i < rings_ && i < taken; ++i) used.push_back(i);
  return used;
}

std::uint64_t RingMemory::head(std::uint32_t number) const {
  return load(ring(number).head);
}

std::uint64_t RingMemory::lost(std::uint32_t number) const {
  return load(ring(number).lost);
}

std::uint64_t RingMemory::freeing_since(std::uint32_t number) const {
  return load(ring(number).freeing_since);
}

std::uint64_t RingMemory::events_without_ring() const {
  return load(header().events_without_ring);
}

std::uint64_t RingMemory::stacks_lost() const {
  return load(header().stacks_lost);
}

bool RingMemory::has_sandbox() const {
  return load(header().has_sandbox) != 0;
}

std::optional<Row> RingMemory::next(std::uint32_t number, std::uint64_t& at, std::uint64_t head,
                                    bool& is_broken) const {
  const auto* rows = reinterpret_cast<const std::uint8_t*>(&ring(number) + 1);
  if (head - at > ring_bytes_) {
    is_broken = true;
    at = head;
  }
  while (at != head) {
    const std::uint64_t place = at & (ring_bytes_ - 1), room = std::min(ring_bytes_ - place, head - at);
    Row row;
    std::uint16_t words = 0, kind = 0;
    std::memcpy(&words, rows + place, sizeof(words));
    std::memcpy(&kind, rows + place + sizeof(words), sizeof(kind));
    // It fills the rest of the ring, so there is at most one a round; smaller ones would keep the observer busy.
    if (kind == static_cast<std::uint16_t>(wire::padding_kind) && words != 0 && words * 8U == ring_bytes_ - place &&
        words * 8U <= room) {
      at += words * 8U;
      continue;
    }
    const std::uint64_t bytes = room % 8 == 0 ? read_row(rows + place, room, row) : 0;
    if (bytes == 0) {
      is_broken = true;
      at = head;
      break;
    }
    at += bytes;
    return row;
  }
  return std::nullopt;
}

void RingMemory::set_tail(std::uint32_t number, std::uint64_t tail) {
  std::atomic_ref(ring(number).tail).store(tail, std::memory_order_release);
}

void RingMemory::visit_rows(std::uint64_t begin, std::uint64_t end, const Visit& visit, bool& is_broken) const {
  Row row;
  while (begin != end) {
    const std::uint64_t bytes = read_row(bytes_ + begin, end - begin, row);
    if (bytes == 0) {
      is_broken = true;
      break;
    }
    visit(row);
    begin += bytes;
  }
}

void RingMemory::take_definitions(const Visit& visit, bool& is_broken) {
  const std::uint64_t begin = definitions_read_, end = load(header().definitions_end);
  if (end < begin || end > definitions_bytes_) {
    is_broken = true;
    return;
  }
  definitions_read_ = end;
  visit_rows(definitions_offset_ + begin, definitions_offset_ + end, visit, is_broken);
}

void RingMemory::take_listing(const Visit& visit, bool& is_broken) {
  auto& end_word = reinterpret_cast<wire::RingsHeader*>(bytes_)->listing_end;
  const std::uint64_t end_plus_1 = load(end_word);
  if (end_plus_1 == 0 || end_plus_1 - 1 > listing_bytes_) {
    is_broken = true;
    return;
  }
  visit_rows(listing_offset_, listing_offset_ + end_plus_1 - 1, visit, is_broken);
  std::atomic_ref(end_word).store(0, std::memory_order_release);
}

void RingMemory::ask_for_listings() {
  std::atomic_ref(reinterpret_cast<wire::RingsHeader*>(bytes_)->listing_round).fetch_add(1, std::memory_order_relaxed);
}

}  // namespace hbmscope::serve
