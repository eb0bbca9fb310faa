// What PJRT asks about executables: everything is in CompiledProgram.
#include <algorithm>
#include <cstring>

#include "allocator/emulated/tpu/plugin/functions.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

Error* give(std::string bytes, const char*& data, std::size_t& size, void*& owner, void (*&deleter)(void*)) {
  auto* kept = new std::string(std::move(bytes));
  data = kept->data();
  size = kept->size();
  owner = kept;
  deleter = [](void* text) { delete static_cast<std::string*>(text); };
  return nullptr;
}

template <class Object>
Error* give_texts(TextListQuery<Object>* given, const ExecutableFacts::Texts& texts) {
  given->count = texts.texts.size();
  given->texts = texts.texts.data();
  given->bytes = texts.bytes.data();
  return nullptr;
}

NamedValue named_value_from(const CostProperty& cost) {
  NamedValue value{};
  value.struct_bytes = sizeof(value);
  value.name = cost.name.data();
  value.name_bytes = cost.name.size();
  value.value_count = 1;
  if (const auto* text = std::get_if<std::string>(&cost.value)) {
    value.kind = NamedValue::text;
    value.text_value = text->data();
    value.value_count = text->size();
  } else if (const auto* integer = std::get_if<std::int64_t>(&cost.value)) {
    value.kind = NamedValue::integer;
    value.integer_value = *integer;
  } else if (const auto* number = std::get_if<float>(&cost.value)) {
    value.kind = NamedValue::number;
    value.number_value = *number;
  } else {
    value.kind = NamedValue::flag;
    value.flag_value = std::get<bool>(cost.value);
  }
  return value;
}

void add_layouts(const std::vector<ProgramValue>& values, std::vector<MemoryLayout>& layouts,
                 std::vector<MemoryLayout*>& pointers) {
  for (const ProgramValue& value : values) layouts.push_back({nullptr, value.layout, true});
  for (MemoryLayout& layout : layouts) pointers.push_back(&layout);
}

}  // namespace

void ExecutableFacts::Texts::add(const std::string& text) {
  texts.push_back(text.data());
  bytes.push_back(text.size());
}

ExecutableFacts::ExecutableFacts(std::shared_ptr<const CompiledProgram> compiled) : program(std::move(compiled)) {
  for (const ProgramValue& output : program->outputs) {
    types.push_back(output.type);
    dimensions.insert(dimensions.end(), output.dimensions.begin(), output.dimensions.end());
    ranks.push_back(output.dimensions.size());
    output_kinds.add(output.memory_kind);
    output_shardings.add(output.sharding);
  }
  for (const ProgramValue& parameter : program->parameters) {
    parameter_kinds.add(parameter.memory_kind);
    parameter_shardings.add(parameter.sharding);
  }
  add_layouts(program->outputs, output_layouts, output_layout_pointers);
  if (program->has_parameter_layouts) add_layouts(program->parameters, parameter_layouts, parameter_layout_pointers);
  for (const CostProperty& cost : program->costs) costs.push_back(named_value_from(cost));
}

Error* Executable_Destroy(Command<Executable>* given) {
  delete given->object;
  return nullptr;
}

Error* Executable_Name(TextQuery<Executable>* given) {
  const std::string& name = given->object->facts->program->name;
  given->text = name.data();
  given->bytes = name.size();
  return nullptr;
}

Error* Executable_Fingerprint(TextQuery<Executable>* given) {
  const std::string& fingerprint = given->object->facts->program->fingerprint;
  given->text = fingerprint.data();
  given->bytes = fingerprint.size();
  return nullptr;
}

Error* Executable_NumReplicas(Query<Executable, std::size_t>* given) {
  given->value = given->object->facts->program->replicas;
  return nullptr;
}

Error* Executable_NumPartitions(Query<Executable, std::size_t>* given) {
  given->value = given->object->facts->program->partitions;
  return nullptr;
}

Error* Executable_NumOutputs(Query<Executable, std::size_t>* given) {
  given->value = given->object->facts->program->outputs.size();
  return nullptr;
}

Error* Executable_SizeOfGeneratedCodeInBytes(Query<Executable, std::int64_t>* given) {
  given->value = given->object->facts->program->bytes.code;
  return nullptr;
}

Error* Executable_GetCostAnalysis(CountedListQuery<Executable, const NamedValue>* given) {
  given->items = given->object->facts->costs.data();
  given->count = given->object->facts->costs.size();
  return nullptr;
}

Error* Executable_OutputMemoryKinds(TextListQuery<Executable>* given) {
  return give_texts(given, given->object->facts->output_kinds);
}

