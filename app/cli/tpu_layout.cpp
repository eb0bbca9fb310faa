// hbmscope tpu layout: one array, or a file of them.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/tpu/default_layout.h"
#include "analysis/query/tile_grid.h"
#include "analysis/read/file_bytes.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/open.h"
#include "app/cli/terminal.h"
#include "app/cli/tpu.h"

namespace hbmscope::cli {
namespace {

namespace tpu = allocator::tpu;

constexpr std::uint64_t batch_bytes_max = std::uint64_t{1} << 30;

struct Asked {
  std::string layout, generation, dtype, shape;
};

// A text of the person's, with a sign under the byte where it goes wrong.
Error error_at(const std::string& text, const tpu::TextFault& fault, const char* remedy) {
  return {
      fmt::format("'{}', at byte {}: {}", printable(text), fault.offset, printable(fault.what)), remedy, {}, {}, false};
}

Error error_of(std::string what, std::string remedy) {
  return {std::move(what), std::move(remedy), {}, {}, false};
}

Result<tpu::Shape> shape_from_generation(const Asked& asked, tpu::SecondMinor mode) {
  const tpu::Generation* generation = tpu::find_generation(asked.generation);
  if (generation == nullptr) {
    const tpu::NoGeneration none = tpu::why_no_generation(printable(asked.generation));
    return Failure(error_of(none.what, none.remedy));
  }
  const tpu::ElementType* type = tpu::find_element_type(asked.dtype);
  if (type == nullptr)
    return Failure(error_of(fmt::format("there is no element type '{}'", printable(asked.dtype)),
                            "Write it as XLA does: f32, bf16, s8, pred, ..."));
  auto dimensions = tpu::parse_dimensions(asked.shape);
  if (!dimensions) return Failure(error_at(asked.shape, dimensions.error(), "Write sizes as 100x200, or scalar."));
  return tpu::default_shape(*generation, *type, std::move(*dimensions), mode);
}

struct Answer {
  tpu::Shape shape;
  std::uint64_t bytes = 0, unpadded_bytes = 0;
};

Result<Answer> answer_to(const Asked& asked, tpu::SecondMinor mode) {
  Answer answer;
  if (!asked.layout.empty()) {
    auto shape = tpu::parse_shape(asked.layout);
    if (!shape)
      return Failure(error_at(asked.layout, shape.error(),
                              "An array is written as bf16[100,200]{1,0:T(8,128)(2,1)}: type, sizes, order, tiles."));
    answer.shape = std::move(*shape);
  } else {
    auto shape = shape_from_generation(asked, mode);
    if (!shape) return Failure(shape.error());
    answer.shape = std::move(*shape);
  }
  const auto bytes = tpu::compute_padded_bytes(answer.shape), unpadded = tpu::compute_unpadded_bytes(answer.shape);
  if (!bytes || !unpadded)
    return Failure(error_of(fmt::format("'{}' has 2^63 bytes or more", tpu::text_from_shape(answer.shape)),
                            "Are the sizes those of the array?"));
  answer.bytes = *bytes;
  answer.unpadded_bytes = *unpadded;
  return answer;
}

tpu::SecondMinor mode_of(const std::string& name) {
  if (name == "compact") return tpu::SecondMinor::compact;
  return name == "large" ? tpu::SecondMinor::large : tpu::SecondMinor::as_compiled;
}

// A layout with E(32) for a type of 8 bits takes more than its values, and one with E(4) less: what is padding is told
// in bytes as the layout stores an element.
std::uint64_t padding_of(const Answer& answer) {
  return answer.bytes > answer.unpadded_bytes ? answer.bytes - answer.unpadded_bytes : 0;
}

std::string text_of(const Answer& answer) {
  const std::uint64_t padding = padding_of(answer);
  const auto exact = [](std::uint64_t bytes) {
    return fmt::format("{:>10}  {}", text_from_bytes(bytes), exact_text_from_bytes(signed_from(bytes)));
  };
  std::string text = tpu::text_from_shape(answer.shape) + "\n";
  text += fmt::format("  in memory  {}\n", exact(answer.bytes));
  text += fmt::format("  values     {}\n", exact(answer.unpadded_bytes));
  text += fmt::format("  padding    {}, {} of what it takes\n", exact(padding),
                      text_from_share(signed_from(padding), signed_from(answer.bytes)));
  return text;
}

nlohmann::ordered_json json_of(const Answer& answer) {
  nlohmann::ordered_json dimensions = nlohmann::ordered_json::array();
  for (const tpu::Dimension& dimension : answer.shape.dimensions) dimensions.push_back(dimension.size);
  return {{"schema", json_schema},
          {"layout", tpu::text_from_shape(answer.shape)},
          {"bytes", answer.bytes},
          {"unpadded_bytes", answer.unpadded_bytes},
          {"padding_bytes", padding_of(answer)},
          {"dtype", answer.shape.type->name},
          {"dimensions", std::move(dimensions)},
          {"memory_space", answer.shape.layout ? answer.shape.layout->memory_space : 0}};
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    cells.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

// Which column has what; nothing: there is none.
struct Columns {
  std::optional<std::size_t> layout, generation, dtype, shape, bytes;
  std::size_t count = 0;

  explicit Columns(const std::vector<std::string>& head) : count(head.size()) {
    const auto find = [&](const char* name) -> std::optional<std::size_t> {
      const auto found = std::find(head.begin(), head.end(), name);
      if (found == head.end()) return std::nullopt;
      return static_cast<std::size_t>(found - head.begin());
    };
    layout = find("layout");
    generation = find("generation");
    dtype = find("dtype");
    shape = find("shape");
    bytes = find("bytes");
  }
  bool is_enough() const { return layout || (generation && dtype && shape); }
};

Asked asked_in(const std::vector<std::string>& cells, const Columns& columns) {
  if (columns.layout) return {cells[*columns.layout], {}, {}, {}};
  return {{}, cells[*columns.generation], cells[*columns.dtype], cells[*columns.shape]};
}

std::string joined(const std::vector<std::string>& cells) {
  return fmt::format("{}\n", fmt::join(cells, "\t"));
}

Result<std::string> answer_batch(std::string_view text, const std::string& name, tpu::SecondMinor mode) {
  std::string out;
  std::optional<Columns> columns;
  std::uint64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    const auto fault = [&](std::string what, std::string remedy) {
      return Failure(Error{fmt::format("line {}: {}", number, what), std::move(remedy), name, begin, false});
    };
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) {
      std::vector<std::string> cells = cells_of(line);
      if (!columns) {
        columns.emplace(cells);
        if (!columns->is_enough())
          return fault("the head line names neither layout, nor generation, dtype and shape",
                       "Begin the file with a line of column names, with tabs between them.");
        if (!columns->layout) cells.push_back("layout");
        if (!columns->bytes) cells.push_back("bytes");
      } else {
        if (cells.size() != columns->count)
          return fault(fmt::format("{} columns where the head line has {}", cells.size(), columns->count),
                       "Columns are separated by one tab each.");
        const Asked asked = asked_in(cells, *columns);
        if (columns->layout && asked.layout.empty()) return fault("there is no layout", "Fill it in.");
        const auto answer = answer_to(asked, mode);
        if (!answer) return fault(answer.error().what, answer.error().remedy);
        if (!columns->layout) cells.push_back(tpu::text_from_shape(answer->shape));
        if (columns->bytes)
          cells[*columns->bytes] = fmt::to_string(answer->bytes);
        else
          cells.push_back(fmt::to_string(answer->bytes));
      }
      out += joined(cells);
    }
    begin = end + 1;
  }
  if (!columns) return Failure(Error{"the file is empty", "It begins with a line of column names.", name, {}, false});
  return out;
}

int write_picture(const TileGrid& grid, const TpuLayoutOptions& options, const OpenWindow& open_window) {
  OpenRequest request;
  request.tiles = grid.layout;
  request.screenshot = options.picture;
  request.theme = options.theme;
  request.scale = options.scale;
  request.width = static_cast<int>(960 * options.scale);
  request.height = static_cast<int>(480 * options.scale);
  return open_window_or_say(request, open_window);
}

// What the options can't be together; nothing: they fit.
std::optional<Error> find_misuse(const TpuLayoutOptions& options) {
  const bool has_parts = !options.generation.empty() || !options.dtype.empty() || !options.shape.empty();
  const bool has_all_parts = !options.generation.empty() && !options.dtype.empty() && !options.shape.empty();
  const int asked = (options.layout.empty() ? 0 : 1) + (has_parts ? 1 : 0) + (options.batch.empty() ? 0 : 1);
  if (asked != 1)
    return error_of(asked == 0 ? "there is no array" : "these are several questions at once",
                    "Give a layout, or --generation, --dtype and --shape, or --batch.");
  if (has_parts && !has_all_parts)
    return error_of("--generation, --dtype and --shape belong together", "Give all three.");
  if (!options.batch.empty() && options.json) return error_of("--batch prints rows, not JSON", "Leave out --json.");
  if (!options.batch.empty() && !options.picture.empty())
    return error_of("--picture is of one array", "Give a layout, or leave out --batch.");
  if (options.picture == "-" && options.json)
    return error_of("--json prints no picture", "Write it to a file: --picture OUT.png.");
  if (!options.layout.empty() && options.second_minor != "compiled")
    return error_of("--second-minor does not apply to a layout, which names its tiles", "Leave it out.");
  return std::nullopt;
}

}  // namespace

