#include "allocator/emulated/tpu/plugin/compiled_program.h"

#include <algorithm>
#include <utility>

#include "allocator/emulated/tpu/plugin/wire.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

// A list of pointers and one of sizes, of the compiler.
std::vector<std::string> texts_from(const TextListQuery<RealExecutable>& answer) {
  std::vector<std::string> texts;
  if (answer.texts != nullptr && answer.bytes != nullptr)
    for (std::size_t i = 0; i < answer.count; ++i) texts.emplace_back(answer.texts[i], answer.bytes[i]);
  return texts;
}

class Reader {
 public:
  Reader(const Libtpu& libtpu, RealExecutable* executable) : libtpu_(libtpu), executable_(executable) {}

  std::optional<Fault> read(CompiledProgram& program) {
    TextQuery<RealExecutable> text{{}, executable_, nullptr, 0};
    if (auto fault = libtpu_.call(Function::Executable_Name, text)) return fault;
    program.name.assign(text.text, text.bytes);
    if (!libtpu_.call(Function::Executable_Fingerprint, text)) program.fingerprint.assign(text.text, text.bytes);
    Query<RealExecutable, std::size_t> count{{}, executable_, 0};
    if (!libtpu_.call(Function::Executable_NumReplicas, count)) program.replicas = count.value;
    if (!libtpu_.call(Function::Executable_NumPartitions, count)) program.partitions = count.value;
    if (auto fault = read_bytes(program.bytes)) return fault;
    if (auto fault = read_outputs(program)) return fault;
    read_costs(program);
    read_module(program);
    read_parameters(program);
    read_shardings(program);
    return std::nullopt;
  }

 private:
  std::optional<Fault> read_bytes(CompiledBytes& bytes) const {
    CompiledMemoryArguments<RealExecutable> given{};
    given.object = executable_;
    if (auto fault = libtpu_.call(Function::Executable_GetCompiledMemoryStats, given)) return fault;
    bytes = {given.code,         given.arguments,        given.outputs,        given.aliased,
             given.temporaries,  given.host_code,        given.host_arguments, given.host_outputs,
             given.host_aliased, given.host_temporaries, given.peak,           given.total};
    return std::nullopt;
  }

