// The client: the devices of the slice, all of them in this process.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>

#include "allocator/emulated/tpu/plugin/functions.h"
#include "allocator/emulated/tpu/plugin/settings.h"

namespace hbmscope::allocator::tpu::plugin {
namespace {

Client* only_client = nullptr;

NamedValue text_option(const char* name, const char* value) {
  NamedValue option{};
  option.struct_bytes = sizeof(option);
  option.name = name;
  option.name_bytes = std::strlen(name);
  option.kind = NamedValue::text;
  option.text_value = value;
  option.value_count = std::strlen(value);
  return option;
}

// v4 as JAX uses it has one device a chip, of both cores; libtpu's own default is one a core. Older versions of libtpu
// assume four chips a host unless bounds are given.
std::optional<Fault> create_topology(const Libtpu& libtpu, const Settings& given, Topology*& topology) {
  CreateTopologyArguments arguments{};
  arguments.name = given.topology.data();
  arguments.name_bytes = given.topology.size();
  std::vector<NamedValue> options;
  if (given.topology.starts_with("v4:")) options.push_back(text_option("chip_config_name", "megacore"));
  arguments.options = options.data();
  arguments.option_count = options.size();
  auto fault = libtpu.call(Function::TopologyDescription_Create, arguments);
  if (fault && given.topology.find(":1x1") != std::string::npos) {
    static constexpr std::int64_t one_chip[] = {1, 1, 1};
    NamedValue bounds = text_option("chips_per_host_bounds", "");
    bounds.kind = NamedValue::integers;
    bounds.integers_value = one_chip;
    bounds.value_count = std::size(one_chip);
    options.push_back(bounds);
    arguments.options = options.data();
    arguments.option_count = options.size();
    if (!libtpu.call(Function::TopologyDescription_Create, arguments)) fault.reset();
  }
  topology = arguments.topology;
  return fault;
}

void add_memory(Client& client, Device& device, std::string kind, int kind_id, bool is_default) {
  auto memory = std::make_unique<Memory>();
  memory->id = static_cast<int>(client.memory_pointers.size());
  memory->device = &device;
  memory->kind_id = kind_id;
  memory->text = "TPU_" + std::to_string(device.number) + " " + kind;
  memory->kind = std::move(kind);
  if (is_default) device.default_memory = memory.get();
  device.memory_pointers.push_back(memory.get());
  client.memory_pointers.push_back(memory.get());
  device.memories.push_back(std::move(memory));
}

void add_memories(const Libtpu& libtpu, Client& client, Device& device) {
  DeviceMemoriesArguments given{};
  given.device = device.description;
  if (!libtpu.call_extension(libtpu.extension_function(memories_extension, &MemoriesExtension::of_device), given))
    for (std::size_t i = 0; i < given.count; ++i) {
      MemoryKindArguments kind{};
      kind.memory = given.memories[i];
      if (!libtpu.call_extension(libtpu.extension_function(memories_extension, &MemoriesExtension::kind), kind))
        add_memory(client, device, std::string(kind.kind, kind.kind_bytes), kind.kind_id, i == given.default_index);
    }
  if (device.memories.empty()) add_memory(client, device, "device", 0, true);
  if (device.default_memory == nullptr) device.default_memory = device.memory_pointers.front();
}

std::optional<Fault> add_devices(const Libtpu& libtpu, const Settings& given, Client& client) {
  ListQuery<Topology, DeviceDescription* const> list{{}, client.topology, nullptr, 0};
  if (auto fault = libtpu.call(Function::TopologyDescription_GetDeviceDescriptions, list)) return fault;
  if (list.count > account_devices_max)
    return Fault{ErrorCode::invalid_argument, "hbmscope emulates at most " + std::to_string(account_devices_max) +
                                                  " TPU devices in one process, and " + given.topology + " has " +
                                                  std::to_string(list.count)};
  const std::uint64_t hbm_bytes = given.hbm_bytes != 0 ? given.hbm_bytes : client.generation->hbm_usable.value;
  for (std::size_t i = 0; i < list.count; ++i) {
    auto device = std::make_unique<Device>();
    device->number = static_cast<int>(i);
    device->description = list.items[i];
    Query<DeviceDescription, int> id{{}, device->description, 0};
    libtpu.call(Function::DeviceDescription_Id, id);
    device->id = id.value;
    device->books = std::make_unique<DeviceBooks>(static_cast<std::uint32_t>(i), hbm_bytes, given, *client.account);
    add_memories(libtpu, client, *device);
    client.device_pointers.push_back(device.get());
    client.devices.push_back(std::move(device));
  }
  client.account->device_count = list.count;
  return std::nullopt;
}

// A TPU belongs to one process at a time, which libtpu checks with a lock file, too. The lock ends with the process.
std::optional<Fault> take_slice(const Settings& given) {
  static bool is_taken = false;  // By this process.
  if (given.report.empty() || is_taken) return std::nullopt;
  const int file = open((given.report + "/tpu.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return std::nullopt;
  char owner[32] = "";
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    const ssize_t length = pread(file, owner, sizeof(owner) - 1, 0);
    close(file);
    return Fault{ErrorCode::aborted,
                 "The TPU is already in use by process with pid " + std::string(owner, length > 0 ? length : 0) +
                     ". hbmscope emulates the whole slice in one process: start one process for all hosts."};
  }
  is_taken = true;
  const std::string pid = std::to_string(getpid());
  if (ftruncate(file, 0) != 0 || pwrite(file, pid.data(), pid.size(), 0) < 0) return std::nullopt;
  return std::nullopt;
}

std::optional<Fault> fill(const Libtpu& libtpu, const Settings& given, Client& client) {
  client.generation = find_generation(given.topology.substr(0, given.topology.find(':')));
  if (client.generation == nullptr)
    return Fault{ErrorCode::invalid_argument, "HBMSCOPE_TPU_TOPOLOGY is '" + given.topology +
                                                  "', which does not begin with a generation such as v5e"};
  if (auto fault = take_slice(given)) return fault;
  if (auto fault = create_topology(libtpu, given, client.topology)) return fault;
  TextQuery<Topology> version{{}, client.topology, nullptr, 0};
  if (!libtpu.call(Function::TopologyDescription_PlatformVersion, version))
    client.version.assign(version.text, version.bytes);
  client.account = &open_tpu_account(given.report);
  client.account->topology.set(given.topology);
  client.account->compiler.set(client.version);
  client.host_room = HostRoom(given.host_bytes);
  return add_devices(libtpu, given, client);
}

template <class Matches>
Error* look_up(LookupArguments* given, const Matches& matches) {
  for (Device* device : given->client->device_pointers)
    if (matches(*device)) {
      given->device = device;
      return nullptr;
    }
  return make_error(ErrorCode::invalid_argument, "there is no TPU device " + std::to_string(given->id));
}

}  // namespace

Client* find_client() {
  return only_client;
}

Memory* Device::find_memory(std::string_view kind) const {
  for (Memory* memory : memory_pointers)
    if (memory->kind == kind) return memory;
  return default_memory;
}

Error* Client_Create(CreateClientArguments* given) {
  static std::mutex creating;
  const std::lock_guard lock(creating);
  if (only_client != nullptr) {  // JAX has dropped its backends, and makes them again.
    given->client = only_client;
    return nullptr;
  }
  auto client = std::make_unique<Client>();
  if (auto fault = fill(*Libtpu::get(), settings(), *client)) return make_error(fault->code, fault->text);
  // Kept until the process ends: the heaps that it reports must stay.
  given->client = only_client = client.release();
  return nullptr;
}

Error* Client_Destroy(Command<Client>*) {
  return nullptr;
}

Error* Client_PlatformName(TextQuery<Client>* given) {
  given->text = given->object->platform.data();
  given->bytes = given->object->platform.size();
  return nullptr;
}

Error* Client_ProcessIndex(Query<Client, int>* given) {
  given->value = 0;
  return nullptr;
}

Error* Client_PlatformVersion(TextQuery<Client>* given) {
  given->text = given->object->version.data();
  given->bytes = given->object->version.size();
  return nullptr;
}

Error* Client_Devices(ListQuery<Client, Device*>* given) {
  given->items = given->object->device_pointers.data();
  given->count = given->object->device_pointers.size();
  return nullptr;
}

Error* Client_AddressableDevices(ListQuery<Client, Device*>* given) {
  return Client_Devices(given);
}

Error* Client_LookupDevice(LookupArguments* given) {
  return look_up(given, [&](const Device& device) { return device.id == given->id; });
}

Error* Client_LookupAddressableDevice(LookupArguments* given) {
  return look_up(given, [&](const Device& device) { return device.number == given->id; });
}

Error* Client_AddressableMemories(ListQuery<Client, Memory*>* given) {
  given->items = given->object->memory_pointers.data();
  given->count = given->object->memory_pointers.size();
  return nullptr;
}

Error* Client_DefaultDeviceAssignment(DeviceAssignmentArguments* given) {
  const auto count = static_cast<std::size_t>(given->replicas) * static_cast<std::size_t>(given->partitions);
  if (count > given->client->devices.size())
    return make_error(ErrorCode::invalid_argument, "the program needs " + std::to_string(count) + " devices, and " +
                                                       settings().topology + " has " +
                                                       std::to_string(given->client->devices.size()));
  for (std::size_t i = 0; i < count; ++i) given->devices[i] = given->client->devices[i]->id;
  return nullptr;
}

Error* Client_TopologyDescription(Query<Client, Topology*>* given) {
  given->value = given->object->topology;
  return nullptr;
}

Error* Client_UpdateGlobalProcessInfo(Head*) {
  return nullptr;
}

Error* Client_DmaMap(Head*) {
  return nullptr;
}

Error* Client_DmaUnmap(Head*) {
  return nullptr;
}

}  // namespace hbmscope::allocator::tpu::plugin
