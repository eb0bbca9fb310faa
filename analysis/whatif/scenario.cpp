#include "analysis/whatif/scenario.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "allocator/emulated/gpus/gpus.h"
#include "allocator/reference/catalog/jax_plugin_options.h"
#include "allocator/reference/catalog/setup.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

using allocator::Operation;

constexpr std::uint64_t never = ~std::uint64_t{0};

// The operation that frees the block of each request; `never`: none does, or it is a free.
std::vector<std::uint64_t> ends_of(const allocator::RequestStream& requests) {
  std::vector<std::uint64_t> ends(requests.operations.size(), never), taken_at(requests.slots, never);
  for (std::uint64_t i = 0; i < requests.operations.size(); ++i) {
    const Operation& operation = requests.operations[i];
    std::uint64_t& at = taken_at[operation.slot];
    if (operation.is_free && at != never) ends[at] = i;
    at = operation.is_free ? never : i;
  }
  return ends;
}

using allocator::Setting;

constexpr std::string_view torch_allocator = "pytorch", preallocate = "XLA_PYTHON_CLIENT_PREALLOCATE",
                           jax_allocator = "XLA_PYTHON_CLIENT_ALLOCATOR";

// What the job is told, before it is turned into options.
struct Words {
  std::string allocator, version;
  std::vector<Setting> settings;
  std::uint64_t device_bytes = 0;

  void set(std::string_view name, std::string_view value) {
    // Both names of the fraction together are an error in JAX.
    if (name == fraction_newer || name == fraction_older)
      drop(name == fraction_newer ? fraction_older : fraction_newer);
    drop(name);
    settings.push_back({std::string(name), std::string(value)});
  }
  void drop(std::string_view name) {
    std::erase_if(settings, [&](const Setting& one) { return one.name == name; });
  }
};

Words own_words(const OwnSettings& own) {
  return {own.is_pytorch ? std::string(torch_allocator) : std::string(), own.version, own.settings, own.device_bytes};
}

std::string_view fraction_of(const std::vector<Setting>& settings) {
  for (const Setting& setting : settings)
    if (setting.name == fraction_newer || setting.name == fraction_older) return setting.value;
  return {};
}

// What the job's own jaxlib raises where a later one of the same allocator does not: 0.6.2 has no vmm. Empty: nothing,
// or its release is unknown.
std::string fault_of_release(const OwnSettings& own, const Words& words) {
  constexpr std::string_view jaxlib = "jaxlib ";
  if (!own.package.starts_with(jaxlib) || words.version != own.version) return {};
  const auto release = release_numbers(std::string_view(own.package).substr(jaxlib.size()));
  const allocator::JaxlibRules* rules = nullptr;
  for (const allocator::JaxlibRules& one : allocator::all_jaxlib_rules())
    if (rules == nullptr || release_numbers(one.since) <= release) rules = &one;
  const auto options = allocator::plugin_options(words.settings, *rules);
  return options ? std::string() : options.error();
}

Result<Scenario> make(const OwnSettings& own, const Words& words, std::string name, std::string group) {
  if (std::string fault = fault_of_release(own, words); !fault.empty())
    return Failure(Error{
        fmt::format("{}: {} raises a ValueError ({})", name, own.package, fault), "Change the setting.", {}, {}, {}});
  auto setup = allocator::set_up({words.allocator, words.version, words.settings, words.device_bytes});
  if (!setup) return Failure(Error{fmt::format("{}: {}", name, setup.error()), "Change the setting.", {}, {}, {}});
  Scenario scenario{
      std::move(name), std::move(group), std::move(setup->options), setup->upstream, words.device_bytes, false, {}};
  const bool is_own_size =
      words.device_bytes == own.device_bytes && fraction_of(words.settings) == fraction_of(own.settings);
  if (auto* xla = std::get_if<allocator::xla_gpu::Options>(&scenario.options);
      is_own_size && own.limit_bytes && xla != nullptr)
    xla->limit_bytes = *own.limit_bytes;
  auto& there = scenario.upstream.device_bytes;
  if (there) there = *there - std::min(*there, own.outside_bytes);
  return scenario;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (space > 0) parts.push_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return parts;
}

