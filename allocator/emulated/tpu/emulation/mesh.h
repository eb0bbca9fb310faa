// Devices in a mesh, and the part of a sharded array on each. A dimension is divided by the product of the mesh axes
// that its entry names. Each part is tiled separately: 128 columns on eight devices are 16 columns on each, which
// padding turns into 128 again.
//
// Sources: jax/_src/sharding.py (shard_shape), and XLA's partitioner for dimensions that do not divide evenly: every
// part is as large as the first one, and the last devices hold less or nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/emulated/tpu/generation.h"
#include "allocator/emulated/tpu/shape.h"

namespace hbmscope::allocator::tpu {

struct MeshAxis {
  std::string name;
  std::uint64_t size = 1;
};

struct Mesh {
  std::vector<MeshAxis> axes;  // The last one changes fastest from device to device. Empty: one device.

  std::uint64_t devices() const;
};

enum class Place : std::uint8_t {
  hbm,
  vmem,
  cmem,
  host,
  sparse_core,  // In HBM, in rows of 32 bytes and without lanes, as SparseCore gathers them.
};

// The number in S(n) of a layout.
std::uint32_t memory_space_of(Place place);

struct ArraySpec {
  const ElementType* type = nullptr;
  std::vector<std::uint64_t> dimensions;
  // Mesh axes by dimension. Dimensions without an entry are not divided.
  std::vector<std::vector<std::string>> sharding;
  Place place = Place::hbm;
};

struct Shard {
  Shape shape;                       // With its layout.
  std::uint64_t bytes = 0;           // In memory, with padding; at least the smallest allocation.
  std::uint64_t unpadded_bytes = 0;  // What the first device has, which holds the most.
  std::uint64_t global_bytes = 0;    // The whole array, without padding.
  std::uint64_t copies = 1;          // The number of devices that hold the same part.
  bool is_uneven = false;            // Some dimension does not divide evenly.
};

// Rounded up to the size that libtpu 0.0.51 gives a scalar: 512 bytes, or 1,024 on v2 and v3.
std::uint64_t allocated_bytes(const Generation& generation, std::uint64_t bytes);

// Errors: an axis that is not in the mesh or divides two dimensions; more entries than dimensions; more than 2^63
// bytes.
tl::expected<Shard, std::string> shard_of(const ArraySpec& array, const Mesh& mesh, const Generation& generation);
// What device `device` (from 0) holds of it, without padding. Less than the first device if the division is uneven.
std::uint64_t held_bytes(const ArraySpec& array, const Mesh& mesh, std::uint64_t device);

// "f32[128,1024]": without a layout, as XLA writes it.
std::string text_of(const ArraySpec& array);

}  // namespace hbmscope::allocator::tpu
