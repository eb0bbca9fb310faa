// Devices in a mesh, and what an array that is divided among them leaves on each. A dimension is divided by the product
// of the mesh axes that its entry names; each device's part is laid out in tiles by itself, so that 128 columns on
// eight devices are 16 columns on each, which padding makes 128 again.
//
// Sources: jax/_src/sharding.py (shard_shape), xla's partitioner for what does not divide: every part is as large as
// the first one, the last devices hold less or nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/tpu/generation.h"
#include "allocator/tpu/shape.h"

namespace hbmscope::allocator::tpu {

struct MeshAxis {
  std::string name;
  std::uint64_t size = 1;
};

struct Mesh {
  std::vector<MeshAxis> axes;  // The last one changes fastest from device to device. None: one device.

  std::uint64_t devices() const;
};

enum class Place : std::uint8_t {
  hbm,
  vmem,
  cmem,
  host,
  sparse_core,  // In HBM, with rows of 32 bytes and no lanes, as SparseCore gathers them.
};

// As a layout's S has it.
std::uint32_t memory_space_of(Place place);

struct ArraySpec {
  const ElementType* type = nullptr;
  std::vector<std::uint64_t> dimensions;
  std::vector<std::vector<std::string>> sharding;  // Mesh axes by dimension; fewer entries: the rest is whole.
  Place place = Place::hbm;
};

struct Shard {
  Shape shape;                       // With its layout.
  std::uint64_t bytes = 0;           // In memory, padding included, at least the smallest allocation.
  std::uint64_t unpadded_bytes = 0;  // Of the first device, which holds the most.
  std::uint64_t global_bytes = 0;    // Of the whole array, unpadded.
  std::uint64_t copies = 1;          // So many devices hold the same part.
  bool is_uneven = false;            // Some dimension does not divide.
};

// Rounded up to what libtpu 0.0.51 gives a scalar: 512 bytes, on v2 and v3 1,024.
std::uint64_t allocated_bytes(const Generation& generation, std::uint64_t bytes);

// Faults: an axis that the mesh has not, or that divides two dimensions; more entries than dimensions; more than 2^63
// bytes.
tl::expected<Shard, std::string> shard_of(const ArraySpec& array, const Mesh& mesh, const Generation& generation);
// What device `device` (from 0) holds of it without padding: less than the first one where it is uneven.
std::uint64_t held_bytes(const ArraySpec& array, const Mesh& mesh, std::uint64_t device);

// "f32[128,1024]": without a layout, as XLA writes it.
std::string text_of(const ArraySpec& array);

}  // namespace hbmscope::allocator::tpu
