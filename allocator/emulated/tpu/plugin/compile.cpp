// From a program's text to an executable: libtpu compiles it, unless the result is known from an earlier time.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "allocator/emulated/tpu/plugin/functions.h"
#include "allocator/emulated/tpu/plugin/program_cache.h"
#include "allocator/emulated/tpu/plugin/settings.h"
#include "allocator/emulated/tpu/plugin/wire.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

namespace fs = std::filesystem;

// Fields of CompileOptionsProto, ExecutableBuildOptionsProto, OptionOverrideProto
// (xla/pjrt/proto/compile_options.proto) and DeviceAssignmentProto (xla/xla_data.proto).
constexpr unsigned build_options = 3, option_overrides = 7;
constexpr unsigned replica_count = 4, partition_count = 5, device_assignment = 9;
constexpr unsigned override_text = 1, override_flag = 2;
constexpr unsigned map_key = 1, map_value = 2;
constexpr unsigned assignment_replicas = 1, assignment_partitions = 2, assignment_devices = 3, replica_devices = 1;

// "jit_train_step": a module's name is one of the first texts in MLIR's bytecode. Only for messages.
std::string find_name(std::string_view code) {
  for (const std::string_view prefix : {"jit_", "pmap_", "SyncTensorsGraph"}) {
    const std::size_t begin = code.find(prefix);
    if (begin == code.npos) continue;
    std::size_t end = begin;
    while (end < code.size() && (std::isalnum(static_cast<unsigned char>(code[end])) != 0 || code[end] == '_')) ++end;
    return std::string(code.substr(begin, end - begin));
  }
  return "a program";
}

// The same options, with the compiler's plan written to the folder.
std::string options_with_dump(std::string_view options, const std::string& folder) {
  std::string given(options);
  const auto add = [&](std::string_view name, const std::string& value) {
    std::string entry;
    add_bytes_field(entry, map_key, name);
    add_bytes_field(entry, map_value, value);
    add_bytes_field(given, option_overrides, entry);
  };
  std::string text, flag;
  add_bytes_field(text, override_text, folder);
  add_number_field(flag, override_flag, 1);
  add("xla_dump_to", text);
  add("xla_dump_hlo_as_proto", flag);
  return given;
}

// Which devices a program runs on, and as which replica and partition.
struct Placement {
  std::vector<Device*> devices;
  std::vector<LogicalId> ids;
  std::string assignment;
};

Device* find_device(const Client& client, std::int64_t id) {
  for (Device* device : client.device_pointers)
    if (device->id == id) return device;
  return nullptr;
}

std::string serialized_assignment(std::int64_t replicas, std::int64_t partitions, const std::vector<Device*>& devices) {
  std::string message;
  add_number_field(message, assignment_replicas, static_cast<std::uint64_t>(replicas));
  add_number_field(message, assignment_partitions, static_cast<std::uint64_t>(partitions));
  for (std::int64_t partition = 0; partition < partitions; ++partition) {
    std::string ids, computation;
    for (std::int64_t replica = 0; replica < replicas; ++replica)
      add_number(ids,
                 static_cast<std::uint64_t>(devices[static_cast<std::size_t>(replica * partitions + partition)]->id));
    add_bytes_field(computation, replica_devices, ids);
    add_bytes_field(message, assignment_devices, computation);
  }
  return message;
}

Placement placement_from(const Client& client, std::string_view options) {
  std::int64_t replicas = 1, partitions = 1;
  Placement placement;
  for (Fields fields(options); fields.next();) {
    if (fields.number() != build_options || !fields.is_message()) continue;
    for (Fields build(fields.bytes()); build.next();) {
      if (build.number() == replica_count) replicas = static_cast<std::int64_t>(build.value());
      if (build.number() == partition_count) partitions = static_cast<std::int64_t>(build.value());
      if (build.number() == device_assignment) placement.assignment = build.bytes();
    }
  }
  int partition = 0;
  for (Fields fields(placement.assignment); fields.next();) {
    if (fields.number() != assignment_devices || !fields.is_message()) continue;
    std::vector<std::int64_t> ids;
    for (Fields devices(fields.bytes()); devices.next();)
      if (devices.number() == replica_devices) devices.add_to(ids);
    for (std::size_t replica = 0; replica < ids.size(); ++replica)
      if (Device* device = find_device(client, ids[replica])) {
        placement.devices.push_back(device);
        placement.ids.push_back({static_cast<int>(replica), partition});
      }
    ++partition;
  }
  if (!placement.devices.empty()) return placement;
  replicas = std::max<std::int64_t>(replicas, 1);
  partitions = std::max<std::int64_t>(partitions, 1);
  for (std::int64_t i = 0; i < replicas * partitions && i < static_cast<std::int64_t>(client.devices.size()); ++i) {
    placement.devices.push_back(client.device_pointers[static_cast<std::size_t>(i)]);
    placement.ids.push_back({static_cast<int>(i / partitions), static_cast<int>(i % partitions)});
  }
  if (placement.devices.size() == static_cast<std::size_t>(replicas * partitions))
    placement.assignment = serialized_assignment(replicas, partitions, placement.devices);
  return placement;
}