std::optional<std::uint64_t> bytes_from_device(std::string_view text) {
  if (const auto device = allocator::find_device(text)) return device->bytes();
  const auto bytes = parse_bytes(std::string(text));
  return bytes && *bytes > 0 ? std::optional(static_cast<std::uint64_t>(*bytes)) : std::nullopt;
}

// The settings of PyTorch's one variable, with one of them changed: "a:1,b:2" and "b:3" are "a:1,b:3".
std::string conf_with(std::string_view conf, std::string_view change) {
  const auto key_of = [](std::string_view one) { return one.substr(0, one.find(':')); };
  std::string text;
  while (!conf.empty()) {
    // A list in brackets has commas too.
    const std::size_t bracket = conf.find('['), comma = conf.find(',');
    const std::size_t end =
        std::min(comma < bracket ? comma : conf.find(',', std::min(conf.find(']'), conf.size())), conf.size());
    const std::string_view one = conf.substr(0, end);
    bool is_changed = false;
    for (std::string_view rest = change; !rest.empty();) {
      const std::size_t length = std::min(rest.find(','), rest.size());
      is_changed |= key_of(rest.substr(0, length)) == key_of(one);
      rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    if (!one.empty() && !is_changed) text += std::string(one) + ",";
    conf.remove_prefix(std::min(end + 1, conf.size()));
  }
  return text + std::string(change);
}

class Usual {
 public:
  explicit Usual(const OwnSettings& own) : own_(own), words_(own_words(own)), own_options_(own_scenario(own).value()) {}

  std::vector<Scenario> find() {
    scenarios_.push_back(own_options_);
    if (own_.is_pytorch)
      add_torch();
    else
      add_jax();
    add_devices();
    return std::move(scenarios_);
  }

 private:
  void add(Words words, std::string name, std::string group) {
    // Refused where the job's own settings contradict the change; then there is nothing to try.
    if (auto made = make(own_, words, std::move(name), std::move(group))) scenarios_.push_back(std::move(*made));
  }
  void add_setting(std::string_view variable, std::string_view value, const char* group = "settings") {
    Words words = words_;
    const std::string changed = variable == torch_conf
                                    ? conf_with(allocator::find_setting(words.settings, torch_conf).value_or(""), value)
                                    : std::string(value);
    value = changed;
    words.set(variable, value);
    const bool is_fraction = variable == fraction_newer || variable == fraction_older;
    if (words.settings == words_.settings || (is_fraction && is_own_limit(words))) return;
    add(std::move(words), fmt::format("{}={}", variable, value), group);
  }

  void add_jax() {
    const std::string_view fraction = own_.fraction_variable;
    for (const char* value : {".50", ".60", ".75", ".80", ".85", ".90", ".95", ".99"}) add_setting(fraction, value);
    add_setting(preallocate, is_growing() ? "true" : "false");
    for (const char* value : {".90", ".98"}) {
      Words words = words_;
      words.set(preallocate, "false");
      words.set(fraction, value);
      add(std::move(words), fmt::format("{}=false {}={}", preallocate, fraction, value), "settings");
    }
    for (const char* value : {"platform", "cuda_async", "vmm"}) add_setting(jax_allocator, value, "allocator");
    if (own_.version.starts_with("spatial")) {
      Words words = words_;
      words.set("XLA_FLAGS", std::string(allocator::jax_partitioning_flag) + "false");
      add(std::move(words), fmt::format("XLA_FLAGS={}false", allocator::jax_partitioning_flag), "settings");
    }
    constexpr std::pair<const char*, const char*> releases[] = {{"classic", "jax 0.10.0"},
                                                                {"classic_align", "jax 0.10.2"},
                                                                {"spatial_v1", "jax 0.11.0"},
                                                                {"spatial_v2", "XLA of August 2026"},
                                                                {"spatial_v3", "jax 0.12"}};
    for (const auto& [version, release] : releases) {
      if (version == own_.version) continue;
      Words words = words_;
      words.version = version;
      add(std::move(words), release, "version");
    }
  }

  // JAX's default, or what is set under the other name.
  bool is_own_limit(const Words& words) const {
    const auto* own = std::get_if<allocator::xla_gpu::Options>(&own_options_.options);
    const auto made = make(own_, words, {}, {});
    const auto* other = made ? std::get_if<allocator::xla_gpu::Options>(&made->options) : nullptr;
    return own != nullptr && other != nullptr && own->limit_bytes == other->limit_bytes;
  }

  bool is_growing() const {
    const auto* xla = std::get_if<allocator::xla_gpu::Options>(&own_options_.options);
    return xla != nullptr && xla->allow_growth;
  }

  void add_torch() {
    const auto* torch = std::get_if<allocator::pytorch::Options>(&own_options_.options);
    const bool is_expandable = torch != nullptr && torch->expandable_segments;
    add_setting(torch_conf, is_expandable ? "expandable_segments:False" : "expandable_segments:True");
    for (const char* value :
         {"max_split_size_mb:32", "max_split_size_mb:64", "max_split_size_mb:128", "max_split_size_mb:256",
          "max_split_size_mb:512", "max_split_size_mb:1024", "max_split_size_mb:2048", "roundup_power2_divisions:1",
          "roundup_power2_divisions:2", "roundup_power2_divisions:4", "roundup_power2_divisions:8",
          "roundup_power2_divisions:16", "garbage_collection_threshold:0.6", "garbage_collection_threshold:0.8",
          "expandable_segments:True,roundup_power2_divisions:4", "max_split_size_mb:256,roundup_power2_divisions:4",
          "expandable_segments:True,garbage_collection_threshold:0.8"})
      add_setting(torch_conf, value);
    add_other("cuda_async", "PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync");
    add_other("platform", "PYTORCH_NO_CUDA_MEMORY_CACHING=1");
  }
  // Another allocator of PyTorch, which has no settings here.
  void add_other(const char* allocator, const char* name) {
    add({allocator, {}, {}, words_.device_bytes}, name, "allocator");
  }

  // From a third of the device to four times its size.
  void add_devices() {
    for (const char* name : {"l4", "a100-40", "l40s", "a100-80", "h100-80", "h200", "b200", "mi300x"}) {
      const auto device = allocator::find_device(name);
      if (!device || device->bytes() == own_.device_bytes || device->bytes() * 3 < own_.device_bytes ||
          device->bytes() / 4 > own_.device_bytes)
        continue;
      Words words = words_;
      words.device_bytes = device->bytes();
      add(std::move(words), name, "device");
    }
  }

  const OwnSettings& own_;
  const Words words_;
  const Scenario own_options_;
  std::vector<Scenario> scenarios_;
};

}  // namespace

