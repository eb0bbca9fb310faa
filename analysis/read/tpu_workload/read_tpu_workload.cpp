#include "analysis/read/tpu_workload/read_tpu_workload.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "allocator/emulated/tpu/emulation/emulation.h"
#include "analysis/read/tpu_workload/workload_scope.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

using namespace tpu_workload;

constexpr const char* version_key = "hbmscope_tpu_workload";
constexpr const char* how_to_write_one = "analysis/read/tpu_workload/README.md describes workload files.";

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_on(const std::string& value) {
  return value == "on" || value == "true";
}
bool is_off(const std::string& value) {
  return value == "off" || value == "false";
}

std::optional<tpu::Checkpointing> find_checkpointing(const std::string& name) {
  if (name == "none") return tpu::Checkpointing::none;
  if (name == "dots") return tpu::Checkpointing::dots;
  if (name == "full") return tpu::Checkpointing::full;
  if (name == "offload") return tpu::Checkpointing::offload;
  return std::nullopt;
}

class WorkloadReader {
 public:
  WorkloadReader(const Node& root, std::string_view text, const std::vector<WorkloadChange>& changes)
      : root_(root), changes_(changes) {
    scope_.text = text;
  }

  std::vector<WorkloadKnob> take_knobs() { return std::move(knobs_); }

  Result<tpu::Workload> run() {
    root_.allow_only({version_key, "name", "about", "generation", "mesh", "parameters", "checkpointing", "donation",
                      "defragmentation", "defragmentation_stall_us", "gpu", "vmem", "arrays", "programs", "pipelines",
                      "steps"});
    if (root_.at(version_key).number({}) != 1)
      root_.at(version_key).fail("this version is not known", "It is 1 in files for this hbmscope.");
    tpu::Workload& workload = scope_.workload;
    if (const auto name = root_.find("name")) workload.name = name->text();
    if (const auto about = root_.find("about")) workload.about = about->text();
    read_generation();
    read_mesh();
    read_parameters();
    read_options();
    read_vmem();
    for (const auto& [key, value] : changes_)
      if (std::none_of(knobs_.begin(), knobs_.end(), [&key = key](const auto& knob) { return knob.key == key; }))
        return Failure(unknown_change(key));
    if (!refused_.empty()) return Failure(refusal(refused_, "hbmscope tpu run --help lists what can be changed."));
    if (const auto arrays = root_.find("arrays")) {
      scope_.arrays = arrays->members();
      for (const auto& [name, node] : scope_.arrays) {
        node.allow_only({"dtype", "shape", "sharding", "memory"});
        const auto memory = node.find("memory");
        if (memory && (memory->text() == "vmem" || memory->text() == "cmem"))
          memory->fail("only temporaries of a program live there", "Arrays are in hbm, host or sparse_core.");
      }
    }
    read_pipelines(root_, scope_);
    read_programs(root_, scope_);
    read_steps(root_, scope_);
    tpu::apply_options(workload);
    return std::move(workload);
  }

 private:
  // The last change of a key is used. `knob`: what else is known about the setting.
  const std::string* find_change(const std::string& key, WorkloadKnob knob) {
    knob.key = key;
    knobs_.push_back(std::move(knob));
    const auto found = std::find_if(changes_.rbegin(), changes_.rend(),
                                    [&](const WorkloadChange& change) { return change.key == key; });
    return found == changes_.rend() ? nullptr : &found->value;
  }

  void refuse(std::string what) {
    if (refused_.empty()) refused_ = std::move(what);
  }

