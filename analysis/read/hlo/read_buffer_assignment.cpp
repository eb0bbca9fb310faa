#include "analysis/read/hlo/read_buffer_assignment.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analysis/read/hlo/text_values.h"

namespace hbmscope::hlo {
namespace {

constexpr std::string_view assignment_head = "BufferAssignment:", phi = " (phi)";  // phi: a value that a loop carries.

// "allocation 18: size 34340864, color 1, page 0, preallocated-temp:"
std::optional<Allocation> read_allocation(std::string_view line) {
  const auto index = number_after(line, "allocation ");
  auto size = number_after(line, ": size ");
  if (!size) size = number_after(line.substr(0, line.find('|')), ", size ");  // "allocation 0: 0x55d3a8b0, size 4096".
  if (!index || !size) return std::nullopt;
  Allocation allocation;
  allocation.index = *index;
  allocation.size = *size;
  // Shapes are between bars and may contain anything.
  const std::string_view flags =
      line.substr(std::min(line.find(','), line.size()));  // If the line is cut off, there are none.
  allocation.color = number_after(flags, ", color ").value_or(0);
  allocation.parameter = number_after(flags, ", parameter ");
  allocation.is_parameter = allocation.parameter.has_value();
  allocation.is_constant = flags.find(", constant") != std::string_view::npos;
  allocation.is_thread_local = flags.find(", thread-local") != std::string_view::npos;
  allocation.maybe_live_out = flags.find(", maybe-live-out") != std::string_view::npos;
  return allocation;
}

// " value: <110 copy-start.1{0} @1> (size=16777216,offset=16777216): bf16[...]{...}"
bool read_value(std::string_view line, Allocation& allocation, Program& program) {
  const std::size_t begin = line.find('<'), end = line.find("> (");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return false;
  const std::string_view inside = line.substr(begin + 1, end - begin - 1), figures = line.substr(end);
  const auto size = number_after(figures, "(size="), offset = number_after(figures, "offset=");
  const std::size_t space = inside.find(' '), at = inside.rfind(" @");
  if (!size || !offset || space == std::string_view::npos || at == std::string_view::npos || at <= space) return false;
  LogicalBuffer buffer;
  buffer.id = number_after(inside, "").value_or(0);
  buffer.size = *size;
  buffer.color = allocation.color;
  std::string_view name = inside.substr(space + 1, at - space - 1);
  if (name.ends_with(phi)) name.remove_suffix(phi.size());
  const std::size_t brace = name.find('{');
  buffer.instruction = name.substr(0, brace);
  if (brace != std::string_view::npos) buffer.index = name.substr(brace);
  const std::size_t shape = figures.find("): ");
  if (shape != std::string_view::npos) buffer.shape = figures.substr(shape + 3);
  buffer.is_tuple = buffer.shape.starts_with('(');
  buffer.position = program.buffers.size();
  program.is_tpu = program.is_tpu || buffer.shape.find(":T(") != std::string_view::npos;
  allocation.assigned.push_back({program.buffers.size(), *offset, *size});
  program.buffers.push_back(std::move(buffer));
  return true;
}

}  // namespace

bool looks_like_buffer_assignment(std::span<const std::uint8_t> bytes) {
  return text_view(bytes).starts_with(assignment_head);
}

Result<Program> read_buffer_assignment(std::span<const std::uint8_t> bytes, const std::string& name) {
  const std::string_view text = text_view(bytes);
  Program program;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("allocation ")) {
      auto allocation = read_allocation(line);
      if (!allocation)
        return Failure(Error{"an allocation has no size", "Is this XLA's buffer-assignment.txt?", name, begin, false});
      program.allocations.push_back(std::move(*allocation));
    } else if (line.starts_with(" value: ") && !program.allocations.empty()) {
      if (!read_value(line, program.allocations.back(), program)) ++program.unknown_buffers;
    } else if (line.empty() && !program.allocations.empty()) {
      break;  // Totals follow.
    }
    begin = end + 1;
  }
  if (program.allocations.empty())
    return Failure(
        Error{"there is no allocation in this buffer assignment", "Was the dump copied whole?", name, 0, false});
  leave_out_impossible(program);
  return program;
}

}  // namespace hbmscope::hlo