Error* Executable_ParameterMemoryKinds(TextListQuery<Executable>* given) {
  return give_texts(given, given->object->facts->parameter_kinds);
}

Error* Executable_OptimizedProgram(Query<Executable, ProgramText*>* given) {
  const CompiledProgram& program = *given->object->facts->program;
  ProgramText& text = *given->value;
  if (program.module.empty())
    return make_error(ErrorCode::unimplemented, "the compiler did not give its optimized program");
  text.format = program.module_format.data();
  text.format_bytes = program.module_format.size();
  if (text.code != nullptr)
    std::memcpy(text.code, program.module.data(), std::min(text.code_bytes, program.module.size()));
  text.code_bytes = program.module.size();
  return nullptr;
}

Error* Executable_Serialize(BytesQuery<Executable>* given) {
  return give(bytes_from_program(*given->object->facts->program), given->bytes, given->size, given->owner,
              given->deleter);
}

Error* Executable_GetCompileOptions(BytesQuery<Executable>* given) {
  return give(given->object->facts->program->options, given->bytes, given->size, given->owner, given->deleter);
}

Error* Executable_OutputElementTypes(ListQuery<Executable, const int>* given) {
  given->items = given->object->facts->types.data();
  given->count = given->object->facts->types.size();
  return nullptr;
}

Error* Executable_OutputDimensions(pjrt::OutputDimensionsQuery<Executable>* given) {
  const ExecutableFacts& facts = *given->object->facts;
  given->count = facts.ranks.size();
  given->dimensions = facts.dimensions.data();
  given->ranks = facts.ranks.data();
  return nullptr;
}

// Older callers know fewer figures.
Error* Executable_GetCompiledMemoryStats(CompiledMemoryArguments<Executable>* given) {
  const CompiledBytes& bytes = given->object->facts->program->bytes;
  CompiledMemoryArguments<Executable> answer{};
  static_cast<Head&>(answer) = *given;
  answer.object = given->object;
  answer.code = bytes.code;
  answer.arguments = bytes.arguments;
  answer.outputs = bytes.outputs;
  answer.aliased = bytes.aliased;
  answer.temporaries = bytes.temporaries;
  answer.host_code = bytes.host_code;
  answer.host_arguments = bytes.host_arguments;
  answer.host_outputs = bytes.host_outputs;
  answer.host_aliased = bytes.host_aliased;
  answer.host_temporaries = bytes.host_temporaries;
  answer.peak = bytes.peak;
  answer.total = bytes.total;
  std::memcpy(static_cast<void*>(given), &answer, std::min(answer.struct_bytes, sizeof(answer)));
  return nullptr;
}

Error* LoadedExecutable_Destroy(Command<LoadedExecutable>* given) {
  LoadedExecutable* executable = given->object;
  if (executable == nullptr) return nullptr;
  LoadedExecutable_Delete(given);
  delete executable;
  return nullptr;
}

Error* LoadedExecutable_Delete(Command<LoadedExecutable>* given) {
  LoadedExecutable& executable = *given->object;
  const std::lock_guard lock(executable.client->mutex);
  if (!std::exchange(executable.is_deleted, true))
    for (Device* device : executable.client->device_pointers) device->books->forget(executable.program);
  return nullptr;
}

Error* LoadedExecutable_IsDeleted(Query<LoadedExecutable, bool>* given) {
  const std::lock_guard lock(given->object->client->mutex);
  given->value = given->object->is_deleted;
  return nullptr;
}

Error* LoadedExecutable_GetExecutable(Query<LoadedExecutable, Executable*>* given) {
  given->value = new Executable{nullptr, given->object->facts};
  return nullptr;
}

Error* LoadedExecutable_AddressableDevices(ListQuery<LoadedExecutable, Device*>* given) {
  given->items = given->object->devices.data();
  given->count = given->object->devices.size();
  return nullptr;
}

Error* LoadedExecutable_AddressableDeviceLogicalIds(ListQuery<LoadedExecutable, const LogicalId>* given) {
  given->items = given->object->logical_ids.data();
  given->count = given->object->logical_ids.size();
  return nullptr;
}

Error* LoadedExecutable_GetDeviceAssignment(BytesQuery<LoadedExecutable>* given) {
  return give(given->object->assignment, given->bytes, given->size, given->owner, given->deleter);
}

Error* LoadedExecutable_Fingerprint(TextQuery<LoadedExecutable>* given) {
  const std::string& fingerprint = given->object->facts->program->fingerprint;
  given->text = fingerprint.data();
  given->bytes = fingerprint.size();
  return nullptr;
}

}  // namespace hbmscope::allocator::tpu::plugin
