// The agent (collector/agent): Python code that looks at the job's variables, and names its arrays. The library carries
// it and runs it in the job's interpreter, in the main thread between two instructions, as a signal handler of Python
// would be (Py_AddPendingCall). A process without Python, or whose main thread waits in a library, has none.
#pragma once

namespace hbmscope::inject {

enum class Occasion {
  use,      // The job uses the device: a look now and then is enough.
  step,     // A training step begins, and what the last one made has its names now.
  failure,  // An allocation failed for good: everything is named, soon.
};
// Costs a comparison, unless it is time for a look. May be called from any thread, with any of the frameworks' locks
// held.
void wake_agent(Occasion occasion);
void leave_agent();
// Called in a child after fork().
void forget_agent();

}  // namespace hbmscope::inject
