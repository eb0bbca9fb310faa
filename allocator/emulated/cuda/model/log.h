// Lines on stderr that say what a program calls. HBMSCOPE_DEVICE_LOG=1: functions that are not emulated, once each;
// 2: also each request for memory and each release. Off by default: frameworks call hundreds of functions that need no
// answer.
#pragma once

namespace hbmscope::device {

enum class LogLevel { off = 0, not_emulated = 1, memory = 2 };

// Writes one line "hbmscope device: ..." in a single call, so that lines of several threads don't mix.
__attribute__((format(printf, 2, 3))) void log(LogLevel level, const char* format, ...);

}  // namespace hbmscope::device

// For the stubs that generate_stubs.py makes. `was_said` is 0 at the first call of that function. Returns `answer`. An
// error is noted in the report's folder, in the file PID.not_emulated, for the verdict of a run that fails.
// A line with the name in the report's folder, in the file PID.KIND, for the verdict: `not_emulated`; `estimated`,
// whose answer is not the real library's.
extern "C" void hbmscope_device_note(const char* name, const char* kind);
extern "C" int hbmscope_device_stub(const char* name, int* was_said, int answer);