// The compiler writes its plan to files; the one with the assignment of buffers is kept.
class PlanFolder {
 public:
  PlanFolder() {
    if (settings().plans.empty()) return;
    std::string name = settings().plans + "/compiling-XXXXXX";
    std::error_code error;
    fs::create_directories(settings().plans, error);
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~PlanFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  PlanFolder(const PlanFolder&) = delete;
  PlanFolder& operator=(const PlanFolder&) = delete;

  const std::string& path() const { return path_; }  // Empty: no plan is wanted.
  std::string read() const {
    std::error_code error;
    if (path_.empty()) return {};
    for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().string().ends_with(".after_optimizations.hlo.pb")) {
        std::ifstream file(entry->path(), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
      }
    return {};
  }

 private:
  std::string path_;
};

// Named like XLA's own dumps, so that a folder of them is opened as one program each.
void write_plan(const std::string& name, const std::string& plan) {
  if (settings().plans.empty() || plan.empty()) return;
  std::error_code error;
  fs::create_directories(settings().plans, error);
  std::ofstream file(settings().plans + "/" + name + ".hlo.pb", std::ios::binary);
  file.write(plan.data(), static_cast<std::streamsize>(plan.size()));
}

std::string plan_name(std::uint64_t number, const std::string& program) {
  char prefix[32];
  std::snprintf(prefix, sizeof(prefix), "module_%04llu.", static_cast<unsigned long long>(number));
  return prefix + program;
}

LoadedExecutable* load(Client& client, std::shared_ptr<const CompiledProgram> program, std::string_view options) {
  auto loaded = std::make_unique<LoadedExecutable>();
  loaded->client = &client;
  Placement placement = placement_from(client, options);
  loaded->devices = std::move(placement.devices);
  loaded->logical_ids = std::move(placement.ids);
  loaded->assignment = std::move(placement.assignment);
  for (const ProgramValue& output : program->outputs) {
    const ArrayLayout* layout =
        layout_or_default(client.topology, *client.generation, output.type, output.dimensions, output.layout);
    loaded->output_layouts.push_back(layout);
    if (output.is_on_device()) loaded->output_array_bytes += layout->bytes;
  }
  loaded->facts = std::make_shared<const ExecutableFacts>(std::move(program));
  {
    const std::lock_guard lock(client.mutex);
    loaded->program = client.next_program++;
  }
  const CompiledProgram& compiled = *loaded->facts->program;
  write_plan(plan_name(loaded->program, compiled.name), compiled.plan);
  return loaded.release();
}

// "19.83G" at the beginning of a text; no value: something else.
std::optional<std::uint64_t> printed_size(std::string_view text) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr == text.data() + text.size()) return std::nullopt;
  constexpr std::string_view units = "BKMGT";
  const std::size_t unit = units.find(*parsed.ptr);
  if (unit == units.npos) return std::nullopt;
  return static_cast<std::uint64_t>(number * static_cast<double>(std::uint64_t{1} << (10 * unit)));
}

// The two forms in which libtpu 0.0.51 says it for HBM.
std::optional<std::uint64_t> needed_bytes_in(std::string_view text) {
  for (const std::string_view before : {"required for HLO temporaries (", "in memory space hbm. Used "}) {
    const std::size_t at = text.find(before);
    if (at == text.npos) continue;
    if (const auto bytes = printed_size(text.substr(at + before.size()))) return bytes;
  }
  return std::nullopt;
}

void note_refusal(Client& client, const std::string& program, std::string_view options, const Fault& fault) {
  if (fault.code != ErrorCode::resource_exhausted) return;
  const std::string headline = fault.text.substr(0, fault.text.find('\n'));
  const std::lock_guard lock(client.mutex);
  ++client.account->compiler_refusals;
  client.account->refused_program.set(program);
  const auto needed_bytes = needed_bytes_in(fault.text);
  if (!needed_bytes) return;  // The refusal is about another memory than HBM, which has no heap here.
  // Every device of the program would need as much; one report is enough.
  if (const auto devices = placement_from(client, options).devices; !devices.empty())
    devices.front()->books->note_compiler_refusal(*needed_bytes, headline);
}

