#include "allocator/emulated/tpu/emulation/vmem_player.h"

#include <algorithm>

namespace hbmscope::allocator::tpu {

const Array& VmemPlayer::array_of(const Residence& residence) const {
  return workload_.programs[program_].values[residence.value].array;
}

std::string VmemPlayer::label(const Copying& copying) const {
  return (copying.is_in ? "prefetch " : "evict ") + array_of(*copying.residence).name;
}

// The program's temporaries come first in VMEM.
void VmemPlayer::enter(const Residence& residence) {
  const Array& array = array_of(residence);
  log_.alloc(Tier::vmem, memory().vmem_bytes + residence.offset, array.shard.bytes, array.shard.unpadded_bytes,
             array.name, &array);
}

void VmemPlayer::start(const Residence& residence, bool is_in) {
  const SpaceCopy& copy = is_in ? *residence.in : *residence.out;
  const Copying copying{&residence, is_in, copy, copy.ns};
  log_.copy_begins(label(copying));
  const auto place = std::upper_bound(copying_.begin(), copying_.end(), copy,
                                      [](const SpaceCopy& a, const Copying& b) { return is_served_before(a, b.copy); });
  copying_.insert(place, copying);
}

void VmemPlayer::finish_first() {
  SpaceFigures& figures = out_.spaces[program_];
  const Copying& copying = copying_.front();
  log_.copy_ends(label(copying));
  ++figures.copies;
  figures.copied_bytes += array_of(*copying.residence).shard.bytes;
  copying_.pop_front();
}

void VmemPlayer::begin(std::size_t program, const std::vector<std::uint64_t>& buffers) {
  program_ = program;
  buffers_ = buffers;
  const std::size_t times = workload_.programs[program].operations.size() + 2;
  begins_.assign(times, {});
  ends_.assign(times, {});
  copies_out_.assign(times, {});
  for (const Residence& residence : memory().spaces.residences) {
    begins_[static_cast<std::size_t>(residence.begin + 1)].push_back(&residence);
    ends_[static_cast<std::size_t>(residence.end + 1)].push_back(&residence);
    if (residence.out) copies_out_[static_cast<std::size_t>(residence.out->after + 1)].push_back(&residence);
  }
  std::vector<Kept> kept;
  kept.swap(kept_);
  SpaceFigures& figures = out_.spaces[program];
  std::vector<const Residence*> fetched;
  for (const Residence* residence : begins_[1]) {
    if (!residence->is_from_last_run) continue;
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const Kept& each) {
      return kept_by_ == program && each.value == residence->value && each.buffer == buffers[each.value];
    });
    if (same == kept.end()) {
      fetched.push_back(residence);
      continue;
    }
    kept.erase(same);
    ++figures.kept;
  }
  for (const Kept& each : kept) log_.free(Tier::vmem, each.address, each.bytes);
  for (const Residence* residence : fetched) {
    enter(*residence);
    start(*residence, true);
    ++figures.fetched;
  }
}

// Copies that begin once the previous operation is done.
void VmemPlayer::start_copies(std::size_t operation) {
  for (const Residence* residence : copies_out_[operation]) start(*residence, false);
  for (const Residence* residence : begins_[operation + 1])
    if (residence->in && !residence->is_from_last_run) {
      enter(*residence);
      start(*residence, true);
    }
}

void VmemPlayer::wait_for(std::int64_t operation) {
  const auto last = std::find_if(copying_.rbegin(), copying_.rend(),
                                 [&](const Copying& each) { return each.copy.before <= operation; });
  if (last == copying_.rend()) return;
  auto count = copying_.rend() - last;
  const std::string name = "stall: " + label(*last);
  SpaceFigures& figures = out_.spaces[program_];
  const std::uint64_t begun = log_.now_ns();
  log_.copy_begins(name);
  for (; count > 0; --count) {
    log_.pass(copying_.front().left_ns);
    finish_first();
  }
  log_.copy_ends(name);
  ++figures.stalls;
  figures.stall_ns += log_.now_ns() - begun;
}

void VmemPlayer::before(std::size_t operation) {
  wait_for(static_cast<std::int64_t>(operation));
}

void VmemPlayer::begin_operation(std::size_t operation) {
  for (const Residence* residence : begins_[operation + 1])
    if (!residence->in) enter(*residence);
  start_copies(operation);
}

void VmemPlayer::pass(std::uint64_t ns, std::uint64_t hbm_ns) {
  const std::uint64_t begun = log_.now_ns(), free_ns = ns - std::min(ns, hbm_ns);
  std::uint64_t served = 0;
  while (!copying_.empty() && served < free_ns) {
    Copying& first = copying_.front();
    const std::uint64_t part = std::min(first.left_ns, free_ns - served);
    served += part;
    first.left_ns -= part;
    if (first.left_ns > 0) break;
    // HBM's idle time is spread evenly over the operation.
    const double share = static_cast<double>(served) / static_cast<double>(free_ns);
    log_.set_now(begun + static_cast<std::uint64_t>(share * static_cast<double>(ns)));
    finish_first();
  }
  log_.set_now(begun + ns);
}

void VmemPlayer::copy_for(std::uint64_t ns) {
  while (!copying_.empty() && ns > 0) {
    Copying& first = copying_.front();
    const std::uint64_t part = std::min(first.left_ns, ns);
    ns -= part;
    first.left_ns -= part;
    if (first.left_ns == 0) finish_first();
  }
}

void VmemPlayer::after(std::size_t operation) {
  for (const Residence* residence : ends_[operation + 1])
    log_.free(Tier::vmem, memory().vmem_bytes + residence->offset, array_of(*residence).shard.bytes);
}

void VmemPlayer::end() {
  const std::size_t operations = workload_.programs[program_].operations.size();
  start_copies(operations);
  wait_for(static_cast<std::int64_t>(operations));
  kept_by_ = program_;
  for (const Residence* residence : ends_.back()) {
    const std::uint64_t address = memory().vmem_bytes + residence->offset, bytes = array_of(*residence).shard.bytes;
    if (residence->is_for_next_run)
      kept_.push_back({residence->value, buffers_[residence->value], address, bytes});
    else
      log_.free(Tier::vmem, address, bytes);  // An output whose copy to HBM ended last.
  }
}

}  // namespace hbmscope::allocator::tpu
