#include "allocator/emulated/tpu/plugin/array_layouts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "allocator/emulated/tpu/default_layout.h"
#include "allocator/emulated/tpu/generation.h"
#include "allocator/emulated/tpu/plugin/libtpu.h"
#include "allocator/emulated/tpu/shape.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

// PJRT_Buffer_Type, in XLA's words.
constexpr const char* type_names[] = {
    "?",          "pred", "s8",  "s16",   "s32", "s64",  "u8",     "u16",      "u32",           "u64",
    "f16",        "f32",  "f64", "bf16",  "c64", "c128", "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz",
    "f8e4m3fnuz", "s4",   "u4",  "token", "s2",  "u2",   "f8e4m3", "f8e3m4",   "f8e8m0fnu",     "f4e2m1fn"};
constexpr int token = 23;

using Key = std::tuple<int, std::vector<std::int64_t>, std::string>;
std::mutex mutex;
// Never destroyed: the program may hold arrays until the very end.
auto& layouts = *new std::map<Key, std::unique_ptr<ArrayLayout>>;
auto& defaults = *new std::map<Key, const ArrayLayout*>;  // With an empty text.

std::string shape_text(int type, const std::vector<std::int64_t>& dimensions, std::string_view layout) {
  std::string text = name_of_type(type);
  text += '[';
  for (std::size_t i = 0; i < dimensions.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(dimensions[i]);
  text += ']';
  text += layout;
  return text;
}

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::unique_ptr<ArrayLayout> make_layout(const Generation& generation, int type,
                                         const std::vector<std::int64_t>& dimensions, std::string_view text) {
  auto made = std::make_unique<ArrayLayout>();
  made->text = text;
  auto shape = parse_shape(shape_text(type, dimensions, text));
  if (!shape) {  // A type or a layout that is newer than this program: as on the host.
    made->bytes = made->unpadded_bytes = type == token ? 0 : host_bytes(type, dimensions);
    made->is_guessed = type != token;
  } else {
    made->bytes = compute_padded_bytes(*shape).value_or(0);
    made->unpadded_bytes = compute_unpadded_bytes(*shape).value_or(0);
    if (shape->layout) {
      for (const std::uint32_t dimension : shape->layout->minor_to_major) made->minor_to_major.push_back(dimension);
      for (const Tile& tile : shape->layout->tiles) {
        made->tile_ranks.push_back(tile.size());
        made->tile_dimensions.insert(made->tile_dimensions.end(), tile.begin(), tile.end());
      }
    }
  }
  if (made->bytes != 0) made->bytes = rounded_up(made->bytes, generation.allocation_bytes);
  return made;
}

std::string ask_for_default(const Topology* topology, int type, const std::vector<std::int64_t>& dimensions) {
  const Libtpu& libtpu = *Libtpu::get();
  DefaultLayoutArguments<const Topology> given{{}, topology, type, dimensions.data(), dimensions.size(), nullptr};
  if (libtpu.call_extension(libtpu.extension_function(layouts_extension, &LayoutsExtension::default_of_topology),
                            given))
    return {};
  std::string text = libtpu.text_from_layout(given.layout);
  libtpu.destroy_layout(given.layout);
  return text;
}

// The compiler's rule as it is known here, where libtpu doesn't answer.
std::string modelled_layout(const Generation& generation, const ElementType& type,
                            const std::vector<std::int64_t>& dimensions) {
  std::vector<Dimension> sizes;
  for (const std::int64_t size : dimensions) sizes.push_back({static_cast<std::uint64_t>(size)});
  const std::string text = text_from_shape(default_shape(generation, type, std::move(sizes)));
  return text.substr(std::min(text.find('{'), text.size()));
}

}  // namespace

const char* name_of_type(int type) {
  return type_names[type > 0 && type < static_cast<int>(std::size(type_names)) ? type : 0];
}

std::uint64_t host_bytes_of_value(int type) {
  if (type == token) return 0;
  const ElementType* known = find_element_type(name_of_type(type));
  return known != nullptr ? known->bytes() : 1;
}

std::uint64_t host_bytes(int type, const std::vector<std::int64_t>& dimensions) {
  std::uint64_t bytes = host_bytes_of_value(type);
  for (const std::int64_t size : dimensions) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

const ArrayLayout* layout_from(const Generation& generation, int type, const std::vector<std::int64_t>& dimensions,
                               std::string_view text) {
  const std::lock_guard lock(mutex);
  auto& layout = layouts[Key(type, dimensions, std::string(text))];
  if (layout == nullptr) layout = make_layout(generation, type, dimensions, text);
  return layout.get();
}

const ArrayLayout* default_layout(const Topology* topology, const Generation& generation, int type,
                                  const std::vector<std::int64_t>& dimensions) {
  const Key key(type, dimensions, "");
  {
    const std::lock_guard lock(mutex);
    if (const auto known = defaults.find(key); known != defaults.end()) return known->second;
  }
  std::string text = ask_for_default(topology, type, dimensions);
  const ElementType* element = find_element_type(name_of_type(type));
  if (text.empty() && element != nullptr) text = modelled_layout(generation, *element, dimensions);
  const ArrayLayout* found = layout_from(generation, type, dimensions, text);
  const std::lock_guard lock(mutex);
  return defaults[key] = found;
}

const ArrayLayout* layout_or_default(const Topology* topology, const Generation& generation, int type,
                                     const std::vector<std::int64_t>& dimensions, std::string_view text) {
  return text.empty() ? default_layout(topology, generation, type, dimensions)
                      : layout_from(generation, type, dimensions, text);
}

std::string text_from_layout(const BufferLayout* layout) {
  if (layout == nullptr || layout->kind != BufferLayout::is_tiled) return {};
  const TiledLayout& tiled = layout->tiled;
  if (tiled.tile_count == 0) return {};  // An order of dimensions alone, which is the default one of the host.
  std::string text = "{";
  for (std::size_t i = 0; i < tiled.minor_to_major_count; ++i)
    text += (i == 0 ? "" : ",") + std::to_string(tiled.minor_to_major[i]);
  text += ":T";
  const std::int64_t* dimension = tiled.tile_dimensions;
  for (std::size_t tile = 0; tile < tiled.tile_count; ++tile) {
    text += '(';
    for (std::size_t i = 0; i < tiled.tile_ranks[tile]; ++i) text += (i == 0 ? "" : ",") + std::to_string(*dimension++);
    text += ')';
  }
  return text + "}";
}

}  // namespace hbmscope::allocator::tpu::plugin
