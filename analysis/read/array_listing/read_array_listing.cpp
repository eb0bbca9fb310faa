#include "analysis/read/array_listing/read_array_listing.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/read/file_bytes.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    cells.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

using Renaming = std::pair<std::string_view, std::string_view>;

// Prefixes that other producers use instead of XLA's one or two letters; bits follow. The first match is used.
constexpr std::array beginnings = {Renaming{"bfloat", "bf"}, Renaming{"float8_", "f8"}, Renaming{"float4_", "f4"},
                                   Renaming{"float", "f"},   Renaming{"uint", "u"},     Renaming{"int", "s"},
                                   Renaming{"complex", "c"}, Renaming{"f8_", "f8"},     Renaming{"i", "s"}};
// Complete names, after their prefix was replaced by XLA's.
constexpr std::array whole = {Renaming{"bool", "pred"}, Renaming{"f4", "f4e2m1fn"}, Renaming{"f8e8m0", "f8e8m0fnu"}};

namespace tpu = allocator::tpu;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t text_bytes_max = std::uint64_t{1} << 30;
constexpr std::uint64_t head_bytes_max = 100'000'000;  // safetensors' own limit.
constexpr std::size_t length_bytes = 8;
constexpr std::size_t depth_max = 200;

// The length of the JSON in a safetensors file, if it is one. The first eight bytes of a text would be a
// far larger number.
std::optional<std::uint64_t> find_head_bytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() <= length_bytes || bytes[length_bytes] != '{') return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | bytes[i];
  return length <= head_bytes_max ? std::optional(length) : std::nullopt;
}

// The error is caught by parse_array_listing.
[[noreturn]] void refuse(const std::string& name, std::string what, std::string remedy) {
  throw refusal(fmt::format("{}: {}", name.empty() ? "the list" : printable(name), what), std::move(remedy));
}

const tpu::ElementType& type_of(const std::string& array, std::string_view name) {
  const tpu::ElementType* type = find_array_type(name);
  if (type == nullptr)
    refuse(array, fmt::format("there is no element type '{}'", printable(name)),
           "Write it as XLA, jax or safetensors do: f32, bfloat16, I8, ...");
  return *type;
}

// "f32[2,3]{1,0:T(8,128)}"; the type may have another producer's name.
tpu::Shape shape_from_text(const std::string& array, const std::string& text) {
  const std::size_t bracket = std::min(text.find('['), text.size());
  const tpu::ElementType& type = type_of(array, std::string_view(text).substr(0, bracket));
  auto shape = tpu::parse_shape(std::string(type.name) + text.substr(bracket));
  if (!shape)
    refuse(array, fmt::format("'{}': {}", printable(text), printable(shape.error().what)),
           "An array is written as bf16[100,200]{1,0:T(8,128)(2,1)}: type, sizes, order, tiles.");
  return std::move(*shape);
}

// `layout`: a complete array, or just its braces.
tpu::Shape shape_with_layout(const std::string& array, tpu::Shape shape, const std::string& layout) {
  if (layout.empty()) return shape;
  tpu::Shape laid = shape_from_text(array, layout.starts_with('{') ? tpu::text_from_shape(shape) + layout : layout);
  if (laid.type != shape.type || laid.dimensions != shape.dimensions)
    refuse(array, fmt::format("the layout '{}' is not of {}", printable(layout), tpu::text_from_shape(shape)),
           "It names the same type and sizes, or stands in braces alone.");
  return laid;
}

class JsonWalk {
 public:
  std::vector<ListedArray> arrays;

  void visit(const Json& node, const std::string& name, std::size_t depth = 0) {
    if (depth > depth_max) refuse(name, "it is nested too deeply", "Is this a list of arrays?");
    if (node.is_null()) return;
    if (node.is_string()) {
      arrays.push_back({name, shape_from_text(name, node.get_ref<const std::string&>())});
    } else if (is_array(node)) {
      arrays.push_back({name, shape_of(node, name)});
    } else if (node.is_object()) {
      if (depth == 0 && node.contains("weight_map"))
        refuse(name, "this is an index of shards, which has no sizes", "Give the shards: --listing *.safetensors.");
      for (const auto& [key, value] : node.items())
        if (depth > 0 || key != "__metadata__") visit(value, below(name, key), depth + 1);
    } else if (node.is_array()) {
      for (std::size_t i = 0; i < node.size(); ++i) {
        const bool is_named = is_array(node[i]) && node[i].contains("name") && node[i]["name"].is_string();
        visit(node[i], below(name, is_named ? node[i]["name"].get<std::string>() : fmt::to_string(i)), depth + 1);
      }
    } else {
      refuse(name, "it is not an array, and contains none", "An array has dtype and shape.");
    }
  }

 private:
  static std::string below(const std::string& name, const std::string& key) {
    return name.empty() ? key : name + "/" + key;
  }
  // A pytree may have leaves with these names, but not with a text and a list as values.
  static bool is_array(const Json& node) {
    return node.is_object() && node.contains("dtype") && node["dtype"].is_string() && node.contains("shape") &&
           node["shape"].is_array();
  }
  static tpu::Shape shape_of(const Json& node, const std::string& name) {
    tpu::Shape shape{&type_of(name, node["dtype"].get_ref<const std::string&>()), {}, {}};
    for (const Json& size : node["shape"]) {
      if (!size.is_number_unsigned())
        refuse(name, "its shape has a size that is not a whole number", "Write [100, 200].");
      shape.dimensions.push_back({size.get<std::uint64_t>(), false});
    }
    const bool has_layout = node.contains("layout") && node["layout"].is_string();
    // As a text, because parsing that checks the limits of rank and sizes.
    return shape_with_layout(name, shape_from_text(name, tpu::text_from_shape(shape)),
                             has_layout ? node["layout"].get<std::string>() : "");
  }
};

