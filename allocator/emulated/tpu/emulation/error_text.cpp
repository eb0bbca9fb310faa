#include "allocator/emulated/tpu/emulation/error_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
constexpr std::size_t listed_most = 20;
constexpr std::uint64_t tile_spmem = 201;  // The number of its memory space in the error texts.

std::string share(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.1f}%", whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

struct Entry {
  std::uint64_t bytes = 0, unpadded = 0;
  std::string shape, label, type;
};

std::string text_of(const Entry& entry, std::size_t number) {
  std::string text = fmt::format("  {}. Size: {}\n", number, printed_bytes(entry.bytes));
  if (!entry.shape.empty()) {
    text += fmt::format("     Shape: {}\n     Unpadded size: {}\n", entry.shape, printed_bytes(entry.unpadded));
    if (entry.bytes > entry.unpadded && entry.unpadded > 0)
      text += fmt::format("     Extra memory due to padding: {} ({:.1f}x expansion)\n",
                          printed_bytes(entry.bytes - entry.unpadded),
                          static_cast<double>(entry.bytes) / static_cast<double>(entry.unpadded));
  }
  return text + fmt::format("     XLA label: {}\n     Allocation type: {}\n     {}\n\n", entry.label, entry.type,
                            "==========================");
}

std::string list_text(std::vector<Entry> entries, std::string_view space) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.bytes > b.bytes; });
  std::string text = fmt::format("  Largest program allocations in {}:\n\n", space);
  for (std::size_t i = 0; i < std::min(entries.size(), listed_most); ++i) text += text_of(entries[i], i + 1);
  return text;
}

// The values that are live at the peak.
std::vector<Entry> temporaries_at_peak(const Program& program, const ProgramMemory& memory, Place place) {
  std::size_t peak = 0;
  std::uint64_t most = 0;
  const auto is_live = [&](const PlacedValue& placed, std::size_t at) {
    return program.values[placed.value].array.spec.place == place && placed.begin <= at && at <= placed.end;
  };
  for (std::size_t at = 0; at < program.operations.size(); ++at) {
    std::uint64_t live = 0;
    for (const PlacedValue& placed : memory.placed)
      if (is_live(placed, at)) live += placed.bytes;
    if (live > most) {
      most = live;
      peak = at;
    }
  }
  std::vector<Entry> entries;
  for (const PlacedValue& placed : memory.placed) {
    if (!is_live(placed, peak)) continue;
    const Array& array = program.values[placed.value].array;
    entries.push_back({placed.bytes, array.shard.unpadded_bytes, text_from_shape(array.shard.shape),
                       fmt::format("{} = {}", array.name, program.operations[placed.begin].name),
                       place == Place::hbm ? "HLO temp" : "scoped"});
  }
  return entries;
}

}  // namespace

std::string compile_oom_text(const Program& program, const ProgramMemory& memory, const Generation& generation) {
  const std::uint64_t limit = generation.hbm_usable.value, needed = memory.needed_without_code_bytes();
  constexpr std::string_view begin = "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom:";
  if (needed > limit)
    return fmt::format(
        "{} Ran out of memory on HBM, the total memory required for HLO temporaries ({}) exceeds available HBM ({}). "
        "HLO module: jit_{}.\n",
        begin, printed_bytes(needed), printed_bytes(limit), program.name);
  const std::uint64_t code = memory.code_bytes.value_or(0), requirement = memory.temp_bytes + code;
  const std::uint64_t reserved = generation.hbm_total.value - limit;
  std::string text = fmt::format(
      "{} XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used {} of {} hbm. Exceeded hbm "
      "capacity by {}.\n\nTotal hbm usage >= {}:\n    reserved      {:>9} \n    program       {:>9} \n    arguments    "
      " "
      "{:>9} \n\nOutput size {}; shares {} with arguments.\n\nProgram hbm requirement {}:\n",
      begin, printed_bytes(memory.needed_bytes()), printed_bytes(limit), printed_bytes(memory.needed_bytes() - limit),
      printed_bytes(reserved + requirement + memory.argument_bytes), printed_bytes(reserved),
      printed_bytes(requirement), printed_bytes(memory.argument_bytes), printed_bytes(memory.output_bytes),
      printed_bytes(memory.alias_bytes), printed_bytes(requirement));
  const std::uint64_t fragmented = memory.temp_bytes - memory.temp_peak_bytes;
  text +=
      fmt::format("    HLO temp      {:>9} ({} utilization: Unpadded ({}) Padded ({}), {} fragmentation ({}))\n",
                  printed_bytes(memory.temp_bytes), share(memory.temp_unpadded_bytes, memory.temp_peak_bytes),
                  printed_bytes(memory.temp_unpadded_bytes), printed_bytes(memory.temp_peak_bytes),
                  memory.temp_bytes == 0 ? "0.0%" : share(fragmented, memory.temp_bytes), printed_bytes(fragmented));
  text += fmt::format("    overlays      {:>9}\n\n", printed_bytes(code));
  std::vector<Entry> entries = temporaries_at_peak(program, memory, Place::hbm);
  entries.push_back({code, code, {}, "overlays", "overlays"});
  return text + list_text(std::move(entries), "hbm");
}

