// One row for each exported function of the driver, made by generate_stubs.py from entry_points/driver.txt.
#pragma once

namespace hbmscope::device::driver {

struct EntryPoint {
  const char* base;    // "cuMemAlloc": the name in cuGetProcAddress.
  const char* symbol;  // "cuMemAlloc_v2"
  int since;           // The version of CUDA from which cuGetProcAddress gives this variant for the base name.
  int is_per_thread;   // 1: its default stream is the thread's: _ptsz or _ptds.
  void* function;
};

}  // namespace hbmscope::device::driver

extern "C" const hbmscope::device::driver::EntryPoint hbmscope_device_entry_points[];
extern "C" const int hbmscope_device_entry_point_count;
