// hbmscope tpu layout: one array, or a file of arrays.
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "allocator/emulated/tpu/generation.h"
#include "analysis/query/array_padding.h"
#include "analysis/query/tile_grid.h"
#include "analysis/read/array_listing/read_array_listing.h"
#include "analysis/read/file_bytes.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/open.h"
#include "app/cli/terminal.h"
#include "app/cli/tpu/tpu.h"
#include "app/cli/tpu/tpu_padding.h"

namespace hbmscope::cli {
namespace {

namespace tpu = allocator::tpu;

constexpr std::uint64_t batch_bytes_max = std::uint64_t{1} << 30;

struct ArrayQuery {
  std::string layout, generation, dtype, shape;
};

// An error in the user's text, with its position in bytes.
Error error_at(const std::string& text, const tpu::TextFault& fault, const char* remedy) {
  return refusal(fmt::format("'{}', at byte {}: {}", printable(text), fault.offset, printable(fault.what)), remedy);
}

Result<tpu::Shape> shape_from_query(const ArrayQuery& query, const tpu::Generation& generation, tpu::SecondMinor mode) {
  if (!query.layout.empty()) {
    auto shape = tpu::parse_shape(query.layout);
    if (!shape)
      return Failure(error_at(query.layout, shape.error(),
                              "Write an array as bf16[100,200]{1,0:T(8,128)(2,1)}: type, sizes, order, tiles."));
    return std::move(*shape);
  }
  const tpu::ElementType* type = find_array_type(query.dtype);
  if (type == nullptr)
    return Failure(refusal(fmt::format("there is no element type '{}'", printable(query.dtype)),
                           "Write it as XLA does: f32, bf16, s8, pred, ..."));
  auto dimensions = tpu::parse_dimensions(query.shape);
  if (!dimensions) return Failure(error_at(query.shape, dimensions.error(), "Write sizes as 100x200, or scalar."));
  return tpu::default_shape(generation, *type, std::move(*dimensions), mode);
}

Result<ArrayPadding> answer_to(const ArrayQuery& query, tpu::SecondMinor mode) {
  const auto generation = generation_or_default(query.generation);
  if (!generation) return Failure(generation.error());
  auto shape = shape_from_query(query, **generation, mode);
  if (!shape) return Failure(shape.error());
  return padding_of(std::move(*shape), **generation, mode);
}

// `on`: where the tiles of the smallest order are.
std::string text_of(const ArrayPadding& answer, const std::string& on) {
  const auto exact = [](std::uint64_t bytes) {
    return fmt::format("{:>10}  {}", text_from_bytes(bytes), exact_text_from_bytes(signed_from(bytes)));
  };
  std::string text = tpu::text_from_shape(answer.shape) + "\n";
  text += fmt::format("  in memory  {}\n", exact(answer.bytes));
  text += fmt::format("  values     {}\n", exact(answer.unpadded_bytes));
  text += fmt::format("  padding    {}, {} of its memory\n", exact(answer.padding_bytes()),
                      text_from_share(signed_from(answer.padding_bytes()), signed_from(answer.bytes)));
  if (answer.saved_bytes() > 0)
    text += fmt::format("  best       {}, as {} on {} (emulated): {} less\n", exact(answer.least_bytes),
                        tpu::text_from_shape(answer.least), on, text_from_bytes(answer.saved_bytes()));
  return text;
}

struct Batch {
  std::string rows;
  PaddingTotals totals;
};

// The position of each column; nothing if it is missing.
struct Columns {
  std::optional<std::size_t> layout, generation, dtype, shape, bytes;
  std::size_t count = 0;

  explicit Columns(const std::vector<std::string>& head)
      : layout(find_column(head, "layout")),
        generation(find_column(head, "generation")),
        dtype(find_column(head, "dtype")),
        shape(find_column(head, "shape")),
        bytes(find_column(head, "bytes")),
        count(head.size()) {}
  // `given`: rows without a generation use the one given by the user.
  bool has_parts(bool given) const { return (generation || given) && dtype && shape; }
};

class BatchAnswers {
 public:
  BatchAnswers(const TpuLayoutOptions& options, std::string name)
      : options_(options), mode_(second_minor_of(options.second_minor)), name_(std::move(name)) {}

  Result<Batch> answer(std::string_view text) {
    std::size_t offset = 0;
    std::uint64_t line = 0;
    auto head = next_row(text, offset, line);
    if (!head) return Failure(refusal("the file is empty", "Begin it with a line of column names.", name_));
    const Columns columns(head->cells);
    if (!columns.layout && !columns.has_parts(!options_.generation.empty()))
      return fault(*head, "the header line has neither layout, nor generation, dtype and shape",
                   "Begin the file with a line of column names, separated by tabs.");
    if (!columns.layout) head->cells.push_back("layout");
    if (!columns.bytes) head->cells.push_back("bytes");
    add(head->cells);
    while (auto row = next_row(text, offset, line))
      if (auto added = answer_row(std::move(*row), columns); !added) return Failure(added.error());
    return std::move(batch_);
  }

 private:
  Failure fault(const TextRow& row, const std::string& what, std::string remedy) const {
    return Failure(Error{fmt::format("line {}: {}", row.line, what), std::move(remedy), name_, row.offset, false});
  }
  void add(const std::vector<std::string>& cells) { batch_.rows += fmt::format("{}\n", fmt::join(cells, "\t")); }

