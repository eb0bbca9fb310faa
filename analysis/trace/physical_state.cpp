#include "analysis/trace/physical_state.h"

#include <algorithm>
#include <utility>

#include "analysis/heap/address_space.h"
#include "collector/wire/varint.h"

namespace hbmscope {
namespace {

using wire::RecordKind;

constexpr std::uint64_t PhysicalProblems::*all_problems[] = {
    &PhysicalProblems::unknown_releases, &PhysicalProblems::missed_releases,  &PhysicalProblems::unknown_handles,
    &PhysicalProblems::beyond_handle,    &PhysicalProblems::missed_unmaps,    &PhysicalProblems::unknown_unmaps,
    &PhysicalProblems::partial_unmaps,   &PhysicalProblems::bad_reservations, &PhysicalProblems::impossible_sizes,
    &PhysicalProblems::undefined_heaps};
constexpr auto ignore_cut = [](const auto&, std::uint32_t) {};
static_assert(sizeof(PhysicalProblems) == sizeof(std::uint64_t) * std::size(all_problems));

}  // namespace

PhysicalProblems& PhysicalProblems::operator+=(const PhysicalProblems& more) {
  for (const auto problem : all_problems) this->*problem += more.*problem;
  return *this;
}

void PhysicalState::apply(RecordKind kind, const wire::DecodedBlock& block, std::size_t row, std::uint64_t event,
                          std::size_t heap_count) {
  switch (kind) {
    case RecordKind::physical_create:
      return add_handle(block.rows<wire::PhysicalCreateRecord>()[row], event, heap_count, false);
    case RecordKind::physical_import:
      return add_handle(block.rows<wire::PhysicalImportRecord>()[row], event, heap_count, true);
    case RecordKind::physical_release: return release(block.rows<wire::PhysicalReleaseRecord>()[row].handle);
    case RecordKind::physical_export: return export_handle(block.rows<wire::PhysicalExportRecord>()[row].handle);
    case RecordKind::map: return map(block.rows<wire::MapRecord>()[row], heap_count);
    case RecordKind::unmap: return unmap(block.rows<wire::UnmapRecord>()[row], heap_count);
    case RecordKind::reserve: return reserve(block.rows<wire::ReserveRecord>()[row], heap_count);
    case RecordKind::unreserve: return unreserve(block.rows<wire::UnreserveRecord>()[row], heap_count);
    default: return;
  }
}

void PhysicalState::restore(RecordKind kind, const wire::DecodedBlock& block, std::size_t row, std::size_t heap_count) {
  const PhysicalProblems before = problems_;
  switch (kind) {
    case RecordKind::handle_live: restore_handle(block.rows<wire::HandleLiveRecord>()[row], heap_count); break;
    case RecordKind::mapping_live: restore_mapping(block.rows<wire::MappingLiveRecord>()[row], heap_count); break;
    case RecordKind::reserve_live: {
      const auto& record = block.rows<wire::ReserveLiveRecord>()[row];
      wire::ReserveRecord reservation;
      reservation.address = record.address;
      reservation.size = record.size;
      reservation.heap = record.heap;
      reserve(reservation, heap_count);
      break;
    }
    default: break;
  }
  problems_ = before;
}

void PhysicalState::clear() {
  const PhysicalProblems problems = problems_;
  *this = {};
  problems_ = problems;
}

PhysicalBytes& PhysicalState::sums(std::uint32_t heap) {
  if (heap >= heaps_.size()) heaps_.resize(heap + std::size_t{1});
  return heaps_[heap];
}

bool PhysicalState::is_defined(std::uint32_t heap, std::size_t heap_count) {
  if (heap != 0 && heap < heap_count) return true;
  ++problems_.undefined_heaps;
  return false;
}

bool PhysicalState::is_possible(std::uint64_t address, std::uint64_t size, std::uint64_t PhysicalBytes::*sum) {
  if (size != 0 && size <= AddressSpace::bytes_max - total_.*sum && address + size > address) return true;
  ++problems_.impossible_sizes;
  return false;
}

void PhysicalState::count(const PhysicalHandle& handle, bool is_added) {
  if (!handle.is_live()) return;
  for (PhysicalBytes* sum : {&sums(handle.heap), &total_}) {
    const auto add = [&](std::uint64_t& bytes, std::uint64_t value) { bytes += is_added ? value : 0 - value; };
    add(sum->handles, 1);
    add(handle.is_imported ? sum->imported_bytes : sum->owned_bytes, handle.size);
    if (handle.is_imported) continue;
    if (handle.mappings == 0) add(sum->unmapped_bytes, handle.size);
    if (handle.is_exported) add(sum->exported_bytes, handle.size);
  }
}

template <class Change>
void PhysicalState::change(std::uint32_t index, const Change& change) {
  PhysicalHandle& handle = handles_[index];
  count(handle, false);
  change(handle);
  count(handle, true);
  if (handle.is_live()) return;
  empty_places_.push_back(index);
  changed_.push_back(handle.heap);
  ended_.push_back(handle);
}

std::uint32_t PhysicalState::new_handle(const PhysicalHandle& handle) {
  std::uint32_t index = static_cast<std::uint32_t>(handles_.size());
  if (empty_places_.empty()) {
    handles_.push_back(handle);
  } else {
    index = empty_places_.back();
    empty_places_.pop_back();
    handles_[index] = handle;
  }
  count(handle, true);
  note_handle_of_heap(index);
  changed_.push_back(handle.heap);
  return index;
}

// Keeps at most about twice as many places as live handles, so that dropping a heap walks only its own handles.
void PhysicalState::note_handle_of_heap(std::uint32_t index) {
  const std::uint32_t heap = handles_[index].heap;
  if (heap >= handles_of_heap_.size()) handles_of_heap_.resize(heap + std::size_t{1});
  std::vector<std::uint32_t>& places = handles_of_heap_[heap];
  places.push_back(index);
  if (places.size() < 16 + 2 * sums(heap).handles) return;
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::erase_if(places,
                [&](std::uint32_t place) { return handles_[place].heap != heap || !handles_[place].is_live(); });
}

template <class Record>
void PhysicalState::add_handle(const Record& record, std::uint64_t event, std::size_t heap_count, bool is_imported) {
  if (!is_defined(record.heap, heap_count)) return;
  const auto sum = is_imported ? &PhysicalBytes::imported_bytes : &PhysicalBytes::owned_bytes;
  if (!is_possible(0, record.size, sum)) return;
  if (const auto found = handle_of_number_.find(record.handle); found != handle_of_number_.end()) {
    // Imported again, or exported by this process earlier: the same memory, with one more release to come.
    if (is_imported && handles_[found->second].references < 0xffffffff) {
      ++handles_[found->second].references;
      return;
    }
    ++problems_.missed_releases;
    change(found->second, [](PhysicalHandle& handle) { handle.references = 0; });
    handle_of_number_.erase(found);
  }
  PhysicalHandle handle;
  handle.event = event;
  handle.number = record.handle;
  handle.size = record.size;
  handle.heap = record.heap;
  handle.stack = record.stack;
  handle.references = 1;
  handle.is_imported = is_imported;
  handle_of_number_[record.handle] = new_handle(handle);
}

void PhysicalState::release(std::uint64_t number) {
  const auto found = handle_of_number_.find(number);
  if (found == handle_of_number_.end()) {
    ++problems_.unknown_releases;
    return;
  }
  const std::uint32_t index = found->second;
  if (handles_[index].references == 1) handle_of_number_.erase(found);
  change(index, [](PhysicalHandle& handle) { --handle.references; });
}

void PhysicalState::export_handle(std::uint64_t number) {
  const auto found = handle_of_number_.find(number);
  if (found == handle_of_number_.end())
    ++problems_.unknown_releases;
  else
    change(found->second, [](PhysicalHandle& handle) { handle.is_exported = true; });
}

void PhysicalState::map(const wire::MapRecord& record, std::size_t heap_count) {
  if (!is_defined(record.heap, heap_count)) return;
  if (!is_possible(record.address, record.size, &PhysicalBytes::mapped_bytes)) return;
  const AddressRange range{record.address, record.address + record.size};
  if (cut_mappings(record.heap, range, false) != record.size) ++problems_.missed_unmaps;
  Mapping mapping{no_handle, record.offset};
  if (const auto found = handle_of_number_.find(record.handle); found != handle_of_number_.end())
    mapping.handle = found->second;
  add_mapping(record.heap, range, mapping);
}

void PhysicalState::add_mapping(std::uint32_t heap, AddressRange range, const Mapping& mapping) {
  if (mapping.handle != no_handle) {
    const std::uint64_t size = handles_[mapping.handle].size;
    if (mapping.offset > size || range.size() > size - mapping.offset) ++problems_.beyond_handle;
    change(mapping.handle, [](PhysicalHandle& handle) { ++handle.mappings; });
  } else {
    ++problems_.unknown_handles;
  }
  mappings_.add(heap, range, mapping);
  sums(heap).mapped_bytes += range.size();
  total_.mapped_bytes += range.size();
}

void PhysicalState::restore_handle(const wire::HandleLiveRecord& record, std::size_t heap_count) {
  const bool is_imported = (record.flags & wire::handle_flag::is_imported) != 0;
  if (!is_defined(record.heap, heap_count)) return;
  if (!is_possible(0, record.size, is_imported ? &PhysicalBytes::imported_bytes : &PhysicalBytes::owned_bytes)) return;
  if (restored_.contains(record.event) || (record.references > 0 && handle_of_number_.contains(record.handle))) return;
  PhysicalHandle handle;
  handle.event = record.event;
  handle.number = record.handle;
  handle.size = record.size;
  handle.heap = record.heap;
  handle.stack = record.stack;
  handle.references = record.references;
  handle.is_imported = is_imported;
  handle.is_exported = (record.flags & wire::handle_flag::is_exported) != 0;
  // A handle that only its mappings keep is counted when they are restored.
  const std::uint32_t index = restored_[record.event] = new_handle(handle);
  if (record.references > 0) handle_of_number_[record.handle] = index;
}

void PhysicalState::restore_mapping(const wire::MappingLiveRecord& record, std::size_t heap_count) {
  if (!is_defined(record.heap, heap_count)) return;
  if (!is_possible(record.address, record.size, &PhysicalBytes::mapped_bytes)) return;
  const AddressRange range{record.address, record.address + record.size};
  if (cut_mappings(record.heap, range, false) != record.size) ++problems_.missed_unmaps;
  Mapping mapping{no_handle, record.offset};
  if (const auto found = restored_.find(record.event); found != restored_.end()) mapping.handle = found->second;
  add_mapping(record.heap, range, mapping);
}

std::uint64_t PhysicalState::cut_mappings(std::uint32_t heap, AddressRange range, bool is_unmap) {
  const std::uint64_t bytes = mappings_.cut(heap, range, [&](const Mapping& mapping, std::uint32_t ends) {
    if (ends > 0 && is_unmap) ++problems_.partial_unmaps;
    if (mapping.handle == no_handle) return;
    // One end replaces the mapping; two ends make one more mapping.
    change(mapping.handle, [&](PhysicalHandle& handle) { handle.mappings += ends - 1; });
  });
  sums(heap).mapped_bytes -= bytes;
  total_.mapped_bytes -= bytes;
  return range.size() - bytes;
}

void PhysicalState::unmap(const wire::UnmapRecord& record, std::size_t heap_count) {
  if (!is_defined(record.heap, heap_count)) return;
  const AddressRange range{record.address, record.address + record.size};
  if (range.empty()) {
    ++problems_.impossible_sizes;
    return;
  }
  if (cut_mappings(record.heap, range, true) > 0) ++problems_.unknown_unmaps;
}

void PhysicalState::reserve(const wire::ReserveRecord& record, std::size_t heap_count) {
  if (!is_defined(record.heap, heap_count)) return;
  if (!is_possible(record.address, record.size, &PhysicalBytes::reserved_bytes)) return;
  const AddressRange range{record.address, record.address + record.size};
  const std::uint64_t before = reservations_.cut(record.heap, range, ignore_cut);
  if (before > 0) ++problems_.bad_reservations;
  reservations_.add(record.heap, range, {});
  sums(record.heap).reserved_bytes += record.size - before;
  total_.reserved_bytes += record.size - before;
}

void PhysicalState::unreserve(const wire::UnreserveRecord& record, std::size_t heap_count) {
  if (!is_defined(record.heap, heap_count)) return;
  const AddressRange range{record.address, record.address + record.size};
  if (range.empty()) {
    ++problems_.impossible_sizes;
    return;
  }
  const std::uint64_t bytes = reservations_.cut(record.heap, range, ignore_cut);
  if (bytes != record.size) ++problems_.bad_reservations;
  sums(record.heap).reserved_bytes -= bytes;
  total_.reserved_bytes -= bytes;
}

void PhysicalState::drop_heap(std::uint32_t heap) {
  if (heap >= heaps_.size()) return;
  constexpr AddressRange everything{0, ~std::uint64_t{0}};
  cut_mappings(heap, everything, false);
  const std::uint64_t reserved = reservations_.cut(heap, everything, ignore_cut);
  heaps_[heap].reserved_bytes -= reserved;
  total_.reserved_bytes -= reserved;
  if (heap < handles_of_heap_.size()) {
    for (const std::uint32_t index : std::exchange(handles_of_heap_[heap], {})) {
      PhysicalHandle& handle = handles_[index];
      if (handle.heap != heap || handle.references == 0) continue;
      handle_of_number_.erase(handle.number);
      // A handle that another heap's addresses still map stays live, as in the driver.
      change(index, [](PhysicalHandle& changed) { changed.references = 0; });
    }
  }
  heaps_[heap].is_inexact = false;
}

void PhysicalState::note_loss(std::uint32_t heap, std::size_t heap_count) {
  if (heap >= heap_count) return;
  for (std::uint32_t id = heap == 0 ? 1 : heap; id < (heap == 0 ? heap_count : heap + std::size_t{1}); ++id)
    sums(id).is_inexact = true;
}

std::vector<std::uint8_t> PhysicalState::pack() const {
  std::vector<std::uint8_t> bytes;
  if (heaps_.empty() && problems_ == PhysicalProblems{}) return bytes;
  const auto put = [&](std::uint64_t value) {
    std::uint8_t number[wire::varint_bytes_max];
    bytes.insert(bytes.end(), number, wire::write_varint(number, value));
  };
  for (const auto problem : all_problems) put(problems_.*problem);
  put(heaps_.size());
  for (const PhysicalBytes& heap : heaps_) put(heap.is_inexact ? 1 : 0);
  std::vector<std::uint32_t> place(handles_.size(), no_handle);
  std::uint32_t live = 0;
  for (std::uint32_t index = 0; index < handles_.size(); ++index)
    if (handles_[index].is_live()) place[index] = live++;
  put(live);
  std::uint64_t event = 0, handle_number = 0;
  for (const PhysicalHandle& handle : handles_) {
    if (!handle.is_live()) continue;
    put(wire::zigzag(handle.event - event));
    put(wire::zigzag(handle.number - handle_number));
    put(handle.size);
    put(handle.heap);
    put(handle.stack);
    put(handle.references);
    put((handle.is_imported ? 1U : 0U) | (handle.is_exported ? 2U : 0U));
    event = handle.event;
    handle_number = handle.number;
  }
  std::uint64_t end = 0;
  put(mappings_.size());
  mappings_.for_each([&](std::uint32_t heap, AddressRange range, const Mapping& mapping) {
    put(heap);
    put(wire::zigzag(range.begin - end));
    put(range.size());
    put(mapping.handle == no_handle ? 0 : place[mapping.handle] + std::uint64_t{1});
    put(mapping.offset);
    end = range.end;
  });
  end = 0;
  put(reservations_.size());
  reservations_.for_each([&](std::uint32_t heap, AddressRange range, const Reservation&) {
    put(heap);
    put(wire::zigzag(range.begin - end));
    put(range.size());
    end = range.end;
  });
  return bytes;
}

PhysicalState PhysicalState::unpack(std::span<const std::uint8_t> bytes) {
  PhysicalState state;
  if (bytes.empty()) return state;
  wire::VarintReader reader(bytes.data(), bytes.data() + bytes.size());
  const auto get_small = [&] { return static_cast<std::uint32_t>(reader.read()); };
  for (const auto problem : all_problems) state.problems_.*problem = reader.read();
  state.heaps_.resize(reader.read());
  for (PhysicalBytes& heap : state.heaps_) heap.is_inexact = reader.read() != 0;
  std::uint64_t event = 0, number = 0;
  state.handles_.resize(reader.read());
  for (PhysicalHandle& handle : state.handles_) {
    handle.event = event += wire::unzigzag(reader.read());
    handle.number = number += wire::unzigzag(reader.read());
    handle.size = reader.read();
    handle.heap = get_small();
    handle.stack = get_small();
    handle.references = get_small();
    const std::uint32_t flags = get_small();
    handle.is_imported = (flags & 1) != 0;
    handle.is_exported = (flags & 2) != 0;
    if (handle.references > 0)
      state.handle_of_number_[handle.number] = static_cast<std::uint32_t>(&handle - state.handles_.data());
  }
  std::uint64_t end = 0;
  const auto get_range = [&] {
    const std::uint64_t begin = end + wire::unzigzag(reader.read());
    return AddressRange{begin, end = begin + reader.read()};
  };
  for (std::uint64_t left = reader.read(); left > 0; --left) {
    const std::uint32_t heap = get_small();
    const AddressRange range = get_range();
    Mapping mapping{get_small() - 1, 0};  // 0 becomes no_handle.
    mapping.offset = reader.read();
    if (mapping.handle != no_handle) ++state.handles_[mapping.handle].mappings;
    state.mappings_.add(heap, range, mapping);
    state.sums(heap).mapped_bytes += range.size();
    state.total_.mapped_bytes += range.size();
  }
  end = 0;
  for (std::uint64_t left = reader.read(); left > 0; --left) {
    const std::uint32_t heap = get_small();
    const AddressRange range = get_range();
    state.reservations_.add(heap, range, {});
    state.sums(heap).reserved_bytes += range.size();
    state.total_.reserved_bytes += range.size();
  }
  for (std::uint32_t index = 0; index < state.handles_.size(); ++index) {
    state.count(state.handles_[index], true);
    state.note_handle_of_heap(index);
  }
  return state;
}

}  // namespace hbmscope