std::string on_chip_oom_text(const Program& program, const ProgramMemory& memory, Place place, std::uint64_t bytes,
                             std::uint64_t limit_bytes) {
  const std::string_view space = place == Place::cmem ? "cmem" : "vmem";
  std::string text = fmt::format(
      "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space {0}. Used {1} of {2} "
      "{0}. "
      "Exceeded {0} capacity by {3}.\n\nProgram {0} requirement {1}:\n    scoped        {1:>9}\n\n",
      space, printed_bytes(bytes), printed_bytes(limit_bytes), printed_bytes(bytes - limit_bytes));
  return text + list_text(temporaries_at_peak(program, memory, place), space);
}

std::string scoped_vmem_text(std::string_view kernel, const Shape& output, std::uint64_t bytes, std::uint64_t limit) {
  return fmt::format(
      "RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom:\nRan out of memory in memory space vmem while allocating "
      "on stack for %{}.1 = {} custom-call(), custom_call_target=\"tpu_custom_call\". Scoped allocation with size {} "
      "and limit {} exceeded scoped vmem limit by {}.\n",
      kernel, text_from_shape(output), printed_bytes(bytes), printed_bytes(limit), printed_bytes(bytes - limit));
}

std::string allocation_text(std::string_view kernel, const Shape& shape, std::string_view space, std::uint64_t bytes,
                            std::uint64_t limit, std::string_view tag) {
  return fmt::format(
      "RESOURCE_EXHAUSTED: Allocation (size={}) would exceed memory (size={}) :: #allocation0 [shape = '{}', space={}, "
      "size = {:#x}, scoped, tag = '{}'] :: {}.1\n",
      bytes, limit, text_from_shape(shape), space, bytes, tag, kernel);
}

std::string buffer_text(std::uint64_t bytes, const HbmMemory& memory) {
  return fmt::format("RESOURCE_EXHAUSTED: {}\n", no_room_for_buffer_text(0, bytes, memory));
}

std::string load_text(std::string_view program, std::uint64_t bytes, const HbmMemory& memory) {
  return fmt::format("RESOURCE_EXHAUSTED: {}\n",
                     no_room_for_program_text(fmt::format("jit_{}", program), bytes, memory));
}

std::string cores_text(std::uint64_t tensor_bytes, std::uint64_t sparse_bytes, std::uint64_t available_bytes) {
  return fmt::format(
      "RESOURCE_EXHAUSTED: TPU TensorCore Hbm usage: {}, SparseCore Hbm usage {}, exceeding available bytes: {}\n",
      printed_bytes(tensor_bytes), printed_bytes(sparse_bytes), printed_bytes(available_bytes));
}

std::string sparse_core_text(std::uint64_t end_words, std::uint64_t limit_words, std::uint64_t requested_words) {
  return fmt::format(
      "RESOURCE_EXHAUSTED: E3000: 'memref.alloca' op current allocation offset upper bound ({} words) exceeds the "
      "legitimate user allocatable offset upper bound ({} words) in memory space {} when allocating {} words\n",
      end_words, limit_words, tile_spmem, requested_words);
}

}  // namespace hbmscope::allocator::tpu