// "100x200", "(100, 200)", "[100,200]", "100," -> "100x200"; "()" -> "scalar".
std::string sizes_from_cell(std::string_view cell) {
  std::string text;
  for (const char c : cell)
    if (c != ' ' && c != '(' && c != ')' && c != '[' && c != ']') text += c == ',' ? 'x' : c;
  if (cell.find(',') != std::string_view::npos && text.ends_with('x')) text.pop_back();
  return text.empty() && !cell.empty() ? "scalar" : text;
}

std::vector<ListedArray> arrays_of_rows(std::string_view text) {
  std::vector<ListedArray> arrays;
  std::size_t offset = 0;
  std::uint64_t line = 0;
  const auto head = next_row(text, offset, line);
  const auto find = [&](const char* name) { return head ? find_column(head->cells, name) : std::nullopt; };
  const auto name = find("name"), dtype = find("dtype"), shape = find("shape"), layout = find("layout");
  if (!dtype || !shape)
    refuse({}, "it is neither safetensors nor JSON, and its first line does not name columns dtype and shape",
           "Separate cells with tabs, and begin with a header line.");
  while (const auto row = next_row(text, offset, line)) {
    const std::string at = fmt::format("line {}", row->line);
    if (row->cells.size() != head->cells.size())
      refuse(at, fmt::format("{} columns where the head line has {}", row->cells.size(), head->cells.size()),
             "Separate columns with one tab each.");
    const std::string called = name ? row->cells[*name] : fmt::format("row {}", arrays.size() + 1);
    auto sizes = tpu::parse_dimensions(sizes_from_cell(row->cells[*shape]));
    if (!sizes)
      refuse(at, fmt::format("the shape '{}': {}", printable(row->cells[*shape]), printable(sizes.error().what)),
             "Write sizes as 100x200, (100, 200) or scalar.");
    tpu::Shape plain{&type_of(at, row->cells[*dtype]), std::move(*sizes), {}};
    arrays.push_back({called, shape_with_layout(at, std::move(plain), layout ? row->cells[*layout] : "")});
  }
  return arrays;
}

std::vector<ListedArray> arrays_of(std::span<const std::uint8_t> bytes) {
  if (const auto head = find_head_bytes(bytes)) {
    if (*head > bytes.size() - length_bytes)
      refuse({}, fmt::format("its header of {} bytes is cut off", *head), "Copy the file again.");
    bytes = bytes.subspan(length_bytes, static_cast<std::size_t>(*head));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return arrays_of_rows(text);
  const Json json = Json::parse(text, nullptr, false, true);
  if (json.is_discarded()) refuse({}, "it begins like JSON but is not valid", "Was it cut off?");
  JsonWalk walk;
  walk.visit(json, {});
  return std::move(walk.arrays);
}

}  // namespace

std::optional<TextRow> next_row(std::string_view text, std::size_t& offset, std::uint64_t& line) {
  while (offset < text.size()) {
    const std::size_t begin = offset, end = std::min(text.find('\n', begin), text.size());
    std::string_view row = text.substr(begin, end - begin);
    offset = end + 1;
    ++line;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (!row.empty()) return TextRow{cells_of(row), line, begin};
  }
  return std::nullopt;
}

std::optional<std::size_t> find_column(const std::vector<std::string>& head, std::string_view name) {
  const auto found = std::find(head.begin(), head.end(), name);
  if (found == head.end()) return std::nullopt;
  return static_cast<std::size_t>(found - head.begin());
}

const allocator::tpu::ElementType* find_array_type(std::string_view name) {
  if (const auto* type = allocator::tpu::find_element_type(name)) return type;
  constexpr std::string_view torch = "torch.";
  if (name.starts_with(torch)) name.remove_prefix(torch.size());
  std::string text(name.substr(0, 32));
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  for (const auto& [from, to] : beginnings) {
    if (!text.starts_with(from)) continue;
    text = std::string(to) + text.substr(from.size());
    break;
  }
  for (const auto& [from, to] : whole)
    if (text == from) text = to;
  return allocator::tpu::find_element_type(text);
}

Result<std::vector<ListedArray>> parse_array_listing(std::span<const std::uint8_t> bytes, const std::string& name) {
  try {
    auto arrays = arrays_of(bytes);
    if (arrays.empty()) refuse({}, "there is no array in it", "An array has dtype and shape.");
    return arrays;
  } catch (Error& error) {
    error.file = name;
    return Failure(std::move(error));
  }
}

Result<std::vector<ListedArray>> read_array_listing(const std::string& file) {
  // Reads only the header: a checkpoint may have many gigabytes.
  if (file != "-") {
    std::ifstream stream(file, std::ios::binary);
    std::vector<std::uint8_t> front(length_bytes + 1);
    const auto read = [&](std::size_t at) {
      stream.read(reinterpret_cast<char*>(front.data() + at), static_cast<std::streamsize>(front.size() - at));
      front.resize(at + static_cast<std::size_t>(stream.gcount()));
    };
    read(0);
    if (const auto head = find_head_bytes(front)) {
      const std::size_t known = front.size();
      front.resize(std::max(length_bytes + static_cast<std::size_t>(*head), known));
      read(known);
      return parse_array_listing(front, file);
    }
  }
  const auto bytes = read_file(file, text_bytes_max);
  if (!bytes) return Failure(bytes.error());
  return parse_array_listing(bytes->bytes(), file == "-" ? "standard input" : file);
}

}  // namespace hbmscope
