// The callers: the stack of a thread that calls the driver, as an id that is defined in the rings.
//
// A stack is walked each time, some 5 ns a frame, hashed, and looked up; only one that was never seen before is
// defined. When a table is full there is no stack, and that is counted; a call never gets another call's stack.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// As wire::stacks_variable says; null: no stacks are taken.
void choose_stacks(const char* words);

// Whether Python's frames are wanted, if there are any.
bool takes_python_frames();

// The calling thread's stack, without our own frames; 0: none. Holds no lock of ours while foreign code runs.
std::uint32_t take_stack();

// Called around fork(): taking a stack holds the loader's locks for moments, and a child must not start while a thread
// that it does not have holds them. Stacks that are wanted meanwhile are not taken, and counted.
void hold_stacks();
void release_stacks();
// Called in a child after fork().
void forget_stacks();

}  // namespace hbmscope::inject