  Error unknown_change(const std::string& key) const {
    std::string known;
    for (const WorkloadKnob& each : knobs_) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.key);
    return refusal(fmt::format("the workload has no '{}' to change", printable(key)), fmt::format("Known: {}.", known));
  }

  void read_generation() {
    const auto node = root_.find("generation");
    std::string written = node ? node->text() : std::string(tpu::default_generation().name);
    if (const tpu::Generation* known = tpu::find_generation(written)) written = known->name;  // As in the choices.
    WorkloadKnob knob{{}, KnobKind::choice, written, {}, 0, 0, false, 0};
    for (const tpu::Generation& each : tpu::all_generations()) knob.choices.emplace_back(each.name);
    const std::string* change = find_change("generation", std::move(knob));
    const std::string name = change != nullptr ? *change : written;
    tpu::Workload& workload = scope_.workload;
    workload.generation = tpu::find_generation(name);
    if (workload.generation != nullptr) return;
    const tpu::NoGeneration none = tpu::why_no_generation(printable(name));
    if (change == nullptr) node->fail(none.what, none.remedy);
    refuse(none.what + "; hbmscope tpu generations lists them");
    workload.generation = &tpu::default_generation();
  }

  std::int64_t number_from(const std::string& text, const std::string& key, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = parsed.ec != std::errc::invalid_argument && parsed.ptr == text.data() + text.size();
    const bool is_good = is_number && parsed.ec == std::errc() && value >= least && value <= most;
    if (!is_number)
      refuse(fmt::format("'{}' is not a number, for {}", printable(text), printable(key)));
    else if (!is_good && (value < least || text.starts_with('-')))
      refuse(fmt::format("{} is too small for {}: at least {}", text, printable(key), least));
    else if (!is_good)
      refuse(fmt::format("{} is too large for {}: at most {}", text, printable(key), most));
    return is_good ? value : std::max<std::int64_t>(least, 1);
  }

  void read_mesh() {
    constexpr std::int64_t devices_max = 1 << 20;
    const auto mesh = root_.find("mesh");
    if (!mesh) return;
    for (const auto& [name, node] : mesh->members()) {
      tpu::MeshAxis axis{name, node.number_from(1, {})};
      const std::string* change =
          find_change("mesh." + name, {{}, KnobKind::number, fmt::to_string(axis.size), {}, 1, devices_max, false, 0});
      if (change != nullptr)
        axis.size = static_cast<std::uint64_t>(number_from(*change, "mesh." + name, 1, devices_max));
      scope_.workload.mesh.axes.push_back(axis);
      if (axis.size > devices_max || scope_.workload.mesh.devices() > devices_max)
        node.fail("the mesh has too many devices", fmt::format("At most {}.", devices_max));
    }
  }

  void read_parameters() {
    const auto parameters = root_.find("parameters");
    if (!parameters) return;
    constexpr std::int64_t most = std::int64_t{1} << 40;
    for (const auto& [name, node] : parameters->members()) {
      const std::int64_t written = node.number(scope_.parameters);
      const std::string* change =
          find_change(name, {{}, KnobKind::number, fmt::to_string(written), {}, -most, most, node.is_text(), 0});
      scope_.parameters.push_back({name, change != nullptr ? number_from(*change, name, -most, most) : written});
    }
  }

  bool switched(const char* key, bool otherwise) {
    return switched(root_.find(key), key, otherwise).value_or(otherwise);
  }

  // Nothing if neither the file nor a change sets it and there is no default.
  std::optional<bool> switched(const std::optional<Node>& node, const std::string& key,
                               std::optional<bool> otherwise = {}) {
    const std::optional<bool> written = node ? std::optional(node->flag()) : otherwise;
    const std::string* change =
        written ? find_change(key, {{}, KnobKind::on_off, *written ? "on" : "off", {}, 0, 0, false, 0})
                : find_change(key, {{}, KnobKind::choice, {}, {"on", "off"}, 0, 0, false, 0});
    if (change == nullptr) return written;
    if (!is_on(*change) && !is_off(*change))
      refuse(fmt::format("'{}' is not on or off, for {}", printable(*change), key));
    return is_on(*change);
  }

  void read_options() {
    tpu::WorkloadOptions& options = scope_.workload.options;
    const auto node = root_.find("checkpointing");
    const std::string written = node ? node->text() : "none";
    const std::string* change = find_change(
        "checkpointing", {{}, KnobKind::choice, written, {"none", "dots", "full", "offload"}, 0, 0, false, 0});
    const std::string name = change != nullptr ? *change : written;
    const auto policy = find_checkpointing(name);
    const std::string what =
        fmt::format("there is no checkpointing '{}': none, dots, full or offload", printable(name));
    if (!policy && change == nullptr) node->fail(what);
    if (!policy) refuse(what);
    options.checkpointing = policy.value_or(tpu::Checkpointing::none);
    options.donates = switched("donation", true);
    options.defragments = switched("defragmentation", true);
    options.has_gpu = switched("gpu", false);
    if (const auto stall = root_.find("defragmentation_stall_us"))
      options.defragmentation_stall_ns = std::min<std::uint64_t>(stall->number_from(0, {}), 1'000'000'000) * 1000;
    constexpr std::int64_t buffers_max = 64;
    if (const std::string* buffers = find_change("buffers", {{}, KnobKind::number, {}, {}, 1, buffers_max, false, 2}))
      scope_.buffers = static_cast<std::uint32_t>(number_from(*buffers, "buffers", 1, buffers_max));
  }

  // Memory space assignment.
  void read_vmem() {
    tpu::WorkloadOptions& options = scope_.workload.options;
    const std::optional<Node> vmem = root_.find("vmem");
    if (vmem)
      vmem->allow_only({"assignment", "reserved_bytes", "picker", "min_overlap_percent", "preferred_overlap_percent",
                        "residency_percent", "min_overlap", "max_overlap", "prefetches_max", "evictions_max",
                        "retries_max", "repacks_max", "cross_program_prefetch", "cross_program_freeing",
                        "cross_program_prefetches_max"});
    const auto find = [&](const char* key) { return vmem ? vmem->find(key) : std::nullopt; };
    const auto flag = [&](const char* key) { return switched(find(key), fmt::format("vmem.{}", key)); };
    const auto number = [&](const char* key, std::uint64_t least, std::uint64_t most, std::uint64_t usual) {
      return number_of(find(key), fmt::format("vmem.{}", key), least, most, usual);
    };
    const auto set = [&](std::uint32_t& to, const char* key, std::uint64_t least, std::uint64_t most) {
      if (const auto value = number(key, least, most, to)) to = static_cast<std::uint32_t>(*value);
    };
    constexpr std::uint64_t percent_most = 100'000, copies_most = 1'000'000;
    tpu::AssignmentOptions& to = options.vmem;
    options.assigns_vmem = flag("assignment");
    to.reserved_bytes =
        number("reserved_bytes", 0, std::uint64_t{1} << 40, scope_.workload.generation->vmem_scoped_limit.value);
    read_picker(find("picker"));
    set(to.min_overlap_percent, "min_overlap_percent", 0, percent_most);
    set(to.preferred_overlap_percent, "preferred_overlap_percent", 0, percent_most);
    set(to.residency_percent, "residency_percent", 0, percent_most);
    set(to.min_overlap, "min_overlap", 0, copies_most);
    set(to.max_overlap, "max_overlap", 0, copies_most);
    const auto prefetches = number("prefetches_max", 0, copies_most, 4),
               evictions = number("evictions_max", 0, copies_most, 4);
    if (prefetches) to.prefetches_max = static_cast<std::uint32_t>(*prefetches);
    if (evictions) to.evictions_max = static_cast<std::uint32_t>(*evictions);
    set(to.retries_max, "retries_max", 1, 16);
    set(to.repacks_max, "repacks_max", 0, 1000);
    to.prefetches_across_programs = flag("cross_program_prefetch").value_or(to.prefetches_across_programs);
    to.frees_across_programs = flag("cross_program_freeing").value_or(to.frees_across_programs);
    set(to.cross_program_prefetches_max, "cross_program_prefetches_max", 0, copies_most);
  }

  std::optional<std::uint64_t> number_of(const std::optional<Node>& node, const std::string& key, std::uint64_t least,
                                         std::uint64_t most, std::uint64_t usual) {
    std::optional<std::uint64_t> written;
    if (node) written = node->number_from(least, scope_.parameters);
    if (written && *written > most) node->fail("this is too many", fmt::format("At most {}.", most));
    const auto lowest = static_cast<std::int64_t>(least), highest = static_cast<std::int64_t>(most);
    const std::string* change = find_change(key, {{},
                                                  KnobKind::number,
                                                  written ? fmt::to_string(*written) : std::string(),
                                                  {},
                                                  lowest,
                                                  highest,
                                                  node && node->is_text(),
                                                  static_cast<std::int64_t>(usual)});
    return change != nullptr ? static_cast<std::uint64_t>(number_from(*change, key, lowest, highest)) : written;
  }

  void read_picker(const std::optional<Node>& node) {
    const std::string written = node ? node->text() : std::string();
    const std::string* change =
        find_change("vmem.picker", {{}, KnobKind::choice, written, {"cost", "count"}, 0, 0, false, 0});
    if (change == nullptr && !node) return;
    const std::string name = change != nullptr ? *change : written;
    const std::string what = fmt::format("there is no picker '{}': cost or count", printable(name));
    if (name != "cost" && name != "count" && change == nullptr) node->fail(what);
    if (name != "cost" && name != "count") refuse(what);
    scope_.workload.options.vmem.picker =
        name == "count" ? tpu::IntervalPicker::operation_count : tpu::IntervalPicker::cost_analysis;
  }

  const Node& root_;
  const std::vector<WorkloadChange>& changes_;
  Scope scope_;
  std::vector<WorkloadKnob> knobs_;
  std::string refused_;
};

}  // namespace

