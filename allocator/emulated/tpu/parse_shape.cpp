#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "allocator/emulated/tpu/shape.h"

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::size_t rank_max = 64;      // Far beyond any array. Protects against a text of a gigabyte of commas.
constexpr std::uint32_t bits_max = 1024;  // The most bits of an element.

// Parses from the front; the first error is kept.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool is_at_end() const { return at_ == text_.size(); }
  std::size_t offset() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  void skip(std::size_t bytes) { at_ += bytes; }
  bool take(char c) {
    if (is_at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::string found() const { return is_at_end() ? "the end" : fmt::format("'{}'", text_[at_]); }

  tl::unexpected<TextFault> fault(std::string what) const { return tl::unexpected(TextFault{std::move(what), at_}); }

  template <class Number>
  tl::expected<Number, TextFault> number(std::string_view of, Number least, Number most) {
    Number value = 0;
    const auto parsed = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (parsed.ec == std::errc::invalid_argument) return fault(fmt::format("expected {}, found {}", of, found()));
    if (parsed.ec != std::errc() || value < least || value > most)
      return fault(fmt::format("{} must be between {} and {}", of, least, most));
    at_ = static_cast<std::size_t>(parsed.ptr - text_.data());
    return value;
  }

  // "(NUMBER)"
  template <class Number>
  tl::expected<Number, TextFault> number_in_parentheses(std::string_view of, Number least, Number most) {
    if (!take('(')) return fault(fmt::format("'(' is expected before {}, here is {}", of, found()));
    const auto value = number<Number>(of, least, most);
    if (!value) return value;
    if (!take(')')) return fault(fmt::format("')' is expected after {}, here is {}", of, found()));
    return value;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

constexpr std::uint64_t size_max = std::uint64_t{1} << 62;

tl::expected<Dimension, TextFault> take_dimension(Cursor& cursor) {
  Dimension dimension;
  dimension.is_bound = cursor.take("<=");
  const auto size = cursor.number<std::uint64_t>("the size of a dimension", 0, size_max);
  if (!size) return tl::unexpected(size.error());
  dimension.size = *size;
  return dimension;
}

tl::expected<std::vector<Dimension>, TextFault> take_dimensions(Cursor& cursor) {
  std::vector<Dimension> dimensions;
  if (cursor.take(']')) return dimensions;
  while (true) {
    const auto dimension = take_dimension(cursor);
    if (!dimension) return tl::unexpected(dimension.error());
    dimensions.push_back(*dimension);
    if (dimensions.size() > rank_max) return cursor.fault(fmt::format("there are more than {} dimensions", rank_max));
    if (cursor.take(']')) return dimensions;
    if (!cursor.take(',')) return cursor.fault(fmt::format("',' or ']' is expected, here is {}", cursor.found()));
  }
}

tl::expected<std::vector<std::uint32_t>, TextFault> take_order(Cursor& cursor, std::size_t rank) {
  std::vector<std::uint32_t> order;
  while (!cursor.rest().starts_with(':') && !cursor.rest().starts_with('}')) {
    if (!order.empty() && !cursor.take(','))
      return cursor.fault(fmt::format("',', ':' or '}}' is expected, here is {}", cursor.found()));
    if (order.size() == rank)
      return cursor.fault(fmt::format("the layout names more dimensions than the {} that there are", rank));
    const auto number =
        cursor.number<std::uint32_t>("the number of a dimension", 0, static_cast<std::uint32_t>(rank) - 1);
    if (!number) return tl::unexpected(number.error());
    if (std::find(order.begin(), order.end(), *number) != order.end())
      return cursor.fault(fmt::format("the layout names dimension {} twice", *number));
    order.push_back(*number);
  }
  if (order.size() != rank)
    return cursor.fault(fmt::format("the layout names {} of {} dimensions", order.size(), rank));
  return order;
}

tl::expected<Tile, TextFault> take_tile(Cursor& cursor) {
  Tile tile;
  while (true) {
    if (cursor.take('*')) {
      tile.push_back(merged);
    } else {
      const auto size = cursor.number<std::uint64_t>("the size of a tile", 1, size_max);
      if (!size) return tl::unexpected(size.error());
      tile.push_back(*size);
    }
    if (tile.size() > rank_max) return cursor.fault("the tile has too many dimensions");
    if (cursor.take(')')) break;
    if (!cursor.take(',')) return cursor.fault(fmt::format("',' or ')' is expected, here is {}", cursor.found()));
  }
  if (tile.back() == merged) return cursor.fault("a tile can't end in '*', which is one with the next dimension");
  return tile;
}

// "D(...)" and others that do not affect sizes: kept unmodified.
tl::expected<std::string, TextFault> take_verbatim(Cursor& cursor, std::string_view name) {
  const std::string_view from = cursor.rest();
  const std::size_t end = from.find(')');
  const std::size_t inner = from.find('(', name.size() + 1);
  if (end == std::string_view::npos || inner < end) return cursor.fault(fmt::format("{}(...) is not closed", name));
  cursor.skip(end + 1);
  return std::string(from.substr(0, end + 1));
}

tl::expected<void, TextFault> take_tiles(Cursor& cursor, Layout& layout) {
  if (!cursor.rest().starts_with('('))
    return cursor.fault(fmt::format("'(' is expected after T, here is {}", cursor.found()));
  while (cursor.take('(')) {
    auto tile = take_tile(cursor);
    if (!tile) return tl::unexpected(tile.error());
    layout.tiles.push_back(std::move(*tile));
    if (layout.tiles.size() > rank_max) return cursor.fault("there are too many tiles");
  }
  return {};
}

template <class Number, class Value>
tl::expected<void, TextFault> set(const tl::expected<Number, TextFault>& taken, Value& value) {
  if (!taken) return tl::unexpected(taken.error());
  value = *taken;
  return {};
}

// The properties after the colon, in the order in which XLA prints them, each at most once.
tl::expected<void, TextFault> take_properties(Cursor& cursor, Layout& layout) {
  int last = 0;
  while (!cursor.rest().starts_with('}')) {
    const Cursor before = cursor;
    int rank = 0;
    tl::expected<void, TextFault> taken;
    if (cursor.rest().starts_with("D(")) {
      rank = 1;
      taken = set(take_verbatim(cursor, "D"), layout.level_types);
    } else if (cursor.take('T')) {
      rank = 2;
      taken = take_tiles(cursor, layout);
    } else if (cursor.take('L')) {
      rank = 3;
      taken = set(cursor.number_in_parentheses<std::uint64_t>("the alignment of the end", 1, size_max),
                  layout.tail_alignment);
    } else if (cursor.take('E')) {
      rank = 4;
      taken =
          set(cursor.number_in_parentheses<std::uint32_t>("the bits of an element", 1, bits_max), layout.element_bits);
    } else if (cursor.rest().starts_with("SC(") || cursor.rest().starts_with("M(")) {
      rank = cursor.rest().starts_with("SC(") ? 6 : 7;
      auto text = take_verbatim(cursor, rank == 6 ? "SC" : "M");
      if (text)
        layout.rest += *text;
      else
        taken = tl::unexpected(text.error());
    } else if (cursor.take('S')) {
      rank = 5;
      taken = set(cursor.number_in_parentheses<std::uint32_t>("the memory space", 0, 1 << 16), layout.memory_space);
    } else {
      return cursor.fault(fmt::format("T, L, E, S or '}}' is expected, here is {}", cursor.found()));
    }
    if (!taken) return taken;
    if (rank <= last) return before.fault("this stands twice, or behind what it belongs before (D, T, L, E, S)");
    last = rank;
  }
  return last == 0 ? cursor.fault("nothing follows the ':'") : tl::expected<void, TextFault>();
}

tl::expected<Layout, TextFault> take_layout(Cursor& cursor, std::size_t rank) {
  Layout layout;
  auto order = take_order(cursor, rank);
  if (!order) return tl::unexpected(order.error());
  layout.minor_to_major = std::move(*order);
  if (cursor.take(':'))
    if (const auto taken = take_properties(cursor, layout); !taken) return tl::unexpected(taken.error());
  if (!cursor.take('}')) return cursor.fault(fmt::format("'}}' is expected, here is {}", cursor.found()));
  return layout;
}

}  // namespace

tl::expected<Shape, TextFault> parse_shape(std::string_view text) {
  Cursor cursor(text);
  if (text.empty()) return cursor.fault("there is no array");
  Shape shape;
  const std::string_view name = text.substr(0, text.find('['));
  shape.type = find_element_type(name);
  if (shape.type == nullptr) {
    if (text.front() == '(') return cursor.fault("this is a tuple: write one array");
    return cursor.fault(fmt::format("there is no element type '{}'", name.substr(0, 40)));
  }
  cursor.skip(name.size());
  if (!cursor.take('[')) return cursor.fault(fmt::format("'[' is expected, here is {}", cursor.found()));
  auto dimensions = take_dimensions(cursor);
  if (!dimensions) return tl::unexpected(dimensions.error());
  shape.dimensions = std::move(*dimensions);
  if (cursor.take('{')) {
    auto layout = take_layout(cursor, shape.dimensions.size());
    if (!layout) return tl::unexpected(layout.error());
    shape.layout = std::move(*layout);
  }
  if (!cursor.is_at_end()) return cursor.fault(fmt::format("the array ends before {}", cursor.found()));
  return shape;
}

tl::expected<std::vector<Dimension>, TextFault> parse_dimensions(std::string_view text) {
  std::vector<Dimension> dimensions;
  if (text == "scalar") return dimensions;
  Cursor cursor(text);
  while (true) {
    const auto dimension = take_dimension(cursor);
    if (!dimension) return tl::unexpected(dimension.error());
    dimensions.push_back(*dimension);
    if (cursor.is_at_end()) return dimensions;
    if (dimensions.size() == rank_max) return cursor.fault(fmt::format("there are more than {} dimensions", rank_max));
    if (!cursor.take('x'))
      return cursor.fault(fmt::format("'x' is expected between dimensions, here is {}", cursor.found()));
  }
}

}  // namespace hbmscope::allocator::tpu
