// The stack of a thread that calls the driver, as an id that is defined in the rings.
//
// A stack is walked each time (some 5 ns per frame), hashed and looked up; only new stacks are defined. When a table is
// full there is no stack, which is counted; a call never gets another call's stack.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// The value of wire::stacks_variable. If it is null, no stacks are recorded.
void choose_stacks(const char* words);

// Whether Python's frames are wanted, if there are any.
bool takes_python_frames();

// The calling thread's stack, without our frames, or 0. None of our locks is held while foreign code runs.
std::uint32_t take_stack();

// Whether the calling thread runs Python code whose frames are taken.
bool is_in_python();

// Called around fork(): taking a stack briefly holds the loader's locks, and a child must not start while another
// thread of its parent holds them. Stacks requested meanwhile are not taken, and are counted.
void hold_stacks();
void release_stacks();
// Called in a child after fork().
void forget_stacks();

}  // namespace hbmscope::inject
