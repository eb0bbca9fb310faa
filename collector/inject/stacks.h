// Who called: the stack of a thread that calls the driver, as an id that the rings' definitions have said what it is.
//
// A stack is walked each time, some 5 ns a frame, hashed, and looked up; only one that was never seen is told. A table
// that is full gives no stack, and that is counted: never another one's.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// As wire::stacks_variable says it; null: none are taken.
void choose_stacks(const char* words);

// Whether Python's frames are wanted, where there are any.
bool takes_python_frames();

// Of the calling thread, without what is ours; 0: none. Holds no lock of ours while foreign code runs.
std::uint32_t take_stack();

// Around fork(): a child must not begin with the loader's locks held by a thread that it has not, as taking a stack
// holds them for moments. Stacks that are wanted meanwhile are not taken, and counted.
void hold_stacks();
void release_stacks();
// In a child after fork().
void forget_stacks();

}  // namespace hbmscope::inject
