#include "analysis/read/xspace/span_frames.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace hbmscope::xspace {
namespace {

// The profiler records no folders. Files of these names are taken for JAX's own, which lie between a program's line
// and the allocator: jax/_src of jax 0.4.38 to 0.10.2.
constexpr std::array<std::string_view, 30> files_of_jax = {
    "abstract_arrays.py", "ad.py",        "api.py",          "api_util.py",       "array.py",
    "array_methods.py",   "batching.py",  "compiler.py",     "config.py",         "core.py",
    "dispatch.py",        "dtypes.py",    "lax.py",          "lax_numpy.py",      "linear_util.py",
    "literals.py",        "mlir.py",      "partial_eval.py", "pjit.py",           "prng.py",
    "profiler.py",        "pxla.py",      "sharding.py",     "sharding_impls.py", "source_info_util.py",
    "traceback_util.py",  "tree_util.py", "ufuncs.py",       "util.py",           "xla_bridge.py"};

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

}  // namespace

void SpanFrames::add_source_file(std::string_view path) {
  const auto [at, is_new] = paths_.try_emplace(std::string(base_name(path)), path);
  if (!is_new && at->second != path) at->second.clear();
}

std::string SpanFrames::file_of(std::string_view name) const {
  if (const auto path = paths_.find(name); path != paths_.end())
    return path->second.empty() ? std::string(name) : path->second;
  const bool is_of_jax = std::find(files_of_jax.begin(), files_of_jax.end(), name) != files_of_jax.end();
  return is_of_jax ? "jax/" + std::string(name) : std::string(name);
}

std::uint32_t SpanFrames::define(std::string_view span) {
  if (!span.starts_with('$')) return writer_.define_frame(span, "<operator>", 0);
  span.remove_prefix(1);
  const std::size_t space = span.find(' ');
  if (space == std::string_view::npos) return writer_.define_frame(span, "<built-in>", 0);
  const std::string_view place = span.substr(0, space), function = span.substr(space + 1);
  const std::size_t colon = place.rfind(':');
  std::uint32_t line = 0;
  if (colon != std::string_view::npos) {
    const auto [end, error] = std::from_chars(place.data() + colon + 1, place.data() + place.size(), line);
    if (error == std::errc() && end == place.data() + place.size())
      return writer_.define_frame(function, file_of(place.substr(0, colon)), line);
  }
  // A function in C: "$builtins isinstance", "$jaxlib.utils safe_zip", "$<unknown> append".
  return writer_.define_frame(
      place == "<unknown>" ? std::string(function) : std::string(place) + "." + std::string(function), "<built-in>", 0);
}

std::string_view executed_program(std::string_view span) {
  const std::size_t at = span.find("Executable::Execute (");
  if (at == std::string_view::npos || !span.ends_with(')')) return {};
  span.remove_prefix(span.find('(', at) + 1);
  return span.substr(0, span.size() - 1);
}

}  // namespace hbmscope::xspace
