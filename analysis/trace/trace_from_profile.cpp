#include "analysis/trace/trace_from_profile.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "analysis/trace/trace_writer.h"

namespace hbmscope {
namespace {

// "cuda:0", "TPU_3(process=0,(0,0,0,0))": the number that ends the name.
std::uint32_t device_of(std::string_view name) {
  constexpr std::string_view digits = "0123456789";
  name = name.substr(0, name.find('('));
  name.remove_prefix(std::min(name.size(), name.find_last_not_of(digits) + 1));
  std::uint32_t device = wire::no_device;
  std::from_chars(name.data(), name.data() + name.size(), device);
  return device;
}

class ProfileWriter {
 public:
  explicit ProfileWriter(const Profile& profile)
      : profile_(profile),
        out_({profile.files.empty() ? std::string() : profile.files.front(), "pprof", "JAX device memory profile",
              "jax", profile.file_bytes}) {}

  Trace write() {
    out_.note_realtime(0, profile_.time_ns);
    const auto counts = find_value_type(profile_, "allocations"), bytes = find_value_type(profile_, "space");
    out_.trace().import = profile_.import;
    for (std::size_t i = 0; i < profile_.sample_count(); ++i)
      if (find_label_text(profile_, profile_.label_set[i], "kind") == "executable")
        programs_ += std::max<std::int64_t>(profile_.values[*counts][i], 0);
      else if (const std::int64_t count = profile_.values[*counts][i]; count > 0)
        add_blocks(i, count, profile_.values[*bytes][i]);
    ImportStatistics& import = out_.trace().import;
    if (programs_ > 0)
      import.add("compiled_programs", Severity::info, programs_,
                 "Compiled programs are not in a pool; the profile alone has their sizes.");
    if (without_size_ > 0)
      import.add("arrays_without_size", Severity::notice, without_size_, "Arrays without a size are left out.");
    if (together_ > 0)
      import.add(
          "arrays_together", Severity::notice, together_,
          "The profile lists more arrays than are shown one by one; the others of the same code and size are one "
          "block.");
    out_.close();
    return std::move(out_.trace());
  }

 private:
  static constexpr std::int64_t blocks_max = 1 << 20;  // A damaged file may contain any count.

  void add_blocks(std::size_t sample, std::int64_t count, std::int64_t bytes) {
    if (bytes < count) {
      without_size_ += count;
      return;
    }
    wire::AllocRecord block;
    block.heap = heap_of(profile_.label_set[sample]);
    block.stack = stack_of(profile_.stack(sample));
    const auto size = static_cast<std::uint64_t>(bytes / count);
    const std::int64_t single = std::min(count - 1, std::max<std::int64_t>(0, blocks_max - blocks_));
    for (std::int64_t i = 0; i < single; ++i) add_block(block, size);
    // The last one also has what does not divide; none in the files of JAX.
    add_block(block, static_cast<std::uint64_t>(bytes) - static_cast<std::uint64_t>(single) * size);
    together_ += count - single - 1;
  }

  void add_block(wire::AllocRecord block, std::uint64_t size) {
    block.size = block.requested = size;
    block.address = next_address_;
    next_address_ += size;
    out_.events().alloc(block, 0);
    ++blocks_;
  }

  std::uint32_t heap_of(LabelSetIndex labels) {
    const auto [found, is_new] = heaps_.try_emplace(row(labels), 0);
    if (!is_new) return found->second;
    const std::string device = find_label_text(profile_, labels, "device").value_or("");
    wire::HeapRecord heap;
    heap.device = device_of(device);
    heap.layer = static_cast<std::uint8_t>(wire::Layer::framework);
    heap.flags = wire::heap_flag::has_requested | wire::heap_flag::sizes_are_requests;
    const std::string name = device.empty() ? "arrays" : "arrays on " + device;
    const std::string_view kind = device.find("CPU") != std::string::npos ? "cpu" : "device";
    auto& named = by_name_[name];
    if (named == 0) named = out_.events().define_heap(heap, name, kind);
    return found->second = named;
  }

  std::uint32_t stack_of(std::span<const LocationIndex> locations) {
    std::uint32_t stack = 0;
    for (auto location = locations.rbegin(); location != locations.rend(); ++location) {
      const auto lines = profile_.location_lines(*location);
      for (auto line = lines.rbegin(); line != lines.rend(); ++line)
        if (line->function != FunctionIndex::none) stack = out_.events().define_stack(stack, frame_of(*line));
    }
    return stack;
  }

  std::uint32_t frame_of(const Line& line) {
    const Function& function = profile_.functions[row(line.function)];
    return out_.events().define_frame(profile_.text(function.name), profile_.text(function.file),
                                      static_cast<std::uint32_t>(std::max<std::int64_t>(line.line, 0)));
  }

  const Profile& profile_;
  TraceWriter out_;
  std::map<std::size_t, std::uint32_t> heaps_;  // By label set.
  std::map<std::string, std::uint32_t> by_name_;
  std::uint64_t next_address_ = 0;  // Invented: the heaps have none.
  std::int64_t blocks_ = 0, together_ = 0, without_size_ = 0, programs_ = 0;
};

}  // namespace

std::optional<Trace> trace_from_profile(const Profile& profile) {
  if (!is_device_memory_profile(profile)) return std::nullopt;
  return ProfileWriter(profile).write();
}

}  // namespace hbmscope