  std::optional<Fault> read_outputs(CompiledProgram& program) const {
    ListQuery<RealExecutable, const int> types{{}, executable_, nullptr, 0};
    if (auto fault = libtpu_.call(Function::Executable_OutputElementTypes, types)) return fault;
    struct : Head {
      RealExecutable* executable = nullptr;
      std::size_t count = 0;
      const std::int64_t* dimensions = nullptr;
      const std::size_t* ranks = nullptr;
    } shapes;
    shapes.executable = executable_;
    if (auto fault = libtpu_.call(Function::Executable_OutputDimensions, shapes)) return fault;
    program.outputs.resize(std::min(types.count, shapes.count));
    const std::int64_t* dimension = shapes.dimensions;
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
      program.outputs[i].type = types.items[i];
      program.outputs[i].dimensions.assign(dimension, dimension + shapes.ranks[i]);
      program.outputs[i].memory_kind = "device";
      dimension += shapes.ranks[i];
    }
    TextListQuery<RealExecutable> kinds{{}, executable_, 0, nullptr, nullptr};
    if (!libtpu_.call(Function::Executable_OutputMemoryKinds, kinds)) set_kinds(program.outputs, kinds);
    const auto layouts = read_layouts(&LayoutsExtension::of_outputs);
    for (std::size_t i = 0; i < std::min(layouts.size(), program.outputs.size()); ++i)
      program.outputs[i].layout = layouts[i];
    return std::nullopt;
  }

  static void set_kinds(std::vector<ProgramValue>& values, const TextListQuery<RealExecutable>& kinds) {
    const auto texts = texts_from(kinds);
    for (std::size_t i = 0; i < std::min(texts.size(), values.size()); ++i) values[i].memory_kind = texts[i];
  }

  // The layouts belong to the executable.
  std::vector<std::string> read_layouts(void* LayoutsExtension::*function) const {
    CountedListQuery<RealExecutable, MemoryLayout* const> list{{}, executable_, 0, nullptr};
    std::vector<std::string> layouts;
    if (libtpu_.call_extension(libtpu_.extension_function(layouts_extension, function), list)) return layouts;
    for (std::size_t i = 0; i < list.count; ++i) layouts.push_back(libtpu_.text_from_layout(list.items[i]));
    return layouts;
  }

  void read_costs(CompiledProgram& program) const {
    CountedListQuery<RealExecutable, const NamedValue> costs{{}, executable_, 0, nullptr};
    if (libtpu_.call(Function::Executable_GetCostAnalysis, costs)) return;
    for (std::size_t i = 0; i < costs.count; ++i) {
      const NamedValue& given = costs.items[i];
      CostProperty cost{std::string(given.name, given.name_bytes), 0.0F};
      switch (given.kind) {
        case NamedValue::text: cost.value = std::string(given.text_value, given.value_count); break;
        case NamedValue::integer: cost.value = given.integer_value; break;
        case NamedValue::number: cost.value = given.number_value; break;
        case NamedValue::flag: cost.value = given.flag_value; break;
        case NamedValue::integers: continue;
      }
      program.costs.push_back(std::move(cost));
    }
  }

  void read_module(CompiledProgram& program) const {
    ProgramText text{};
    text.struct_bytes = sizeof(text);
    Query<RealExecutable, ProgramText*> given{{}, executable_, &text};
    if (libtpu_.call(Function::Executable_OptimizedProgram, given)) return;
    program.module.resize(text.code_bytes);
    text.code = program.module.data();
    if (libtpu_.call(Function::Executable_OptimizedProgram, given)) return program.module.clear();
    program.module_format.assign(text.format, text.format_bytes);
    read_aliases(program);
  }

  // HloModuleProto, in xla/service/hlo.proto: 8 input_output_alias, 18 buffer_donor. With its configuration it is field
  // 1 of HloModuleProtoWithConfig.
  static void read_aliases(CompiledProgram& program) {
    program.argument_of_output.assign(program.outputs.size(), -1);
    std::string_view module = program.module;
    if (program.module_format == "hlo_with_config")
      for (Fields fields(module); fields.next();)
        if (fields.number() == 1 && fields.is_message()) {
          module = fields.bytes();
          break;
        }
    for (Fields fields(module); fields.next();) {
      if (!fields.is_message() || (fields.number() != 8 && fields.number() != 18)) continue;
      for (Fields entries(fields.bytes()); entries.next();)
        if (entries.number() == 1 && entries.is_message()) {
          if (fields.number() == 8)
            read_alias(entries.bytes(), program);
          else
            program.donors.push_back(parameter_of(entries.bytes(), 1, 2));
        }
    }
  }

  // Parameters are numbered, or one tuple whose elements are.
  static std::int64_t parameter_of(std::string_view entry, unsigned number_field, unsigned index_field) {
    std::int64_t number = 0;
    std::vector<std::int64_t> index;
    for (Fields fields(entry); fields.next();) {
      if (fields.number() == number_field) number = static_cast<std::int64_t>(fields.value());
      if (fields.number() == index_field) fields.add_to(index);
    }
    return index.empty() ? number : index.front();
  }

  static void read_alias(std::string_view entry, CompiledProgram& program) {
    std::vector<std::int64_t> output;
    for (Fields fields(entry); fields.next();)
      if (fields.number() == 1) fields.add_to(output);
    const std::size_t number = output.empty() ? 0 : static_cast<std::size_t>(output.front());
    if (number < program.argument_of_output.size()) program.argument_of_output[number] = parameter_of(entry, 2, 3);
  }

  void read_parameters(CompiledProgram& program) const {
    const auto layouts = read_layouts(&LayoutsExtension::of_parameters);
    TextListQuery<RealExecutable> kinds{{}, executable_, 0, nullptr, nullptr};
    const bool has_kinds = !libtpu_.call(Function::Executable_ParameterMemoryKinds, kinds);
    program.has_parameter_layouts = !layouts.empty();
    program.parameters.resize(std::max(layouts.size(), has_kinds ? kinds.count : 0));
    for (ProgramValue& parameter : program.parameters) parameter.memory_kind = "device";
    if (has_kinds) set_kinds(program.parameters, kinds);
    for (std::size_t i = 0; i < layouts.size(); ++i) program.parameters[i].layout = layouts[i];
  }

  void read_shardings(CompiledProgram& program) const {
    const auto ask = [&](void* ShardingsExtension::*function, std::vector<ProgramValue>& values) {
      TextListQuery<RealExecutable> shardings{{}, executable_, 0, nullptr, nullptr};
      if (libtpu_.call_extension(libtpu_.extension_function(shardings_extension, function), shardings)) return false;
      const auto texts = texts_from(shardings);
      if (values.size() < texts.size()) values.resize(texts.size());
      for (std::size_t i = 0; i < texts.size(); ++i) values[i].sharding = texts[i];
      return shardings.texts != nullptr;
    };
    const bool has_of_parameters = ask(&ShardingsExtension::of_parameters, program.parameters);
    const bool has_of_outputs = ask(&ShardingsExtension::of_outputs, program.outputs);
    program.has_shardings = has_of_parameters && has_of_outputs;
  }

  const Libtpu& libtpu_;
  RealExecutable* executable_;
};

}  // namespace

std::uint64_t CompiledProgram::tuple_table_bytes(std::uint64_t output_array_bytes) const {
  const auto all = static_cast<std::uint64_t>(bytes.outputs);
  return all > output_array_bytes ? all - output_array_bytes : 0;
}

ProgramResult read_executable(const Libtpu& libtpu, RealExecutable* executable, std::string_view options,
                              double compile_seconds, std::optional<std::string> plan) {
  auto program = std::make_shared<CompiledProgram>();
  program->options = options;
  program->compile_seconds = compile_seconds;
  program->was_plan_wanted = plan.has_value();
  program->plan = std::move(plan).value_or(std::string());
  auto fault = Reader(libtpu, executable).read(*program);
  Command<RealExecutable> destroyed{{}, executable};
  libtpu.call(Function::Executable_Destroy, destroyed);
  if (fault) return std::move(*fault);
  program->argument_of_output.resize(program->outputs.size(), -1);
  return std::shared_ptr<const CompiledProgram>(std::move(program));
}

}  // namespace hbmscope::allocator::tpu::plugin
