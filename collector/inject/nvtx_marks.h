// Turns NVTX ranges and marks into markers of the trace. NVTX names a range only where it begins; a trace needs the
// name where it ends too. So this stores the names, and the ranges that each thread has pushed.
#pragma once

#include <cstdint>

#include "collector/abi/nvtx.h"

namespace hbmscope::inject::nvtx {

using namespace hbmscope::nvtx;

struct Domain {
  char name[64];  // Empty: the default domain, which has no name.
};

// A recorded name, "domain: text", stored once per text for the life of the process.
struct Name;
const Name* name_of(const Domain* domain, const char* text);
const Name* name_of(const Domain* domain, const wchar_t* text);

// Null: the domain is not recorded (nvtx_marks.cpp), or there are too many.
Domain* make_domain(const char* name);
Domain* make_domain(const wchar_t* name);

void mark(const Name* name);
// Returns the range's number, needed at its end, on whatever thread that is.
std::uint64_t start(const Name* name);
void end(std::uint64_t range);
void end(const Name* name);
// The number of ranges that the thread had pushed in the domain before, or is_not_tracked.
int push(const Domain* domain, const Name* name);
int pop(const Domain* domain);

// Forgets the ids that were defined in earlier rings.
void forget_ids();
// Called in a child after fork().
void forget_lock();

}  // namespace hbmscope::inject::nvtx
