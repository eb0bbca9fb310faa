#include "collector/inject/driver_owners.h"

#include "collector/inject/driver_objects.h"

namespace hbmscope::inject::driver {
namespace {

constexpr std::size_t contexts_max = 255, modules_max = 1024, variables_max = 1024, devices_max = 64;
DriverObjects<contexts_max> contexts;    // Values: how many more times it was attached than detached.
DriverObjects<modules_max> modules;      // Values: the number of the context in which they were loaded.
DriverObjects<variables_max> variables;  // By address; values: the number of the module.
std::atomic<Object> primary_contexts[devices_max];
static_assert(contexts_max + modules_max <= wire::owners_max);

std::uint32_t number_of_module(std::size_t place) {
  return static_cast<std::uint32_t>(contexts_max + place + 1);
}

void end_owner(const DriverCall& call, std::uint32_t number) {
  wire::FreeAtRecord record;
  record.address = number;
  record.heap = wire::blocks_of;
  record.stack = rings.freeing_stack();
  rings.add_of_driver(record, call.since);
}

void end_module_at(const DriverCall& call, std::size_t place) {
  const std::uint32_t number = number_of_module(place);
  for (std::size_t i = 0; i < variables_max; ++i)
    if (variables.values[i].load(std::memory_order_relaxed) == number) {
      variables.values[i].store(0, std::memory_order_relaxed);
      variables.objects[i].store(nullptr, std::memory_order_release);
    }
  end_owner(call, number);
  modules.values[place].store(0, std::memory_order_relaxed);
  modules.objects[place].store(nullptr, std::memory_order_release);
}

bool is_device(Device device) {
  return device >= 0 && static_cast<std::size_t>(device) < devices_max;
}

}  // namespace

std::uint32_t number_of_context(const DriverCall& call) {
  return number_of_context(call.context());
}

std::uint32_t number_of_context(Object context) {
  if (context == nullptr) return 0;
  const std::size_t place = contexts.find_or_add(context);
  return place == contexts.none ? 0 : static_cast<std::uint32_t>(place + 1);
}

Variable note_variable(const DriverCall& call, Object module, Address at) {
  Variable variable;
  const auto key = reinterpret_cast<Object>(at);
  if (variables.find(key) != variables.none) {
    variable.is_reported = true;
    return variable;
  }
  const std::size_t place = modules.find_or_add(module);
  if (place == modules.none) return variable;
  modules.values[place].store(number_of_context(call), std::memory_order_relaxed);
  variable.owner = number_of_module(place);
  const std::size_t kept = variables.find_or_add(key);
  variable.is_kept = kept != variables.none;
  if (variable.is_kept) variables.values[kept].store(variable.owner, std::memory_order_relaxed);
  return variable;
}

void forget_reported_variables() {
  for (auto& variable : variables.objects) variable.store(nullptr, std::memory_order_relaxed);
  for (auto& module : variables.values) module.store(0, std::memory_order_relaxed);
}

void end_module(const DriverCall& call, Object module) {
  for (std::size_t place = 0; place < modules_max; ++place)
    if (module != nullptr && modules.objects[place].load(std::memory_order_acquire) == module)
      end_module_at(call, place);
}

void end_context(const DriverCall& call, Object context) {
  for (std::size_t place = 0; place < contexts_max; ++place) {
    if (context == nullptr || contexts.objects[place].load(std::memory_order_acquire) != context) continue;
    const auto number = static_cast<std::uint32_t>(place + 1);
    for (std::size_t module = 0; module < modules_max; ++module)
      if (modules.values[module].load(std::memory_order_relaxed) == number) end_module_at(call, module);
    end_owner(call, number);
    contexts.values[place].store(0, std::memory_order_relaxed);
    contexts.objects[place].store(nullptr, std::memory_order_release);
  }
}

void note_attached_context(Object context) {
  const std::size_t place = context == nullptr ? contexts.none : contexts.find_or_add(context);
  if (place != contexts.none) contexts.values[place].fetch_add(1, std::memory_order_relaxed);
}

void end_context_unless_attached(const DriverCall& call, Object context) {
  const std::size_t place = context == nullptr ? contexts.none : contexts.find(context);
  if (place != contexts.none && contexts.values[place].load(std::memory_order_relaxed) != 0)
    contexts.values[place].fetch_sub(1, std::memory_order_relaxed);
  else
    end_context(call, context);
}

void note_primary_context(Object context, Device device) {
  if (is_device(device)) primary_contexts[device].store(context, std::memory_order_release);
}

void end_primary_context(const DriverCall& call, Device device) {
  if (is_device(device)) end_context(call, primary_contexts[device].exchange(nullptr, std::memory_order_acq_rel));
}

void end_primary_context_unless_used(const DriverCall& call, Device device) {
  void* helper = call.may_ask_driver() ? find_helper(Api::cuda, "cuDevicePrimaryCtxGetState") : nullptr;
  unsigned flags = 0;
  int is_active = 1;
  if (helper == nullptr ||
      reinterpret_cast<Result (*)(Device, unsigned*, int*)>(helper)(device, &flags, &is_active) != success)
    return;
  if (is_active == 0) end_primary_context(call, device);
}

}  // namespace hbmscope::inject::driver
