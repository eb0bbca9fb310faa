// TPU generations as data: one row each, with the source of every figure. To add a generation, add a row to
// generation.cpp: commands, their help, layouts, emulation and errors read everything from it. A figure that nobody
// publishes is unknown and never derived from another. A device is what JAX calls a device: a chip, or on v2, v3 and
// tpu7x one of its two cores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hbmscope::allocator::tpu {

enum class FigureSource : std::uint8_t {
  unknown,
  compiler,   // What libtpu 0.0.51 prints or refuses when it compiles without a TPU.
  jax_table,  // jax/_src/pallas/mosaic/tpu_info.py of jax 0.10.2; its HBM and CMEM sizes are rounded decimals.
  jax_docs,   // docs/pallas/tpu of jax.
  jax_main,   // The same table in jax-ml/jax@cec06d1 of 2026-08-08, which is newer than any release that was run.
};
std::string_view text_from_source(FigureSource source);

struct Figure {
  std::uint64_t value = 0;
  FigureSource source = FigureSource::unknown;

  std::optional<std::uint64_t> known() const {
    return source == FigureSource::unknown ? std::nullopt : std::optional(value);
  }
};

struct Generation {
  std::string_view name, other_name;  // "tpu7x", also "v7x". Most have no other name.
  std::string_view jax_kind;          // jax.Device.device_kind: "TPU v5 lite".
  std::uint32_t devices_per_chip = 1, cores_per_device = 1;
  bool is_megacore = false;  // Two cores that share HBM form one device.
  // Each device's, in bytes. Usable is what the compiler allows a program: the total without its reserve.
  Figure hbm_total, hbm_usable;
  Figure hbm_bytes_per_second;  // Each chip's.
  // Each core's, in bytes.
  Figure vmem, vmem_scoped_limit, smem, sync_flags, cmem, accumulators;
  Figure lanes, sublanes;
  // How many a chip has, and a SparseCore; and the bytes of a vector subcore.
  Figure sparse_cores, sparse_subcores, sparse_subcore_vmem;
  // Default layouts follow from these: the fewest rows in a tile of 32-bit values, and whether values of less than a
  // byte are packed. 0 rows: the layouts are unknown (8i, 8t), and the generation can't be used for layouts, fit checks
  // or emulation.
  std::uint32_t rows_least = 1;
  bool packs_below_a_byte = true;
  // The compiler allocates HBM in multiples of the first, and tables of output pointers in multiples of the second.
  std::uint32_t allocation_bytes = 512, tuple_table_bytes = 512;
  std::string_view smallest_topology = {};  // The smallest that the compiler accepts: "2x2x1".

  constexpr bool has_layouts() const { return rows_least > 0; }
};

// Generations with known layouts and limits, which layouts, fit checks and emulation support.
std::span<const Generation> all_generations();
// All generations, including those for which only memory sizes are published.
std::span<const Generation> listed_generations();
const Generation& default_generation();  // v5e
std::string text_from_generations();     // "v2, v3, v4, v5e, v5p, v6e or tpu7x"
std::string text_from_topologies();      // "v2:1x1, v3:2x2, ..."
// A generation with known layouts, by name or other name, case-insensitive. Null: not found.
const Generation* find_generation(std::string_view name);
// Why a generation was not found, and what to do about it.
struct NoGeneration {
  std::string what, remedy;
};
NoGeneration why_no_generation(std::string_view name);

}  // namespace hbmscope::allocator::tpu
