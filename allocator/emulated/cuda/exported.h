// Every exported function of the emulated libraries.
#pragma once

#define HBMSCOPE_EXPORTED extern "C" __attribute__((visibility("default")))
