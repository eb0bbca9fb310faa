#include "analysis/read/hlo/read_memory_usage_report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "analysis/read/hlo/text_values.h"
#include "analysis/read/hlo/wire_values.h"

namespace hbmscope::hlo {
namespace {

using protobuf::ByteRange;
using protobuf::bytes_key;
using protobuf::varint_key;
using protobuf::WireField;

constexpr std::string_view report_head = "Memory Space: ";

void add_buffer(Program& program, Allocation& allocation, std::string name, std::string shape, std::uint64_t offset,
                std::uint64_t size) {
  LogicalBuffer buffer;
  buffer.instruction = std::move(name);
  buffer.shape = std::move(shape);
  buffer.size = size;
  buffer.color = allocation.color;
  allocation.assigned.push_back({program.buffers.size(), offset, size});
  program.buffers.push_back(std::move(buffer));
}

void read_allocation(ByteRange message, std::uint64_t color, Program& program) {
  Allocation allocation;
  allocation.color = color;
  std::string first_name;
  for_each_field(message, [&](const WireField& field) {
    if (field.key == varint_key(1)) allocation.index = field.varint;
    if (field.key == varint_key(2)) allocation.size = field.varint;
    if (field.key == bytes_key(5) && first_name.empty()) first_name = text_of(field.bytes);
  });
  if (!first_name.empty()) add_buffer(program, allocation, std::move(first_name), {}, 0, allocation.size);
  program.allocations.push_back(std::move(allocation));
}

void read_space(ByteRange message, Program& program) {
  std::uint64_t total = 0, color = 0;
  std::vector<ByteRange> allocations;
  for_each_field(message, [&](const WireField& field) {
    if (field.key == varint_key(1)) total = field.varint;
    if (field.key == varint_key(2)) color = field.varint;
    if (field.key == bytes_key(3)) allocations.push_back(field.bytes);
  });
  program.reported_space_bytes[color] = total;
  for (const ByteRange each : allocations) read_allocation(each, color, program);
}

// "32.00MiB", "512B".
std::optional<std::uint64_t> size_from(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (parsed.ec != std::errc() || value < 0) return std::nullopt;
  const std::size_t power =
      std::string_view("BKMGTP").find(parsed.ptr == text.data() + text.size() ? ' ' : *parsed.ptr);
  if (power == std::string_view::npos) return std::nullopt;
  const double bytes = value * std::pow(1024.0, static_cast<double>(power));
  if (bytes > 1e18) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(bytes));
}

// "   32.00MiB(100%);   32.00MiB;       114688;                3; 3xbf16[4096,4096]"
void read_row(std::string_view line, Program& program) {
  std::vector<std::string_view> cells;
  for (int i = 0; i < 4; ++i) {
    const std::size_t end = line.find(';');
    if (end == std::string_view::npos) return;
    cells.push_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end + 1);
  }
  const auto size = size_from(cells[1]);
  std::uint64_t offset = 0;
  const auto parsed = std::from_chars(cells[2].data(), cells[2].data() + cells[2].size(), offset);
  if (!size || parsed.ec != std::errc() || offset > std::uint64_t{1} << 60) return;
  Allocation& allocation = program.allocations.back();
  const std::string shapes(trimmed(line));
  add_buffer(program, allocation, shapes, shapes, offset, *size);
  allocation.size = std::max(allocation.size, offset + *size);
}

Program read_text(std::string_view text) {
  Program program;
  std::optional<std::uint64_t> color;
  bool is_in_table = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with(report_head)) {
      color = number_after(line, "(color=");
      is_in_table = false;
    } else if (!color) {
      continue;
    } else if (const auto total = number_after(line, "Total bytes: ")) {
      program.reported_space_bytes[*color] = *total;
    } else if (line.find("cumulative_size;") != std::string_view::npos) {
      program.allocations.emplace_back().color = *color;
      program.allocations.back().index = program.allocations.size() - 1;
      is_in_table = true;
    } else if (is_in_table) {
      read_row(line, program);
    }
  }
  return program;
}

// A report lists only the largest allocations, but its totals cover all.
void add_what_is_not_listed(Program& program) {
  for (const auto& [color, total] : program.reported_space_bytes) {
    std::uint64_t listed = 0;
    for (const Allocation& allocation : program.allocations)
      if (allocation.color == color) listed += allocation.size;
    if (listed >= total) continue;
    Allocation& rest = program.allocations.emplace_back();
    rest.index = program.allocations.size() - 1;
    rest.color = color;
    rest.size = total - listed;
    add_buffer(program, rest, "not listed", {}, 0, rest.size);
  }
}

}  // namespace

bool looks_like_memory_usage_report(std::span<const std::uint8_t> bytes) {
  if (text_view(bytes).starts_with(report_head)) return true;
  if (bytes.size() < 8 || bytes[0] != bytes_key(1)) return false;
  // A memory space: its total, its color unless that is 0, then an allocation, which contains numbers and no
  // instruction name.
  const std::uint8_t* end = bytes.data() + bytes.size();
  protobuf::WireCursor outer({bytes.data() + 1, end});
  std::uint64_t length = 0, key = 0, number = 0;
  if (!outer.read_varint(length)) return false;
  const auto there = std::min<std::uint64_t>(length, static_cast<std::uint64_t>(end - outer.at()));
  protobuf::WireCursor cursor({outer.at(), outer.at() + there});
  if (!cursor.read_varint(key) || key != varint_key(1) || !cursor.read_varint(number)) return false;
  if (!cursor.read_varint(key)) return false;
  if (key == varint_key(2) && (!cursor.read_varint(number) || !cursor.read_varint(key))) return false;
  if (key != bytes_key(3) || !cursor.read_varint(length) || !cursor.read_varint(key)) return false;
  return key == varint_key(1) || key == varint_key(2);
}

Result<Program> read_memory_usage_report(std::span<const std::uint8_t> bytes, const std::string& name) {
  Program program;
  if (text_view(bytes).starts_with(report_head)) {
    program = read_text(text_view(bytes));
  } else if (!for_each_field({bytes.data(), bytes.data() + bytes.size()}, [&](const WireField& field) {
               if (field.key == bytes_key(1)) read_space(field.bytes, program);
             })) {
    return Failure(refusal("the report is cut off, or damaged", "Was the dump copied whole?", name));
  }
  if (program.reported_space_bytes.empty())
    return Failure(Error{"there is no memory space in this report", "Was the dump copied whole?", name, 0, false});
  program.knows_kinds = false;
  program.is_tpu = program.reported_space_bytes.contains(1);  // VMEM; GPUs and CPUs have no such color.
  leave_out_impossible(program);
  add_what_is_not_listed(program);
  return program;
}

}  // namespace hbmscope::hlo
