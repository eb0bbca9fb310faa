// The programs (executables) of PJRT's plugins: their texts, and which one is the training step.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/inject/line.h"
#include "collector/inject/pjrt_plugins.h"

namespace hbmscope::inject::pjrt {

// Texts are ids, defined at the first execution.
struct Program {
  std::atomic<const LoadedExecutable*> is{nullptr};
  std::uint32_t name = 0;
  std::uint32_t step = 0;         // "step (jit_train_step)"
  std::uint32_t temporaries = 0;  // "temporaries of jit_train_step"
  std::uint32_t output_count = 0;
  std::uint32_t* outputs = nullptr;  // "f32[8,128] output 3 of jit_train_step"
  std::uint64_t output_bytes = 0, temporary_bytes = 0;
  std::atomic<std::uint32_t> executions{0};
  std::atomic<bool> are_arguments_listed{false};  // Since an attach.
};

// Null: there is no room.
Program* program_of(const Plugin& plugin, LoadedExecutable* executable);
// The executable is about to be destroyed.
void forget_program(const LoadedExecutable* executable);
// Called at each execution. Marks it, and returns true, if it is a step of the training.
bool note_execution(Program& program);

// "f32[8,128]"
void add_shape(Line& line, int type, const std::int64_t* dimensions, std::size_t rank);

}  // namespace hbmscope::inject::pjrt

namespace hbmscope::inject {

// Called in a child after fork(), and when the rings are new: ids of texts are of earlier rings.
void forget_pjrt_programs();

}  // namespace hbmscope::inject
