#include "allocator/emulated/tpu/hbm_runtime.h"

#include <algorithm>

namespace hbmscope::allocator::tpu {

std::optional<std::uint64_t> HbmRuntime::allocate(std::uint64_t bytes) {
  do {
    if (auto address = memory_.allocate(bytes)) return address;
    if (memory_.free_bytes() >= bytes && defragment(bytes))
      if (auto address = memory_.allocate(bytes)) return address;
  } while (unload_one());
  return std::nullopt;
}

bool HbmRuntime::load(ProgramId program, std::uint64_t temp_bytes, std::uint64_t code_bytes) {
  const auto known = std::find_if(loaded_.begin(), loaded_.end(), [&](const Loaded& one) { return one.id == program; });
  if (known != loaded_.end()) {
    std::rotate(known, known + 1, loaded_.end());
    return true;
  }
  const Loaded added{program, temp_bytes, code_bytes};
  do {
    const std::uint64_t wanted = reservation_with(&added);
    const std::uint64_t grows_by = wanted - std::min(wanted, memory_.reserved_bytes());
    if (reserve(wanted) || (memory_.free_bytes() >= grows_by && defragment(grows_by) && reserve(wanted))) {
      loaded_.push_back(added);
      return true;
    }
  } while (unload_one());
  return false;
}

std::uint64_t HbmRuntime::growth_for(ProgramId program, std::uint64_t temp_bytes, std::uint64_t code_bytes) const {
  if (std::any_of(loaded_.begin(), loaded_.end(), [&](const Loaded& one) { return one.id == program; })) return 0;
  const Loaded added{program, temp_bytes, code_bytes};
  return reservation_with(&added) - memory_.reserved_bytes();
}

void HbmRuntime::forget(ProgramId program) {
  const auto known = std::find_if(loaded_.begin(), loaded_.end(), [&](const Loaded& one) { return one.id == program; });
  if (known == loaded_.end()) return;
  loaded_.erase(known);
  reserve(reservation_with(nullptr));
}

std::uint64_t HbmRuntime::loaded_code_bytes() const {
  std::uint64_t sum = 0;
  for (const Loaded& one : loaded_) sum += one.code_bytes;
  return sum;
}

std::uint64_t HbmRuntime::reservation_with(const Loaded* another) const {
  std::uint64_t temp = 0, code = loaded_code_bytes();
  for (const Loaded& one : loaded_) temp = std::max(temp, one.temp_bytes);
  if (another != nullptr) {
    temp = std::max(temp, another->temp_bytes);
    code += another->code_bytes;
  }
  return temp + code;
}

bool HbmRuntime::reserve(std::uint64_t bytes) {
  const std::uint64_t before = memory_.reserved_bytes();
  if (!memory_.reserve(bytes)) return false;
  if (before != bytes && listener_ != nullptr) listener_->on_reservation(before, bytes);
  return true;
}

bool HbmRuntime::defragment(std::uint64_t requested_bytes) {
  if (!defragments_ || (listener_ != nullptr && !listener_->may_move())) return false;
  const std::uint64_t largest_before = memory_.largest_free_bytes();
  const std::vector<Move> moves = memory_.compact();
  if (moves.empty()) return false;
  if (listener_ != nullptr) listener_->on_moves(moves, requested_bytes, largest_before);
  return true;
}

bool HbmRuntime::unload_one() {
  const auto victim = std::find_if(loaded_.begin(), loaded_.end(), [&](const Loaded& one) {
    return running_ != one.id && one.temp_bytes + one.code_bytes > 0;
  });
  if (victim == loaded_.end()) return false;
  const ProgramId id = victim->id;
  loaded_.erase(victim);
  if (listener_ != nullptr) listener_->on_unload(id);
  reserve(reservation_with(nullptr));
  return true;
}

}  // namespace hbmscope::allocator::tpu
