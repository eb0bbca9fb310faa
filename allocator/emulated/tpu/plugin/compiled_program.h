// What libtpu's compiler said about a program: everything that PJRT may be asked for about an executable, as plain data
// that can be kept in a file. The compiler's own executable, which can't be run here, is then no longer needed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "allocator/emulated/tpu/plugin/libtpu.h"

namespace hbmscope::allocator::tpu::plugin {

struct ProgramValue {
  int type = 0;  // PJRT_Buffer_Type, or 0 for parameters, whose arrays have their own.
  std::vector<std::int64_t> dimensions;
  std::string layout;       // "{1,0:T(8,128)}", if it is known.
  std::string memory_kind;  // "device", "pinned_host"
  std::string sharding;     // A serialized OpSharding, if it is known.

  bool is_on_device() const { return memory_kind != "pinned_host" && memory_kind != "unpinned_host"; }
};

struct CostProperty {
  std::string name;
  std::variant<std::string, std::int64_t, float, bool> value;
};

struct CompiledBytes {  // What one device needs, as the compiler plans it.
  std::int64_t code = 0, arguments = 0, outputs = 0, aliased = 0, temporaries = 0;
  std::int64_t host_code = 0, host_arguments = 0, host_outputs = 0, host_aliased = 0, host_temporaries = 0;
  std::int64_t peak = 0, total = 0;
};

struct CompiledProgram {
  std::string name;  // "jit_train_step"
  std::string fingerprint;
  std::uint64_t replicas = 1, partitions = 1;
  std::string options;                // A serialized CompileOptionsProto, as given.
  std::string module_format, module;  // The optimized program: "hlo_with_config".
  CompiledBytes bytes;
  std::vector<CostProperty> costs;
  std::vector<ProgramValue> outputs, parameters;
  bool has_parameter_layouts = false, has_shardings = false;
  // By output: the argument whose memory it takes, or -1.
  std::vector<std::int64_t> argument_of_output;
  std::vector<std::int64_t> donors;  // Arguments that are given up, and that no output takes.
  double compile_seconds = 0;
  // How the compiler has placed the program's values: a serialized HloProto with its buffer assignment, if it is known.
  std::string plan;
  bool was_plan_wanted = false;  // Otherwise another compilation may give one.

  // The tables of pointers to several outputs: what the compiler counts as outputs besides the arrays.
  std::uint64_t tuple_table_bytes(std::uint64_t output_array_bytes) const;
};

// Asks about everything, and destroys the executable. `plan`: as in CompiledProgram; no value: none was wanted.
using ProgramResult = std::variant<std::shared_ptr<const CompiledProgram>, Fault>;
ProgramResult read_executable(const Libtpu& libtpu, RealExecutable* executable, std::string_view options,
                              double compile_seconds, std::optional<std::string> plan);

// As bytes, and back. No program: the bytes are damaged or of another version.
std::string bytes_from_program(const CompiledProgram& program);
std::shared_ptr<const CompiledProgram> program_from_bytes(std::string_view bytes);

}  // namespace hbmscope::allocator::tpu::plugin
