// Settings of a job that do not do what their author expects: variables that were set too late, contradict each other,
// have values that the framework does not know, or leave other libraries too little memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct JobWarning {
  std::string kind;           // "set_too_late", "both_fractions", "large_fraction", "bad_value"
  std::string variable;       // "XLA_PYTHON_CLIENT_MEM_FRACTION"
  std::string text;           // What is wrong and what to do, as whole sentences.
  std::size_t processes = 1;  // How many have it; they are recorded in streams of their own.
  bool keeps_jax_off_the_gpu = false;
};

// In the order of streams. The rules about JAX's variables are those of jaxlib's xla_client.py
// (generate_pjrt_gpu_plugin_options), the same from 0.4.38 to 0.10.2.
std::vector<JobWarning> find_job_warnings(const Trace& trace);

// Warnings for a job that is started with this environment. `value_of` looks up a variable; null if it is not set.
std::vector<JobWarning> find_environment_warnings(const char* (*value_of)(const char* variable));

// "... (8 processes)"
std::string text_from_warning(const JobWarning& warning);

}  // namespace hbmscope
