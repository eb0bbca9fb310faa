// A libtpu with a compiler that knows only pretend_program.h, for slices of four devices.
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "allocator/emulated/tpu/plugin/c_api.h"
#include "allocator/emulated/tpu/plugin/wire.h"

namespace hbmscope::allocator::tpu::plugin {

struct Error {
  void* table = nullptr;
  ErrorCode code;
  std::string text;
};
struct DeviceDescription {
  int id = 0;
};
struct Topology {
  std::vector<DeviceDescription> devices;
  std::vector<DeviceDescription*> pointers;
};
struct MemoryLayout {
  std::string text;
};
struct RealExecutable {
  nlohmann::json program;
  std::string name, module;
  std::vector<int> types;
  std::vector<std::int64_t> dimensions;
  std::vector<std::size_t> ranks;
  std::vector<std::string> kinds;
  std::vector<const char*> kind_texts;
  std::vector<std::size_t> kind_bytes;
  std::vector<MemoryLayout> layouts;
  std::vector<MemoryLayout*> layout_pointers;
};

namespace {

Error* refuse(ErrorCode code, std::string text) {
  return new Error{nullptr, code, std::move(text)};
}

Error* succeed(Head*) {
  return nullptr;
}

Error* destroy_error(Command<Error>* given) {
  delete given->object;
  return nullptr;
}
Error* error_message(TextQuery<Error>* given) {
  given->text = given->object->text.data();
  given->bytes = given->object->text.size();
  return nullptr;
}
Error* error_code(Query<Error, int>* given) {
  given->value = static_cast<int>(given->object->code);
  return nullptr;
}

Error* create_topology(CreateTopologyArguments* given) {
  const std::string name(given->name, given->name_bytes);
  if (name.find("3x3") != name.npos) return refuse(ErrorCode::invalid_argument, "Topology layout is not divisible");
  constexpr int devices = 4;
  auto* topology = new Topology;
  for (int i = 0; i < devices; ++i) topology->devices.push_back({i});
  for (DeviceDescription& device : topology->devices) topology->pointers.push_back(&device);
  given->topology = topology;
  return nullptr;
}
Error* topology_version(TextQuery<Topology>* given) {
  given->text = "pretend";
  given->bytes = std::strlen(given->text);
  return nullptr;
}
Error* topology_devices(ListQuery<Topology, DeviceDescription* const>* given) {
  given->items = given->object->pointers.data();
  given->count = given->object->pointers.size();
  return nullptr;
}
Error* description_id(Query<DeviceDescription, int>* given) {
  given->value = given->object->id;
  return nullptr;
}

// HloModuleProto with the aliases of outputs (8) and the donors (18).
std::string module_from(const nlohmann::json& program) {
  std::string module, aliases, donors;
  const auto& outputs = program["outputs"];
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].contains("argument")) continue;
    std::string entry;
    if (outputs.size() > 1) add_bytes_field(entry, 1, std::string(1, static_cast<char>(i)));
    add_number_field(entry, 2, outputs[i]["argument"].get<std::uint64_t>());
    add_bytes_field(aliases, 1, entry);
  }
  for (const auto& donor : program.value("donors", nlohmann::json::array())) {
    std::string entry;
    add_number_field(entry, 1, donor.get<std::uint64_t>());
    add_bytes_field(donors, 1, entry);
  }
  add_bytes_field(module, 1, program["name"].get<std::string>());
  add_bytes_field(module, 8, aliases);
  add_bytes_field(module, 18, donors);
  return module;
}

Error* compile(CompileForTopologyArguments<RealExecutable>* given) {
  auto executable = std::make_unique<RealExecutable>();
  executable->program = nlohmann::json::parse(given->program->code, given->program->code + given->program->code_bytes);
  const auto& program = executable->program;
  if (program.contains("refusal")) return refuse(ErrorCode::resource_exhausted, program["refusal"].get<std::string>());
  executable->name = program["name"].get<std::string>();
  executable->module = module_from(program);
  for (const auto& output : program["outputs"]) {
    executable->types.push_back(output["type"].get<int>());
    for (const auto& size : output["dimensions"]) executable->dimensions.push_back(size.get<std::int64_t>());
    executable->ranks.push_back(output["dimensions"].size());
    executable->kinds.push_back(output["memory_kind"].get<std::string>());
    executable->layouts.push_back({output["layout"].get<std::string>()});
  }
  for (const std::string& kind : executable->kinds) {
    executable->kind_texts.push_back(kind.data());
    executable->kind_bytes.push_back(kind.size());
  }
  for (MemoryLayout& layout : executable->layouts) executable->layout_pointers.push_back(&layout);
  given->executable = executable.release();
  return nullptr;
}

