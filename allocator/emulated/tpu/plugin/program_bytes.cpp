// Programs as bytes (MessagePack): for files that spare a second compilation, and for JAX's own compilation cache.
#include <nlohmann/json.hpp>

#include "allocator/emulated/tpu/plugin/compiled_program.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

using Json = nlohmann::json;

// Changes with every change of the format below.
constexpr std::string_view signature = "hbmscope TPU program 4\n";

Json json_from(const std::string& bytes) {
  return Json::binary({bytes.begin(), bytes.end()});
}
std::string bytes_from(const Json& json) {
  const auto& binary = json.get_binary();
  return {binary.begin(), binary.end()};
}

Json json_from(const std::vector<ProgramValue>& values) {
  Json list = Json::array();
  for (const ProgramValue& value : values)
    list.push_back({value.type, value.dimensions, value.layout, value.memory_kind, json_from(value.sharding)});
  return list;
}
std::vector<ProgramValue> values_from(const Json& list) {
  std::vector<ProgramValue> values;
  for (const Json& one : list)
    values.push_back({one.at(0).get<int>(), one.at(1).get<std::vector<std::int64_t>>(), one.at(2).get<std::string>(),
                      one.at(3).get<std::string>(), bytes_from(one.at(4))});
  return values;
}

Json json_from(const std::vector<CostProperty>& costs) {
  Json list = Json::array();
  for (const CostProperty& cost : costs)
    std::visit([&](const auto& value) { list.push_back({cost.name, cost.value.index(), value}); }, cost.value);
  return list;
}
std::vector<CostProperty> costs_from(const Json& list) {
  std::vector<CostProperty> costs;
  for (const Json& one : list) {
    CostProperty& cost = costs.emplace_back();
    cost.name = one.at(0).get<std::string>();
    switch (one.at(1).get<int>()) {
      case 0: cost.value = one.at(2).get<std::string>(); break;
      case 1: cost.value = one.at(2).get<std::int64_t>(); break;
      case 2: cost.value = one.at(2).get<float>(); break;
      default: cost.value = one.at(2).get<bool>();
    }
  }
  return costs;
}

// In the order of the fields.
constexpr std::int64_t CompiledBytes::*byte_figures[] = {
    &CompiledBytes::code,           &CompiledBytes::arguments,
    &CompiledBytes::outputs,        &CompiledBytes::aliased,
    &CompiledBytes::temporaries,    &CompiledBytes::host_code,
    &CompiledBytes::host_arguments, &CompiledBytes::host_outputs,
    &CompiledBytes::host_aliased,   &CompiledBytes::host_temporaries,
    &CompiledBytes::peak,           &CompiledBytes::total};

}  // namespace

std::string bytes_from_program(const CompiledProgram& program) {
  Json figures = Json::array();
  for (const auto figure : byte_figures) figures.push_back(program.bytes.*figure);
  const Json json = {{"name", program.name},
                     {"fingerprint", json_from(program.fingerprint)},
                     {"replicas", program.replicas},
                     {"partitions", program.partitions},
                     {"options", json_from(program.options)},
                     {"module_format", program.module_format},
                     {"module", json_from(program.module)},
                     {"bytes", std::move(figures)},
                     {"costs", json_from(program.costs)},
                     {"outputs", json_from(program.outputs)},
                     {"parameters", json_from(program.parameters)},
                     {"has_parameter_layouts", program.has_parameter_layouts},
                     {"has_shardings", program.has_shardings},
                     {"argument_of_output", program.argument_of_output},
                     {"donors", program.donors},
                     {"compile_seconds", program.compile_seconds},
                     {"plan", json_from(program.plan)},
                     {"was_plan_wanted", program.was_plan_wanted}};
  std::string bytes(signature);
  Json::to_msgpack(json, bytes);
  return bytes;
}

std::shared_ptr<const CompiledProgram> program_from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(signature)) return nullptr;
  bytes.remove_prefix(signature.size());
  try {
    const Json json = Json::from_msgpack(bytes.begin(), bytes.end());
    auto program = std::make_shared<CompiledProgram>();
    program->name = json.at("name").get<std::string>();
    program->fingerprint = bytes_from(json.at("fingerprint"));
    program->replicas = json.at("replicas").get<std::uint64_t>();
    program->partitions = json.at("partitions").get<std::uint64_t>();
    program->options = bytes_from(json.at("options"));
    program->module_format = json.at("module_format").get<std::string>();
    program->module = bytes_from(json.at("module"));
    for (std::size_t i = 0; i < std::size(byte_figures); ++i)
      program->bytes.*byte_figures[i] = json.at("bytes").at(i).get<std::int64_t>();
    program->costs = costs_from(json.at("costs"));
    program->outputs = values_from(json.at("outputs"));
    program->parameters = values_from(json.at("parameters"));
    program->has_parameter_layouts = json.at("has_parameter_layouts").get<bool>();
    program->has_shardings = json.at("has_shardings").get<bool>();
    program->argument_of_output = json.at("argument_of_output").get<std::vector<std::int64_t>>();
    program->donors = json.at("donors").get<std::vector<std::int64_t>>();
    program->compile_seconds = json.at("compile_seconds").get<double>();
    program->plan = bytes_from(json.at("plan"));
    program->was_plan_wanted = json.at("was_plan_wanted").get<bool>();
    if (program->argument_of_output.size() != program->outputs.size()) return nullptr;
    return program;
  } catch (const Json::exception&) {
    return nullptr;
  }
}

}  // namespace hbmscope::allocator::tpu::plugin