  Result<void> answer_row(TextRow row, const Columns& columns) {
    std::vector<std::string>& cells = row.cells;
    if (cells.size() != columns.count)
      return fault(row, fmt::format("{} columns, but the header line has {}", cells.size(), columns.count),
                   "Separate columns with one tab each.");
    const auto cell = [&](std::optional<std::size_t> column) { return column ? cells[*column] : std::string(); };
    ArrayQuery query{cell(columns.layout), cell(columns.generation), {}, {}};
    if (!columns.generation) query.generation = options_.generation;
    if (query.layout.empty()) {
      if (!columns.has_parts(!options_.generation.empty())) return fault(row, "the layout is missing", "Fill it in.");
      if (query.generation.empty()) return fault(row, "the generation is missing", "Fill it in, or the layout.");
      query.dtype = cell(columns.dtype);
      query.shape = cell(columns.shape);
    }
    const auto answer = answer_to(query, mode_);
    if (!answer) return fault(row, answer.error().what, answer.error().remedy);
    batch_.totals.add(*answer);
    put(cells, columns.layout, query.layout.empty() ? tpu::text_from_shape(answer->shape) : query.layout);
    put(cells, columns.bytes, fmt::to_string(answer->bytes));
    add(cells);
    return {};
  }

  static void put(std::vector<std::string>& cells, std::optional<std::size_t> column, std::string text) {
    if (column)
      cells[*column] = std::move(text);
    else
      cells.push_back(std::move(text));
  }

  const TpuLayoutOptions& options_;
  const tpu::SecondMinor mode_;
  const std::string name_;
  Batch batch_;
};

int print_batch(const TpuLayoutOptions& options) {
  const auto bytes = read_file(options.batch, batch_bytes_max);
  if (!bytes) return fail(bytes.error());
  const std::string_view text(reinterpret_cast<const char*>(bytes->bytes().data()), bytes->bytes().size());
  const auto batch = BatchAnswers(options, options.batch == "-" ? "standard input" : options.batch).answer(text);
  if (!batch) return fail(batch.error());
  if (!print_to_stdout(batch->rows)) return exit_unreadable;
  say(text_from_totals(batch->totals));
  return exit_ok;
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

// Options that can't be combined; nothing if all is well.
std::optional<Error> find_misuse(const TpuLayoutOptions& options) {
  const bool has_parts = !options.dtype.empty() || !options.shape.empty();
  const bool has_all_parts = !options.generation.empty() && !options.dtype.empty() && !options.shape.empty();
  const bool is_many = !options.batch.empty() || !options.listings.empty();
  const int arrays = (options.layout.empty() ? 0 : 1) + (has_parts ? 1 : 0) + (options.batch.empty() ? 0 : 1) +
                     (options.listings.empty() ? 0 : 1);
  if (has_parts && !has_all_parts)
    return refusal("--generation, --dtype and --shape belong together", "Use all three.");
  if (arrays != 1)
    return refusal(arrays == 0 ? "the array is missing" : "these options can't be combined",
                   "Use a layout, or --generation, --dtype and --shape, or --batch, or --listing.");
  if (!options.batch.empty() && options.json)
    return refusal("--batch prints rows, not JSON", "Remove --json, or use --listing.");
  if (is_many && !options.picture.empty())
    return refusal("--picture draws one array", "Use a layout, or remove --batch and --listing.");
  if (options.picture == "-" && options.json)
    return refusal("--json can't print a picture", "Write it to a file: --picture OUT.png.");
  if (!options.layout.empty() && options.second_minor != "compiled")
    return refusal("--second-minor does not apply to a layout, which has its own tiles", "Remove --second-minor.");
  return std::nullopt;
}

}  // namespace

int run_tpu_layout(const TpuLayoutOptions& options, const OpenWindow& open_window) {
  if (const auto misuse = find_misuse(options)) return fail(*misuse);
  if (!options.listings.empty()) return run_tpu_listing(options);
  if (!options.batch.empty()) return print_batch(options);
  const auto answer = answer_to({options.layout, options.generation, options.dtype, options.shape},
                                second_minor_of(options.second_minor));
  if (!answer) return fail(answer.error());
  nlohmann::ordered_json json = {{"schema", json_schema}};
  json.update(json_from_padding(*answer));
  const tpu::Generation* generation = tpu::find_generation(options.generation);
  const std::string on(generation != nullptr ? generation->name : "v4 and later");
  std::string text = options.json ? text_from_json(json) : text_of(*answer, on);
  if (!options.picture.empty()) {
    const auto grid = compute_tile_grid(tpu::text_from_shape(answer->shape));
    if (!grid)
      return fail(refusal(fmt::format("there is no picture of {}", tpu::text_from_shape(answer->shape)),
                          "A picture needs a layout in braces and at least one value."));
    if (options.picture == "-")
      text += fmt::format("  {}\n{}", text_from_tiles(*grid), picture_from_tiles(*grid));
    else if (const int code = write_picture(*grid, options, open_window); code != exit_ok)
      return code;
  }
  return print_to_stdout(text) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