struct Request {
  const ProgramText& text;
  std::string_view options;
};

ProgramResult compile_now(Client& client, const Request& request) {
  const PlanFolder folder;
  const std::string options =
      folder.path().empty() ? std::string(request.options) : options_with_dump(request.options, folder.path());
  CompileForTopologyArguments<RealExecutable> arguments{};
  arguments.topology = client.topology;
  arguments.program = &request.text;
  arguments.options = options.data();
  arguments.options_bytes = options.size();
  const auto begin = std::chrono::steady_clock::now();
  if (auto fault = Libtpu::get()->call(Function::Compile, arguments)) {
    // The plan of a program that is too large is there all the same.
    write_plan("refused." + find_name(std::string_view(request.text.code, request.text.code_bytes)), folder.read());
    return std::move(*fault);
  }
  const auto plan = folder.path().empty() ? std::nullopt : std::optional(folder.read());
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return read_executable(*Libtpu::get(), arguments.executable, request.options, passed.count(), plan);
}

// If there are several at a time, the one that began last.
void note_compiling(Client& client, const std::string& name) {
  const std::lock_guard lock(client.mutex);
  client.account->compiling.set(name);
}

ProgramResult compile(Client& client, const Request& request) {
  const std::string_view code(request.text.code, request.text.code_bytes);
  const ProgramCache cache(settings().cache);
  // Flags of libtpu change what it plans, too.
  const std::string key = ProgramCache::key_from(
      {code, with_sorted_maps(request.options), client.version, settings().topology, settings().compiler_flags});
  if (auto known = cache.find(key); known != nullptr && (settings().plans.empty() || known->was_plan_wanted)) {
    const std::lock_guard lock(client.mutex);
    ++client.account->cached_programs;
    return known;
  }
  const std::string name = find_name(code);
  note_compiling(client, name);
  ProgramResult result = compile_now(client, request);
  note_compiling(client, "");
  if (const Fault* fault = std::get_if<Fault>(&result)) {
    note_refusal(client, name, request.options, *fault);
    return result;
  }
  const auto& program = std::get<0>(result);
  cache.keep(key, *program);
  const std::lock_guard lock(client.mutex);
  ++client.account->compiled_programs;
  if (program->module.empty() && program->bytes.aliased > 0) ++client.account->programs_without_aliases;
  client.account->compile_seconds += program->compile_seconds;
  return result;
}

}  // namespace

Error* Client_Compile(CompileArguments* given) {
  const std::string_view options(given->options, given->options_bytes);
  ProgramResult result = compile(*given->client, {*given->program, options});
  if (const Fault* fault = std::get_if<Fault>(&result)) return make_error(fault->code, fault->text);
  given->executable = load(*given->client, std::get<0>(std::move(result)), options);
  return nullptr;
}

// Ahead of time, for any topology: such a program isn't run here, but its plan can be asked for.
Error* Compile(CompileForTopologyArguments<Executable>* given) {
  CompileForTopologyArguments<RealExecutable> arguments{};
  static_cast<Head&>(arguments) = *given;
  arguments.topology = given->topology;
  arguments.program = given->program;
  arguments.options = given->options;
  arguments.options_bytes = given->options_bytes;
  if (auto fault = Libtpu::get()->call(Function::Compile, arguments)) return make_error(fault->code, fault->text);
  ProgramResult result = read_executable(*Libtpu::get(), arguments.executable,
                                         std::string_view(given->options, given->options_bytes), 0, {});
  if (const Fault* fault = std::get_if<Fault>(&result)) return make_error(fault->code, fault->text);
  given->executable = new Executable{nullptr, std::make_shared<const ExecutableFacts>(std::get<0>(std::move(result)))};
  return nullptr;
}

Error* Executable_DeserializeAndLoad(DeserializeArguments* given) {
  auto program = program_from_bytes(std::string_view(given->bytes, given->size));
  if (program == nullptr)
    return make_error(ErrorCode::invalid_argument,
                      "this executable was not serialized by this version of hbmscope's emulated TPU");
  const bool has_options = given->struct_bytes >= sizeof(*given) && given->options != nullptr;
  const std::string options = has_options ? std::string(given->options, given->options_bytes) : program->options;
  given->executable = load(*given->client, std::move(program), options);
  return nullptr;
}

}  // namespace hbmscope::allocator::tpu::plugin