Error* executable_destroy(Command<RealExecutable>* given) {
  delete given->object;
  return nullptr;
}
Error* executable_name(TextQuery<RealExecutable>* given) {
  given->text = given->object->name.data();
  given->bytes = given->object->name.size();
  return nullptr;
}
Error* executable_one(Query<RealExecutable, std::size_t>* given) {
  given->value = 1;
  return nullptr;
}
Error* output_types(ListQuery<RealExecutable, const int>* given) {
  given->items = given->object->types.data();
  given->count = given->object->types.size();
  return nullptr;
}
Error* output_kinds(TextListQuery<RealExecutable>* given) {
  given->count = given->object->kinds.size();
  given->texts = given->object->kind_texts.data();
  given->bytes = given->object->kind_bytes.data();
  return nullptr;
}
Error* output_dimensions(pjrt::OutputDimensionsQuery<RealExecutable>* given) {
  given->count = given->object->ranks.size();
  given->dimensions = given->object->dimensions.data();
  given->ranks = given->object->ranks.data();
  return nullptr;
}
Error* memory_stats(CompiledMemoryArguments<RealExecutable>* given) {
  const auto& program = given->object->program;
  given->code = program.value("code", 0);
  given->arguments = program.value("arguments", 0);
  given->outputs = program.value("output_bytes", 0);
  given->aliased = program.value("aliased", 0);
  given->temporaries = program.value("temporaries", std::int64_t{0});
  return nullptr;
}
Error* optimized_program(Query<RealExecutable, ProgramText*>* given) {
  const std::string& module = given->object->module;
  ProgramText& text = *given->value;
  text.format = "hlo";
  text.format_bytes = 3;
  if (text.code != nullptr) std::memcpy(text.code, module.data(), module.size());
  text.code_bytes = module.size();
  return nullptr;
}

// Row-major tiles of 8 x 128, whatever the type.
Error* default_layout(DefaultLayoutArguments<const Topology>* given) {
  std::string order;
  for (std::size_t i = given->rank; i-- > 0;) order += (order.empty() ? "" : ",") + std::to_string(i);
  given->layout = new MemoryLayout{"{" + order + (given->rank > 1 ? ":T(8,128)}" : ":T(128)}")};
  return nullptr;
}
Error* serialize(BytesQuery<MemoryLayout>* given) {
  given->bytes = given->object->text.data();
  given->size = given->object->text.size();
  given->owner = nullptr;
  given->deleter = nullptr;
  return nullptr;
}
Error* destroy_layout(Command<MemoryLayout>* given) {
  delete given->object;
  return nullptr;
}
Error* output_layouts(CountedListQuery<RealExecutable, MemoryLayout* const>* given) {
  given->items = given->object->layout_pointers.data();
  given->count = given->object->layout_pointers.size();
  return nullptr;
}

Error* device_memories(DeviceMemoriesArguments* given) {
  static const void* const memories[] = {"device", "pinned_host"};
  given->memories = memories;
  given->count = std::size(memories);
  given->default_index = 0;
  return nullptr;
}
Error* memory_kind(MemoryKindArguments* given) {
  given->kind = static_cast<const char*>(given->memory);
  given->kind_bytes = std::strlen(given->kind);
  given->kind_id = given->kind[0];
  return nullptr;
}

template <class Arguments>
void* function(Error* (*called)(Arguments*)) {
  return reinterpret_cast<void*>(called);
}

const Api* make_api() {
  static Api api{};
  static LayoutsExtension layouts{};
  static MemoriesExtension memories{};
  layouts.struct_bytes = sizeof(layouts);
  layouts.type = layouts_extension;
  layouts.next = &memories;
  layouts.destroy = function(destroy_layout);
  layouts.serialize = function(serialize);
  layouts.default_of_topology = function(default_layout);
  layouts.of_outputs = function(output_layouts);
  memories.struct_bytes = sizeof(memories);
  memories.type = memories_extension;
  memories.of_device = function(device_memories);
  memories.kind = function(memory_kind);
  api.struct_bytes = sizeof(api);
  api.extensions = &layouts;
  api.version_struct_bytes = 24;
  api.minor = 100;
  const auto set = [&](Function place, void* called) { api.functions[static_cast<unsigned>(place)] = called; };
  set(Function::Error_Destroy, function(destroy_error));
  set(Function::Error_Message, function(error_message));
  set(Function::Error_GetCode, function(error_code));
  set(Function::Plugin_Initialize, function(succeed));
  set(Function::TopologyDescription_Create, function(create_topology));
  set(Function::TopologyDescription_PlatformVersion, function(topology_version));
  set(Function::TopologyDescription_GetDeviceDescriptions, function(topology_devices));
  set(Function::DeviceDescription_Id, function(description_id));
  set(Function::Compile, function(compile));
  set(Function::Executable_Destroy, function(executable_destroy));
  set(Function::Executable_Name, function(executable_name));
  set(Function::Executable_Fingerprint, function(executable_name));
  set(Function::Executable_NumReplicas, function(executable_one));
  set(Function::Executable_NumPartitions, function(executable_one));
  set(Function::Executable_OutputElementTypes, function(output_types));
  set(Function::Executable_OutputDimensions, function(output_dimensions));
  set(Function::Executable_OutputMemoryKinds, function(output_kinds));
  set(Function::Executable_GetCompiledMemoryStats, function(memory_stats));
  set(Function::Executable_OptimizedProgram, function(optimized_program));
  return &api;
}

}  // namespace
}  // namespace hbmscope::allocator::tpu::plugin

extern "C" __attribute__((visibility("default"))) const void* GetPjrtApi() {
  static const auto* api = hbmscope::allocator::tpu::plugin::make_api();
  return api;
}
