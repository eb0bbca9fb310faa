#include "tests/allocator/torch_device.h"

#include <algorithm>

#include <fmt/format.h>

namespace hbmscope::allocator {
namespace {

constexpr std::string_view completed = "e\tFREE_COMPLETED\t";
constexpr std::uint64_t page = std::uint64_t{2} << 20;  // Also the size of a small segment.

std::uint64_t memory_for(std::uint64_t bytes) {
  return (bytes + page - 1) / page * page;
}

}  // namespace

TorchDevice::TorchDevice(const TorchTrace& trace)
    : has_limit_(trace.fraction < 1),
      releases_all_(trace.conf.find("garbage_collection") == std::string::npos &&
                    trace.conf.find("max_split") == std::string::npos),
      free_bytes_(trace.device_bytes) {}

void TorchDevice::begin(const TorchStep& step, std::vector<std::string>& written) {
  step_ = &step;
  written_ = &written;
  next_ = 0;
}

void TorchDevice::work(std::uint32_t stream, std::uint64_t ticks) {
  done_at_[stream] = std::max(done_at_[stream], now_) + ticks;
}

std::vector<std::string_view> TorchDevice::take(std::string_view name, std::string_view other_name) {
  while (next_ < step_->answers.size() && step_->answers[next_][0] != 'd') ++next_;
  if (next_ == step_->answers.size()) return {};
  auto fields = split_at(step_->answers[next_], '\t');
  if (fields[1] != name && fields[1] != other_name) return {};
  ++next_;
  fields.resize(5);
  return fields;
}

std::optional<Claim> TorchDevice::claim(std::uint64_t bytes) {
  const auto call = take("malloc", "malloc_oom");
  if (call.empty() || number_in(call[3]) != bytes || call[1] == "malloc_oom") {
    write(fmt::format("d\tmalloc_oom\t0\t{}", bytes));
    return {};
  }
  const std::uint64_t address = address_in(call[4]);
  free_bytes_ -= memory_for(bytes);
  write(fmt::format("d\tmalloc\t0\t{}\t{:x}", bytes, address));
  return Claim{address, bytes};
}

void TorchDevice::release(const Claim& claim) {
  for (const auto& [stream, done_at] : done_at_) wait(done_at);
  take("free");
  free_bytes_ += memory_for(claim.bytes);
  write(fmt::format("d\tfree\t{:x}", claim.base));
}

std::optional<std::uint64_t> TorchDevice::reserve(std::uint64_t bytes) {
  const auto call = take("reserve");
  if (call.empty()) {
    write(fmt::format("d\treserve\t{}\tnothing", bytes));
    return {};
  }
  write(fmt::format("d\treserve\t{}\t{}", bytes, call[3]));
  return address_in(call[3]);
}

void TorchDevice::unreserve(const Claim& addresses) {
  take("unreserve");
  write(fmt::format("d\tunreserve\t{:x}", addresses.base));
}

// The memory comes in equal parts: 20 MiB in the large pool, 2 MiB in the small one.
bool TorchDevice::map(const Claim& addresses) {
  std::uint64_t part = 0;
  for (std::uint64_t created = 0; created < addresses.bytes; created += part) {
    const auto call = take("create", "create_oom");
    part = call.empty() ? 0 : number_in(call[3]);
    if (part == 0 || call[1] == "create_oom" || addresses.bytes % part != 0) {
      write(fmt::format("d\tcreate_oom\t0\t{}", part));
      return false;
    }
    write(fmt::format("d\tcreate\t0\t{}", part));
  }
  for (std::uint64_t mapped = 0; mapped < addresses.bytes; mapped += part) {
    take("map");
    write(fmt::format("d\tmap\t{:x}\t{}", addresses.base + mapped, part));
  }
  free_bytes_ -= addresses.bytes;
  return true;
}

void TorchDevice::unmap(const Claim& addresses) {
  for (std::uint64_t unmapped = 0; unmapped < addresses.bytes;) {
    const auto call = take("unmap");
    const std::uint64_t part = call.empty() ? addresses.bytes : std::max(number_in(call[3]), page);
    write(fmt::format("d\tunmap\t{:x}\t{}", addresses.base + unmapped, part));
    unmapped += part;
  }
  free_bytes_ += addresses.bytes;
}

// Whether the allocator may have refused the request of this step itself and then waited for all streams: frees that
// completed by that follow those that were done before, without a call of the driver between them. After the wait, the
// driver is called only once. Small segments and memory of expandable ones are released only after a wait.
bool TorchDevice::may_wait_without_a_call() const {
  if (!has_limit_ || step_->operation.empty() || step_->operation[0] != "A") return false;
  bool is_refused = false, releases = false;
  int refusals = 0;
  for (const std::string_view line : step_->answers) {
    const auto fields = split_at(line, '\t');
    is_refused |= line.starts_with("e\tOOM");
    releases |= line.starts_with("e\tSEGMENT_UNMAP");
    releases |= line.starts_with("e\tSEGMENT_FREE") && (releases_all_ || number_in(fields[3]) == page);
    refusals += line.starts_with("d\tmalloc_oom") || line.starts_with("d\tcreate_oom") ? 1 : 0;
  }
  return is_refused ? refusals <= 1 : refusals == 0 && releases;
}

// Frees that complete now come first in a step, in any order. If the step then waited for all streams, those that
// completed by that follow: a free that is neither done nor a candidate is one of them. Candidates complete now if they
// must: without a wait, or before one that is done.
std::vector<std::uint64_t> TorchDevice::completing_with_recording(const std::vector<std::uint64_t>& done,
                                                                  const std::vector<std::uint64_t>& candidates) {
  const auto contains = [](const std::vector<std::uint64_t>& addresses, std::uint64_t address) {
    return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
  };
  std::vector<std::uint64_t> completing;
  std::size_t before_last_done = 0;
  bool waits = may_wait_without_a_call();
  for (const std::string_view line : step_->answers) {
    if (!line.starts_with(completed)) break;
    const std::uint64_t address = address_in(split_at(line, '\t')[2]);
    if (contains(done, address))
      before_last_done = completing.size();
    else if (contains(candidates, address))
      completing.push_back(address);
    else
      waits = true;
  }
  if (waits) completing.resize(before_last_done);
  early_completions_ += completing.size();
  return completing;
}

// In the order of the trace.
void TorchDevice::sort_completed(std::vector<std::uint64_t>& addresses) {
  std::map<std::uint64_t, std::size_t> places;
  for (const std::string_view line : step_->answers)
    if (line.starts_with(completed)) places.emplace(address_in(split_at(line, '\t')[2]), places.size());
  const auto place_of = [&](std::uint64_t address) {
    const auto found = places.find(address);
    return found == places.end() ? places.size() : found->second;
  };
  std::stable_sort(addresses.begin(), addresses.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return place_of(a) < place_of(b); });
}

}  // namespace hbmscope::allocator