bool looks_like_tpu_workload(std::span<const std::uint8_t> bytes) {
  // Comments may precede it.
  constexpr std::size_t looked_at = 4096;
  const std::string_view text = text_of(bytes.first(std::min(bytes.size(), looked_at)));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '/') &&
         text.find(fmt::format("\"{}\"", version_key)) != std::string_view::npos;
}

Result<ParsedWorkload> ParsedWorkload::parse(std::span<const std::uint8_t> bytes, const std::string& name) {
  ParsedWorkload parsed;
  parsed.name_ = name;
  parsed.text_ = std::make_shared<const std::string>(text_of(bytes));
  const std::string& text = *parsed.text_;
  try {
    parsed.json_ = std::make_shared<const nlohmann::ordered_json>(
        nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, true, true));
    return parsed;
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t at = std::min<std::size_t>(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return Failure(Error{fmt::format("line {}: this is not JSON", line),
                         "Check for a missing or extra comma or quote. " + std::string(how_to_write_one), name, at,
                         false});
  }
}

Result<tpu::Workload> ParsedWorkload::workload_with(const std::vector<WorkloadChange>& changes,
                                                    std::vector<WorkloadKnob>* knobs) const {
  try {
    const Node root(*json_);
    WorkloadReader reader(root, *text_, changes);
    auto workload = reader.run();
    if (knobs != nullptr) *knobs = reader.take_knobs();
    if (!workload && workload.error().file.empty()) workload.error().file = name_;
    return workload;
  } catch (const Fault& fault) {
    const std::string way = text_from_path(fault.path);
    return Failure(refusal(fmt::format("line {}{}: {}", find_line(*text_, fault.path),
                                       way.empty() ? way : fmt::format(" ({})", printable(way)), printable(fault.what)),
                           fault.remedy.empty() ? how_to_write_one : printable(fault.remedy), name_));
  }
}

Result<tpu::Workload> read_tpu_workload(std::span<const std::uint8_t> bytes, const std::string& name,
                                        const std::vector<WorkloadChange>& changes, std::vector<WorkloadKnob>* knobs) {
  const auto parsed = ParsedWorkload::parse(bytes, name);
  if (!parsed) return Failure(parsed.error());
  return parsed->workload_with(changes, knobs);
}

}  // namespace hbmscope