int run_tpu_layout(const TpuLayoutOptions& options, const OpenWindow& open_window) {
  if (const auto misuse = find_misuse(options)) return fail(*misuse);
  const tpu::SecondMinor mode = mode_of(options.second_minor);
  if (!options.batch.empty()) {
    const auto bytes = read_file(options.batch, batch_bytes_max);
    if (!bytes) return fail(bytes.error());
    const std::string_view text(reinterpret_cast<const char*>(bytes->bytes().data()), bytes->bytes().size());
    const auto out = answer_batch(text, options.batch == "-" ? "standard input" : options.batch, mode);
    if (!out) return fail(out.error());
    return print_to_stdout(*out) ? exit_ok : exit_unreadable;
  }
  const auto answer = answer_to({options.layout, options.generation, options.dtype, options.shape}, mode);
  if (!answer) return fail(answer.error());
  std::string text = options.json ? text_from_json(json_of(*answer)) : text_of(*answer);
  if (!options.picture.empty()) {
    const auto grid = compute_tile_grid(tpu::text_from_shape(answer->shape));
    if (!grid)
      return fail(error_of(fmt::format("there is no picture of {}", tpu::text_from_shape(answer->shape)),
                           "It needs a layout in braces, and at least one value."));
    if (options.picture == "-")
      text += fmt::format("  {}\n{}", text_from_tiles(*grid), picture_from_tiles(*grid));
    else if (const int code = write_picture(*grid, options, open_window); code != exit_ok)
      return code;
  }
  return print_to_stdout(text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
