// TPU generations as data: each figure with where it was read. What nobody publishes is unknown, and no figure is made
// up from another. A device is what JAX calls one: a chip, or on v2, v3 and tpu7x one of its two cores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hbmscope::allocator::tpu {

enum class FigureSource : std::uint8_t {
  unknown,
  compiler,   // What libtpu 0.0.51 prints or refuses at, compiling with no TPU.
  jax_table,  // jax/_src/pallas/mosaic/tpu_info.py of jax 0.10.2; its HBM and CMEM sizes are rounded decimals.
  jax_docs,   // docs/pallas/tpu of jax.
  jax_main,   // The same table in jax-ml/jax@cec06d1, of 2026-08-08, newer than any release that was run.
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
  std::string_view name, other_name;  // "tpu7x", also "v7x"; empty: none.
  std::string_view jax_kind;          // jax.Device.device_kind: "TPU v5 lite".
  std::uint32_t devices_per_chip = 1, cores_per_device = 1;
  bool is_megacore = false;  // Two cores that share HBM are one device.
  // Of a device, in bytes; usable is what the compiler allows a program: total without its reserve.
  Figure hbm_total, hbm_usable;
  Figure hbm_bytes_per_second;  // Of a chip.
  // Of a core, in bytes.
  Figure vmem, vmem_scoped_limit, smem, sync_flags, cmem, accumulators;
  Figure lanes, sublanes;
  // Of a chip, a vector subcore.
  Figure sparse_cores, sparse_subcores, sparse_subcore_vmem;
  // What default layouts follow from: the least rows of a tile of 32-bit values, and whether values of less than a
  // byte are packed. Unknown generations of layouts (8i, 8t) have 0 rows.
  std::uint32_t rows_least = 1;
  bool packs_below_a_byte = true;
};

// Those whose layouts and limits are known: what can be laid out, fitted and emulated.
std::span<const Generation> all_generations();
// And those of which only memories are published.
std::span<const Generation> listed_generations();
// Of those whose layouts are known, by name or other name, in capitals or not. Null: there is none.
const Generation* find_generation(std::string_view name);
// Why not, and what to do about it.
struct NoGeneration {
  std::string what, remedy;
};
NoGeneration why_no_generation(std::string_view name);

}  // namespace hbmscope::allocator::tpu
