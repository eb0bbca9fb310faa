#include "analysis/read/log/job_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/read/pattern_index.h"
#include "analysis/trace/failure_details.h"
#include "analysis/units/ascii.h"

namespace hbmscope::log {
namespace {

// Words that only its own output, its files and its commands have. One that is built on another one comes first.
struct EngineWords {
  std::string_view name, words;
};
constexpr EngineWords engine_words[] = {
    {engine::sglang, "sglang/"},
    {engine::sglang, "sglang."},
    {engine::sglang, "sglang::"},
    {engine::sglang, "mem-fraction-static"},
    {engine::sglang, "mem_fraction_static"},
    {engine::vllm, "vllm/"},
    {engine::vllm, "vllm."},
    {engine::vllm, "vllm serve"},
    {engine::vllm, "vLLM"},
    {engine::vllm, " vllm"},
    {engine::vllm, "(EngineCore"},
    {engine::vllm, "VllmWorker"},
    {engine::vllm, "gpu-memory-utilization"},
    {engine::vllm, "gpu_memory_utilization"},
    {engine::tgi, "text_generation_server"},
    {engine::tgi, "text-generation-inference"},
    {engine::tgi, "text_generation_inference"},
    {engine::tgi, "max-batch-prefill-tokens"},
    {engine::tgi, "max_batch_prefill_tokens"},
    {engine::tgi, "text_generation_launcher"},
    {engine::tgi, "text-generation-launcher"},
    {engine::tensorrt_llm, "tensorrt_llm"},
    {engine::ollama, "ollama run"},
    {engine::ollama, "ollama serve"},
    {engine::ollama, "ollama/"},
    {engine::ollama, "ollama\\"},
    {engine::ollama, "Ollama"},
    {engine::ollama, "OLLAMA_"},
    {engine::ollama, "llama runner process"},
    {engine::lm_studio, "LM Studio"},
    {engine::lm_studio, "estimatedModelVramUsageBytes"},
    {engine::llama_cpp_python, "llama_cpp"},
    {engine::llama_cpp_python, "LlamaCpp"},
    {engine::koboldcpp, "koboldcpp"},
    {engine::comfyui, "ComfyUI"},
    {engine::webui, "stable-diffusion-webui"},
    {engine::webui, "Sys VRAM: "},
    {engine::webui, "webui"},
    {engine::webui, "access the UI"},
    {engine::diffusers, "diffusers"},
};
static_assert(std::size(engine_words) <= 64);

// Their values are numbers. Commands write '-' for '_'.
constexpr std::string_view setting_names[] = {"gpu_memory_utilization",
                                              "mem_fraction_static",
                                              "free_gpu_memory_fraction",
                                              "cuda_memory_fraction",
                                              "max_num_seqs",
                                              "max_model_len",
                                              "max_num_batched_tokens",
                                              "max_batch_prefill_tokens",
                                              "max_batch_total_tokens",
                                              "batch_size",
                                              "max_running_requests",
                                              "XLA_PYTHON_CLIENT_MEM_FRACTION",
                                              "flash_attn"};

bool is_at(std::string_view text, std::size_t at, std::string_view name) {
  if (text.size() - at < name.size() || (at > 0 && is_letter(text[at - 1]))) return false;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (text[at + i] != name[i] && (name[i] != '_' || (text[at + i] != '-' && text[at + i] != ' '))) return false;
  return true;
}

// "=0.95", " 0.95", "': '0.95'".
std::string_view value_at(std::string_view text) {
  constexpr std::size_t gap_max = 8;
  for (const std::string_view word : {" is", " of", " to"})
    if (text.starts_with(word)) text.remove_prefix(word.size());
  const std::size_t gap = text.find_first_not_of("=: '\"(");
  if (gap == std::string_view::npos || gap == 0 || gap > gap_max || (!is_digit(text[gap]) && text[gap] != '.'))
    return {};
  text.remove_prefix(gap);
  std::string_view value = text.substr(0, text.find_first_not_of("0123456789."));
  while (value.ends_with('.')) value.remove_suffix(1);
  return value;
}

// " Version: 1.4.0", "==2.1", " 1.13.1": "1.4". Empty: none.
std::string version_at(std::string_view text) {
  constexpr std::size_t gap_max = 14;
  for (const std::string_view word : {" version", " Version"})
    if (text.starts_with(word)) text.remove_prefix(word.size());
  const std::size_t gap = text.find_first_not_of(" :=v*`");
  if (gap == std::string_view::npos || gap == 0 || gap > gap_max || text.substr(0, gap).find('\n') != text.npos)
    return {};
  text.remove_prefix(gap);
  const std::size_t minor = text.find('.');
  if (minor == 0 || minor > 1 || !is_digit(text[0]) || minor + 1 >= text.size() || !is_digit(text[minor + 1]))
    return {};
  return std::string(text.substr(0, std::min(text.find_first_not_of("0123456789", minor + 1), text.size())));
}

const PatternIndex& index_of_words() {
  static const PatternIndex index = [] {
    std::vector<std::string_view> words;
    for (const EngineWords& each : engine_words) words.push_back(each.words);
    return PatternIndex(words);
  }();
  return index;
}

}  // namespace

void JobWords::look(std::string_view text) {
  static constexpr std::pair<bool JobWords::*, std::string_view> phases[] = {
      {&JobWords::is_of_windows_, "Windows 1"},  // "Windows 10", "Windows 11"
      {&JobWords::is_of_windows_, "OS: Windows"},
      {&JobWords::is_of_windows_, "\nWindows\n"},
      {&JobWords::is_of_windows_, "/mnt/c/"},
      {&JobWords::is_of_windows_, "WSL2"},
      {&JobWords::is_of_windows_, "microsoft-standard"},
      {&JobWords::is_of_windows_, ":\\Users\\"},
      {&JobWords::is_of_windows_, "\\venv\\"},
      {&JobWords::is_of_windows_, "\\site-packages\\"},
      {&JobWords::is_of_jetson_, "jetson"},
      {&JobWords::is_of_jetson_, "Jetson"},
      {&JobWords::is_of_jetson_, "aarch64-linux-gnu/tegra"},
      {&JobWords::is_unified_, "TF_FORCE_UNIFIED_MEMORY"},
      {&JobWords::is_of_torch_xla_, "XRTExecute"},
      {&JobWords::is_of_torch_xla_, "XLA_Retvals"},
      {&JobWords::is_alone_, "othing else is running"},
      {&JobWords::is_alone_, "othing else on the GPU"},
      {&JobWords::is_alone_, "o other process"},
      {&JobWords::is_alone_, "othing else running"},
      {&JobWords::trains_, "train"},
      {&JobWords::trains_, "Train"},
      {&JobWords::trains_, "backward"},
      {&JobWords::trains_, "loss"},
      {&JobWords::trains_, "optimizer"},
      {&JobWords::trains_, "poch"},  // "Epoch 3", "epoch"
      {&JobWords::infers_, "inference"},
      {&JobWords::infers_, "no_grad"},
      {&JobWords::infers_, "generat"},
      {&JobWords::infers_, "sampl"},
      {&JobWords::infers_, "txt2img"},
      {&JobWords::infers_, "img2img"},
      {&JobWords::infers_, "predict"},
      {&JobWords::infers_, "transcribe"},
      {&JobWords::infers_, "upscale"},
      {&JobWords::infers_, "decode"},
      {&JobWords::has_checkpointing_, "gradient_checkpointing"},
      {&JobWords::has_checkpointing_, "gradient-checkpointing"},
      {&JobWords::has_checkpointing_, "checkpoint_sequential"},
      {&JobWords::has_checkpointing_, "utils/checkpoint.py"},
      {&JobWords::has_checkpointing_, "activation_checkpointing"},
  };
  note(text, of_text_);
  index_of_words().for_each_candidate(text, [&](std::size_t row) {
    if (text.find(engine_words[row].words) != std::string_view::npos) engines_ |= std::uint64_t{1} << row;
    return false;
  });
  for (const auto& [member, words] : phases) {
    std::size_t at = this->*member ? std::string_view::npos : text.find(words);
    while (at != std::string_view::npos && text.substr(0, at).ends_with("pre"))  // "from_pretrained"
      at = text.find(words, at + 1);
    // "gradient_checkpointing=False"
    const bool is_off =
        at != std::string_view::npos && text.substr(at + words.size(), 8).find("alse") != std::string_view::npos;
    if (at != std::string_view::npos && !is_off) this->*member = true;
  }
  for (std::size_t at = text.find("orch"); at != std::string_view::npos; at = text.find("orch", at + 1))
    if (const std::string version = version_at(text.substr(at + 4)); !version.empty()) torch_version_ = version;
  constexpr std::string_view of_driver = " of VRAM memory ready";  // "[drm] amdgpu: 65536M of VRAM memory ready"
  if (const std::size_t at = text.find(of_driver); at != std::string_view::npos && at > 1 && text[at - 1] == 'M') {
    const std::string_view before = text.substr(0, at - 1);
    driver_mib_ = before.substr(before.find_last_not_of("0123456789") + 1);
  }
  for (const std::string_view name : setting_names) {
    const std::string_view first = name.substr(0, name.find('_'));
    for (std::size_t at = text.find(first); at != std::string_view::npos; at = text.find(first, at + 1)) {
      if (!is_at(text, at, name)) continue;
      constexpr std::size_t size_max = 12;
      const std::string_view value = value_at(text.substr(at + name.size()));
      if (value.empty() || value.size() > size_max) continue;
      const auto known =
          std::find_if(settings_.begin(), settings_.end(), [&](const auto& each) { return each.first == name; });
      if (known == settings_.end())
        settings_.emplace_back(name, value);
      else if (known->second.find(value) == std::string::npos)
        known->second += fmt::format(", {}", value);  // Several were tried.
    }
  }
}

void JobWords::look_at_line(std::string_view line) {
  note(line, of_lines_);
}

void JobWords::note(std::string_view text, Frameworks& seen) {
  // XLA's own files lay in external/org_tensorflow/tensorflow.
  const auto is_of_xla = [](std::string_view before) {
    return before.ends_with("org_") || before.ends_with("org_tensorflow/");
  };
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"tensorflow", "tensorflow"}, {"torch", "pytorch"}, {"jax", "jax"}};
  for (std::size_t i = 0; i < std::size(words); ++i)
    for (std::size_t at = text.find(words[i].first); at != std::string_view::npos;
         at = text.find(words[i].first, at + 1))
      if (!is_of_xla(text.substr(0, at))) seen[i] = words[i].second;
}

