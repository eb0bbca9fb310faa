// What a text says about a failure beyond its figures: attributes whose allocation is the event of the failure. Any
// other key is a figure or a word of the text itself, such as "process 4711", or a setting, "max_num_seqs".
#pragma once

#include <string_view>

namespace hbmscope::failure_detail {

inline constexpr std::string_view line = "line";            // The line of the log, from 1.
inline constexpr std::string_view byte = "byte";            // The byte of the log where that line begins.
inline constexpr std::string_view allocator = "allocator";  // "GPU_0_bfc"
inline constexpr std::string_view speaker = "written by";   // The prefix of the line: "[rank3]".
inline constexpr std::string_view rank = "rank";
inline constexpr std::string_view program = "program";  // "jit_step"
inline constexpr std::string_view operation = "operation";
inline constexpr std::string_view shape = "shape";
inline constexpr std::string_view stage = "found by";  // `compiler`, if the program never ran.
inline constexpr std::string_view compiler = "the compiler";
inline constexpr std::string_view loader = "the loader of the program";
inline constexpr std::string_view framework = "framework";  // Whose words the log has: "tensorflow", "pytorch", "jax".
inline constexpr std::string_view engine = "engine";        // What serves the model: one of `engine`.
inline constexpr std::string_view part = "part";            // What the memory was for: one of `part`.
inline constexpr std::string_view arguments = "arguments";  // Of a compiled program, in bytes as text.
inline constexpr std::string_view donated = "arguments whose place all outputs take";  // In bytes as text.
inline constexpr std::string_view own_part = "the program itself";                     // Without arguments and outputs.
inline constexpr std::string_view exceeded = "more than there is";       // By how much, as a compiler says it.
inline constexpr std::string_view largest_buffer = "largest buffer";     // Of a compiled program.
inline constexpr std::string_view platform = "platform";                 // One of the next three.
inline constexpr std::string_view windows = "Windows or WSL";            // Which shows in the figures.
inline constexpr std::string_view jetson = "Jetson";                     // Its memory is the host's.
inline constexpr std::string_view unified = "unified memory";            // XLA's pool may lie on the host, too.
inline constexpr std::string_view checkpointing = "checkpointing";       // `in_use`, or `not_training`.
inline constexpr std::string_view alone = "nothing else on the device";  // `yes`, if the text says so.
inline constexpr std::string_view table_process = "largest process by the table";  // "22914 (python), 7.79 GiB"
inline constexpr std::string_view grows = "grows";  // What does so in the text before, as a sentence.
inline constexpr std::string_view steps_before = "steps before it";  // The last one that the log shows: "step 18".
inline constexpr std::string_view yes = "yes";
inline constexpr std::string_view torch_version = "PyTorch";               // "1.4"
inline constexpr std::string_view driver_memory = "memory of the driver";  // What its log says, in bytes.
inline constexpr std::string_view in_use = "in use";
inline constexpr std::string_view not_training = "not training";
inline constexpr std::string_view setting = "setting";      // Of the framework: the fraction that was wanted, "0.9".
inline constexpr std::string_view suggested = "suggested";  // By the framework: the length that fits, "44240".
inline constexpr std::string_view killed_by = "killed by";  // What ended the job for lack of host memory, in words.
inline constexpr std::string_view killer = "killer";        // The same, as a code: one of `killer`.
inline constexpr std::string_view times = "times";          // How often the log says it, if more than once.

}  // namespace hbmscope::failure_detail

// What ended a job for lack of host memory.
namespace hbmscope::killer {

inline constexpr std::string_view kernel = "kernel", slurm = "slurm", kubernetes = "kubernetes", ray = "ray",
                                  systemd = "systemd", lsf = "lsf", data_loader = "data_loader",
                                  cgroup = "cgroup",  // A limit of the container or the job.
    kubernetes_node = "kubernetes_node",              // The node is full; the pod was evicted.
    oomd = "oomd",                                    // systemd-oomd, by its measure of pressure.
    shared_memory = "shared_memory",                  // Too little in /dev/shm.
    signal = "signal";                                // SIGKILL, and the text doesn't say why.

}  // namespace hbmscope::killer

// What serves models with the framework.
namespace hbmscope::engine {

inline constexpr std::string_view vllm = "vllm", sglang = "sglang", tgi = "tgi", tensorrt_llm = "tensorrt_llm",
                                  ollama = "ollama", lm_studio = "lm_studio", koboldcpp = "koboldcpp",
                                  llama_cpp_python = "llama_cpp_python", comfyui = "comfyui",
                                  diffusers = "diffusers",  // Without a server, and not for training.
    webui = "webui";                                        // AUTOMATIC1111's, and what is built on it.

}  // namespace hbmscope::engine

// What an engine wanted memory for.
namespace hbmscope::part {

inline constexpr std::string_view weights = "weights", kv_cache = "KV cache", compute = "compute buffers",
                                  graphs = "CUDA graphs", measuring = "the largest batch, to measure it",
                                  request_slots = "slots for requests",
                                  saving = "saving",  // A checkpoint, gathered on the device.
    no_cache = "what is left for the KV cache",       // Which is nothing.
    single = "a single allocation";                   // Larger than the driver gives at once.

}  // namespace hbmscope::part

namespace hbmscope {

// Of a failure in words that say nobody's.
inline constexpr std::string_view unknown_allocator = "an unknown allocator";

// Windows' commit limit was reached: of its memory and the page file together.
inline constexpr std::string_view page_file = "Windows' page file";

// Of a model that LM Studio did not load, because it expects it to need too much.
inline constexpr std::string_view lm_studio_guardrail = "LM Studio's guardrail";

// Facts that `run --emulate` adds to a job, beside those of trace/definitions.h: what would make the program fit, a
// line each; and with the number of a device behind it, the bytes that would have fit there in addition.
inline constexpr std::string_view dry_run_advice_fact = "hbmscope.dry_run.advice",
                                  dry_run_margin_fact = "hbmscope.dry_run.margin.";

// The tag of a block that stands for all that was in use, where a text has the sum and no list.
inline constexpr std::string_view not_listed = "not listed", bytes_without_a_list = "in use, not listed";

}  // namespace hbmscope