RequestChange free_before_next(const allocator::RequestStream& requests, const std::vector<bool>& is_chosen) {
  const std::vector<std::uint64_t> ends = ends_of(requests);
  RequestChange change;
  std::vector<std::uint64_t> earlier, together;  // Requests whose blocks are there.
  for (std::uint64_t i = 0; i < requests.operations.size(); ++i) {
    if (requests.operations[i].is_free) continue;
    if (!is_chosen[i]) {
      earlier.insert(earlier.end(), together.begin(), together.end());
      together.clear();
      continue;
    }
    for (const std::uint64_t request : earlier) {
      if (ends[request] < i) continue;
      change.early_frees.push_back({i, requests.operations[request].slot});
      ++change.changed;
    }
    earlier.clear();
    together.push_back(i);
  }
  return change;
}

RequestChange donate(const allocator::RequestStream& requests, const std::vector<bool>& is_chosen,
                     std::span<const std::uint64_t> failed) {
  std::vector<std::uint64_t> ends = ends_of(requests);
  std::vector<bool> has_failed(ends.size());
  for (const std::uint64_t operation : failed) {
    has_failed[operation] = true;
    ends[operation] = never;  // It was freed at once, as it got nothing.
  }
  auto changed = std::make_shared<allocator::RequestStream>(requests);
  std::vector<Operation>& operations = changed->operations;
  RequestChange change;
  const std::uint32_t nothing = changed->slots++;  // A slot that never holds anything.
  const auto drop = [&](std::uint64_t operation) {
    if (operation == never) return;
    operations[operation] = {};
    operations[operation].is_free = true;
    operations[operation].slot = nothing;
  };
  // For one requested size.
  struct Donors {
    std::set<std::pair<std::uint64_t, std::uint64_t>> ending;  // When they are freed, and the request of their memory.
    std::vector<std::uint64_t> lasting;                        // Those that are never freed.
  };
  std::unordered_map<std::uint64_t, Donors> donors;
  for (std::uint64_t i = 0; i < requests.operations.size(); ++i) {
    if (requests.operations[i].is_free) continue;
    Donors& same_size = donors[requests.operations[i].request.bytes];
    same_size.ending.erase(same_size.ending.begin(), same_size.ending.lower_bound({i, 0}));
    std::uint64_t maker = i;
    const auto first = same_size.ending.begin();
    if (first != same_size.ending.end() && (has_failed[i] || first->first < ends[i])) {
      drop(first->first);
      maker = first->second;
      same_size.ending.erase(first);
    } else if (has_failed[i] && !same_size.lasting.empty()) {
      maker = same_size.lasting.front();
      same_size.lasting.erase(same_size.lasting.begin());
    }
    if (maker != i) {
      // Slots are used again after a free, which is now later: the memory gets one of its own.
      if (operations[maker].slot < requests.slots) operations[maker].slot = changed->slots++;
      drop(i);
      if (ends[i] != never) operations[ends[i]].slot = operations[maker].slot;
      ++change.changed;
    }
    if (!is_chosen[i] || (has_failed[i] && maker == i)) continue;
    if (ends[i] == never)
      same_size.lasting.push_back(maker);
    else
      same_size.ending.emplace(ends[i], maker);
  }
  change.requests = std::move(changed);
  return change;
}