// The lines that speak of memory decide, if they say anything.
std::string JobWords::framework() const {
  if (is_of_torch_xla_) return "pytorch";
  const auto is_named = [](std::string_view one) { return !one.empty(); };
  for (const Frameworks* seen : {&of_lines_, &of_text_}) {
    const auto count = std::count_if(seen->begin(), seen->end(), is_named);
    if (count == 1) return std::string(*std::find_if(seen->begin(), seen->end(), is_named));
    if (count > 1) break;
  }
  return {};
}

std::string_view JobWords::platform() const {
  if (is_of_windows_) return failure_detail::windows;
  if (is_of_jetson_) return failure_detail::jetson;
  return is_unified_ ? failure_detail::unified : std::string_view();
}

std::string_view JobWords::checkpointing() const {
  if (has_checkpointing_) return failure_detail::in_use;
  return infers_ && !trains_ ? failure_detail::not_training : std::string_view();
}

std::string_view JobWords::engine(bool is_of_ggml) const {
  constexpr std::string_view of_ggml[] = {engine::ollama, engine::lm_studio, engine::llama_cpp_python,
                                          engine::koboldcpp};
  for (std::size_t row = 0; row < std::size(engine_words); ++row) {
    const std::string_view name = engine_words[row].name;
    const bool is_ggml = std::find(std::begin(of_ggml), std::end(of_ggml), name) != std::end(of_ggml);
    if (name == engine::diffusers && trains_) continue;
    if ((engines_ >> row & 1) != 0 && is_ggml == is_of_ggml) return name;
  }
  return {};
}

}  // namespace hbmscope::log
