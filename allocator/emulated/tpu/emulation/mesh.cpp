#include "allocator/emulated/tpu/emulation/mesh.h"

#include <algorithm>

#include <fmt/format.h>

#include "allocator/emulated/tpu/default_layout.h"

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint64_t sparse_row_bytes = 32;

const MeshAxis* find_axis(const Mesh& mesh, const std::string& name) {
  const auto found =
      std::find_if(mesh.axes.begin(), mesh.axes.end(), [&](const MeshAxis& axis) { return axis.name == name; });
  return found == mesh.axes.end() ? nullptr : &*found;
}

std::uint64_t ceil_of(std::uint64_t whole, std::uint64_t parts) {
  return whole / parts + (whole % parts != 0 ? 1 : 0);
}

// The number of parts of dimension `dimension`, or 0 if an axis is unknown.
std::uint64_t parts_of(const ArraySpec& array, const Mesh& mesh, std::size_t dimension) {
  std::uint64_t parts = 1;
  if (dimension >= array.sharding.size()) return parts;
  for (const std::string& name : array.sharding[dimension]) {
    const MeshAxis* axis = find_axis(mesh, name);
    parts *= axis != nullptr ? axis->size : 0;
  }
  return parts;
}

// The index of a device's part of a dimension: its coordinates along the axes, the first one most significant.
std::uint64_t part_of_device(const std::vector<std::string>& axes, const Mesh& mesh, std::uint64_t device) {
  std::uint64_t part = 0;
  for (const std::string& name : axes) {
    std::uint64_t stride = 1;
    for (auto axis = mesh.axes.rbegin(); axis != mesh.axes.rend() && axis->name != name; ++axis) stride *= axis->size;
    const MeshAxis* axis = find_axis(mesh, name);
    part = part * axis->size + device / stride % axis->size;
  }
  return part;
}

Shape plain_shape(const ElementType& type, const std::vector<std::uint64_t>& sizes) {
  Shape shape;
  shape.type = &type;
  for (const std::uint64_t size : sizes) shape.dimensions.push_back({size, false});
  return shape;
}

// Consecutive rows, each rounded up to 32 bytes.
Layout sparse_layout(const ElementType& type, std::size_t rank) {
  Layout layout;
  for (std::size_t i = rank; i-- > 0;) layout.minor_to_major.push_back(static_cast<std::uint32_t>(i));
  layout.tiles = {{std::max<std::uint64_t>(sparse_row_bytes / type.bytes(), 1)}};
  return layout;
}

tl::unexpected<std::string> fault(std::string what) {
  return tl::unexpected<std::string>(std::move(what));
}

}  // namespace

std::uint64_t Mesh::devices() const {
  std::uint64_t devices = 1;
  for (const MeshAxis& axis : axes) devices *= axis.size;
  return devices;
}

std::uint32_t memory_space_of(Place place) {
  switch (place) {
    case Place::vmem: return 1;
    case Place::cmem: return 3;
    case Place::host: return 5;
    case Place::hbm:
    case Place::sparse_core: return 0;
  }
  return 0;
}

std::uint64_t allocated_bytes(const Generation& generation, std::uint64_t bytes) {
  const std::uint64_t least = generation.allocation_bytes;
  return ceil_of(std::max<std::uint64_t>(bytes, 1), least) * least;
}

tl::expected<Shard, std::string> shard_of(const ArraySpec& array, const Mesh& mesh, const Generation& generation) {
  if (array.sharding.size() > array.dimensions.size())
    return fault(fmt::format("its sharding has {} entries, and it has {} dimensions", array.sharding.size(),
                             array.dimensions.size()));
  std::vector<std::string> seen;
  for (const auto& axes : array.sharding)
    for (const std::string& name : axes) {
      if (find_axis(mesh, name) == nullptr) return fault(fmt::format("the mesh has no axis '{}'", name));
      if (std::find(seen.begin(), seen.end(), name) != seen.end())
        return fault(fmt::format("axis '{}' divides two dimensions", name));
      seen.push_back(name);
    }
  Shard shard;
  std::vector<std::uint64_t> sizes;
  std::uint64_t all_parts = 1;
  for (std::size_t i = 0; i < array.dimensions.size(); ++i) {
    const std::uint64_t parts = parts_of(array, mesh, i);
    all_parts *= parts;
    shard.is_uneven |= array.dimensions[i] % parts != 0;
    sizes.push_back(ceil_of(array.dimensions[i], parts));
  }
  shard.copies = mesh.devices() / all_parts;
  shard.shape = plain_shape(*array.type, sizes);
  const auto global = compute_unpadded_bytes(plain_shape(*array.type, array.dimensions));
  const auto unpadded = compute_unpadded_bytes(shard.shape);
  if (array.place == Place::sparse_core)
    shard.shape.layout = sparse_layout(*array.type, sizes.size());
  else
    shard.shape = default_shape(generation, *array.type, shard.shape.dimensions);
  shard.shape.layout->memory_space = memory_space_of(array.place);
  const auto padded = compute_padded_bytes(shard.shape);
  constexpr std::uint64_t most = std::uint64_t{1} << 50;  // Sums of thousands of them stay far below 2^63.
  if (!padded || !unpadded || !global || *padded > most || *global > most)
    return fault(fmt::format("{} has more bytes than any device", text_of(array)));
  shard.bytes = allocated_bytes(generation, *padded);
  shard.unpadded_bytes = *unpadded;
  shard.global_bytes = *global;
  return shard;
}

std::uint64_t held_bytes(const ArraySpec& array, const Mesh& mesh, std::uint64_t device) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < array.dimensions.size(); ++i) {
    const std::uint64_t whole = array.dimensions[i], part_size = ceil_of(whole, parts_of(array, mesh, i));
    const std::uint64_t part = i < array.sharding.size() ? part_of_device(array.sharding[i], mesh, device) : 0;
    const std::uint64_t begin = std::min(part * part_size, whole);
    sizes.push_back(std::min(part_size, whole - begin));
  }
  return compute_unpadded_bytes(plain_shape(*array.type, sizes)).value_or(0);
}

std::string text_of(const ArraySpec& array) {
  return text_from_shape(plain_shape(*array.type, array.dimensions));
}

}  // namespace hbmscope::allocator::tpu