Result<Scenario> own_scenario(const OwnSettings& own) {
  auto made = make(own, own_words(own), "as recorded", "settings");
  if (made) made->is_own = true;
  return made;
}

std::string words_of_torch(const OwnSettings& own, std::string_view change) {
  return fmt::format("{}={}", torch_conf,
                     conf_with(allocator::find_setting(own.settings, torch_conf).value_or(""), change));
}

std::vector<Scenario> usual_scenarios(const OwnSettings& own) {
  return Usual(own).find();
}

std::optional<std::uint64_t> device_bytes_in(std::string_view words) {
  constexpr std::string_view device = "device=";
  for (const std::string_view word : split(words))
    if (word.starts_with(device)) return bytes_from_device(word.substr(device.size()));
  return std::nullopt;
}

Result<Scenario> scenario_from(const OwnSettings& own, std::string_view text) {
  Words words = own_words(own);
  const auto wrong = [&](std::string what, std::string remedy) {
    return Failure(Error{std::move(what), std::move(remedy), {}, {}, {}});
  };
  std::string group = "settings";
  std::vector<std::string_view> parts = split(text);
  // What is set is a setting of the allocator that is named, wherever it is named.
  std::stable_partition(parts.begin(), parts.end(),
                        [](std::string_view word) { return word.starts_with("allocator="); });
  for (const std::string_view word : parts) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      return wrong(fmt::format("'{}' is not a setting", word),
                   "Write NAME=VALUE, device=h200 or allocator=cuda_async.");
    const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "device") {
      const auto bytes = bytes_from_device(value);
      if (!bytes)
        return wrong(fmt::format("device={} is no GPU and no size", value), "Write device=h200 or device=80GiB.");
      words.device_bytes = *bytes;
      group = "device";
    } else if (name == "allocator") {
      words = {std::string(value), {}, {}, words.device_bytes};
    } else if (name == "version") {
      words.version = value;
    } else {
      words.set(name, value);
    }
  }
  return make(own, words, std::string(text), std::move(group));
}

}  // namespace hbmscope
