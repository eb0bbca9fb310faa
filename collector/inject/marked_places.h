// Places in the job's code where an emulated device was asked for a value that no kernel has computed. Each gets a
// number and, once, a marker with its stack (wire::value_read_mark), so a value that is read in every step costs one
// record.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// The number of the place from which the calling thread came here, from 1. 0: nobody observes, there is no stack, or
// there are too many places. In a thread without Python code, such as one of XLA's, it is the place that was remembered
// last.
std::uint32_t mark_place();

// Called before a framework hands a copy to the host over to another thread. Does nothing on a real device.
void remember_place();

void forget_places();  // Their numbers belong to earlier rings.

}  // namespace hbmscope::inject
