// Whose program wrote a log, and the values that it was started with: by words that stand anywhere in it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hbmscope::log {

class JobWords {
 public:
  // Any piece of the log, cut at line ends: the beginning, and what stands before a failure.
  void look(std::string_view text);
  // Lines that speak of memory, and those of tracebacks: only their words for a framework count.
  void look_at_line(std::string_view line);

  // "tensorflow", "pytorch", "jax". Empty if it has nobody's words, or those of several.
  std::string framework() const;
  // What serves models with them: "vllm", "sglang", "ollama" (trace/failure_details.h). Empty if nothing is known.
  // `is_of_ggml`: the failure is ggml's, or it isn't.
  std::string_view engine(bool is_of_ggml) const;
  // failure_detail::windows, jetson, unified; empty if nothing is known.
  std::string_view platform() const;
  // That of the layers' activations: failure_detail::in_use, not_training; empty if it may help.
  std::string_view checkpointing() const;
  // The person says that nothing else uses the device.
  bool is_alone() const { return is_alone_; }
  // Of PyTorch, as a person writes it: "1.4". Empty if the text doesn't say it.
  const std::string& torch_version() const { return torch_version_; }
  // Of the GPU, in MiB, by the driver's log; empty if it isn't there.
  const std::string& driver_mib() const { return driver_mib_; }
  // "gpu_memory_utilization", "0.95"; "0.95, 0.9" where the text has several.
  const std::vector<std::pair<std::string, std::string>>& settings() const { return settings_; }

 private:
  using Frameworks = std::array<std::string_view, 3>;  // Those whose words were seen.
  static void note(std::string_view text, Frameworks& seen);

  Frameworks of_lines_, of_text_;
  bool is_of_windows_ = false, is_of_jetson_ = false, is_unified_ = false;
  bool trains_ = false, infers_ = false, has_checkpointing_ = false;
  bool is_of_torch_xla_ = false, is_alone_ = false;
  std::uint64_t engines_ = 0;  // A bit for each row of the table.
  std::string driver_mib_, torch_version_;
  std::vector<std::pair<std::string, std::string>> settings_;
};

}  // namespace hbmscope::log
