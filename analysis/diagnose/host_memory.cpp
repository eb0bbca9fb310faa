#include "analysis/diagnose/host_memory.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "analysis/trace/failure_details.h"
#include "analysis/units/ascii.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// What ended a job for lack of host memory; "{}" stands for whose memory it was. And what helps against it.
struct Kill {
  std::string_view killer, sentence, change;
};
constexpr Kill kills[] = {
    {killer::signal,
     "The job was killed (SIGKILL), most often because memory of the host (RAM) ran out; the text does not say so.",
     {}},
    {killer::data_loader,
     "A worker of the DataLoader was killed (SIGKILL), most often because memory of the host (RAM) ran out.",
     {}},
    {killer::shared_memory, "{} found too little shared memory of the host (/dev/shm).",
     "a larger /dev/shm (docker run --shm-size=8g or --ipc=host; in Kubernetes an emptyDir with medium: Memory)"},
    {killer::cgroup,
     "The job went beyond the host memory (RAM) that its container or batch job may use, and was killed.",
     "a higher memory limit of the container or job (docker run --memory, resources.limits.memory, sbatch --mem)"},
    {killer::slurm, "The job went beyond the host memory (RAM) that Slurm allows it, and was killed.",
     "more host memory for the job (sbatch --mem), or fewer tasks on a node"},
    {killer::lsf, "The job went beyond the host memory (RAM) that LSF allows it, and was killed.",
     "more host memory for the job (bsub -M, -R rusage[mem=...])"},
    {killer::kubernetes, "The job went beyond the host memory (RAM) that Kubernetes allows it, and was killed.",
     "a higher memory limit of the container (resources.limits.memory)"},
    {killer::systemd, "The job went beyond the host memory (RAM) that systemd allows it, and was killed.",
     "a higher MemoryMax= of the systemd unit"},
    {killer::kubernetes_node, "The node ran low on memory (RAM), and Kubernetes evicted the pod.",
     "resources.requests.memory of what the pod needs, so that it gets a node with that much; or a larger node"},
    {killer::oomd, "Memory of the host (RAM) was short, and systemd-oomd killed the job.",
     "less memory in the job, or a higher ManagedOOMMemoryPressureLimit= of its slice"},
    {killer::ray, "The node ran low on memory (RAM), and Ray killed tasks of it.",
     "more memory for the task (ray.remote(memory=...)), fewer tasks at once on a node, or a larger node"},
};

// Null: none of them.
const Kill* kill_by(std::string_view killer) {
  const auto found =
      std::find_if(std::begin(kills), std::end(kills), [&](const Kill& each) { return each.killer == killer; });
  return found == std::end(kills) ? nullptr : found;
}

// "59.5 of 62.6 GiB was in use on it; the task held 2.22 GiB." of Ray.
std::string node_text(const CauseFacts& facts) {
  const std::string_view used = facts.detail("in use on the node"), all = facts.detail("memory of the node"),
                         held = facts.detail("held by the killed task");
  std::string text;
  if (!used.empty() && !all.empty()) text = fmt::format(" {} of {} was in use on it.", used, all);
  if (const std::string_view threshold = facts.detail(failure_detail::setting); !threshold.empty())
    text += fmt::format(" Ray kills above {} of it.", threshold);
  if (!held.empty()) text += fmt::format(" The task held {}.", held);
  return text;
}

}  // namespace

std::string host_memory_sentence(const CauseFacts& facts) {
  const std::string_view by = facts.detail(failure_detail::killer);
  const Kill* kill = kill_by(by);
  const std::string held =
      facts.row.used_bytes ? fmt::format(" It had {} of it.", text_from_bytes(*facts.row.used_bytes)) : std::string();
  if (kill != nullptr) {
    std::string text(kill->sentence);
    if (text.starts_with("{}")) text.replace(0, 2, capitalised(facts.row.allocator));
    text += by == killer::ray ? node_text(facts) : held;
    return by == killer::signal ? text : text + " Memory of a device is not short.";
  }
  if (!by.empty() || !facts.detail(failure_detail::killed_by).empty())
    return "Memory of the host (RAM) ran out, not of a device, and the job was killed." + held;
  if (facts.figures.requested_bytes == 0)
    return "Memory of the host ran out, not of a device; the text does not say how much was requested.";
  if (facts.figures.free_bytes)
    return fmt::format("Memory of the host is short, not of a device: requested {}, and {} was free.",
                       text_from_request(facts.figures.requested_bytes), text_from_bytes(*facts.figures.free_bytes));
  return fmt::format("Memory of the host ran out, not of a device: requested {}.",
                     text_from_request(facts.figures.requested_bytes));
}

bool fill_host_memory(const AdviceFacts& facts, Advice& advice) {
  const std::string_view by = facts.failed.detail(failure_detail::killer);
  const std::string& allocator = facts.failed.row.allocator;
  if (const Kill* kill = kill_by(by); kill != nullptr && !kill->change.empty()) advice.change = kill->change;
  const bool is_refused_by_driver = facts.failed.row.reason.find("CUDA_ERROR_OUT_OF_MEMORY") != std::string::npos;
  if (allocator == "XLA's host allocator" && is_refused_by_driver) {
    advice.change = "less pinned memory at once, or more memory and locked memory (ulimit -l) for the process";
    advice.why = "The driver could not pin more memory of the host.";
  } else if (allocator == "XLA's host allocator" || allocator.ends_with("_host_bfc")) {
    advice.change =
        "a larger pool of pinned memory: XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB in JAX, TF_GPU_HOST_MEM_LIMIT_IN_MB in "
        "TensorFlow (64 GB unless it is set)";
    advice.why = "Copies between host and device go through it.";
  } else if (allocator.find("pinned") != std::string::npos || allocator.find("managed") != std::string::npos) {
    advice.change =
        "less pinned or managed memory at once, or more memory and locked memory (ulimit -l) for the process";
  }
  if (allocator == page_file) {
    advice.change = "a larger page file, or fewer processes at once (DataLoader workers, for example)";
    advice.why = "On Windows each process reserves memory for all libraries that it loads, CUDA's among them.";
    return true;
  }
  if (allocator == "Ollama") {
    advice.change = "a smaller model or quantization, or more memory (RAM)";
    advice.why = "Ollama did not load it; what does not fit on a GPU must fit there.";
  }
  // Ray stops tasks before the node is full.
  constexpr double usual = 0.9;
  const std::string_view threshold = facts.failed.detail(failure_detail::setting);
  double value = 1;
  std::from_chars(threshold.data(), threshold.data() + threshold.size(), value);
  if (by == killer::ray && value < usual)
    advice.change = fmt::format(
        "a higher RAY_memory_usage_threshold ({} now, 0.95 unless it is set), fewer tasks at once on a node, or less "
        "memory in each",
        threshold);
  // Its workers are processes, each with its own memory.
  const bool has_workers =
      facts.failed.program == Framework::pytorch || allocator.find("DataLoader") != std::string::npos;
  if (has_workers && by != killer::ray) advice.change += ", or fewer DataLoader workers";
  if (by == killer::signal || by == killer::data_loader)
    advice.why = "dmesg, or memory.events of the control group, says whether it was for lack of memory.";
  return true;
}

}  // namespace hbmscope
