// Ranges and marks of NVTX as markers of the trace. NVTX names a range only where it begins; a trace needs the name
// where it ends too. So this keeps the ranges that a thread has pushed, and the names.
#pragma once

#include <cstdint>

namespace hbmscope::inject::nvtx {

struct Domain {
  char name[64];  // Empty: the default domain, which has no name.
};

// A recorded name, "domain: text", kept once for each text for the life of the process.
struct Name;
const Name* name_of(const Domain* domain, const char* text);
const Name* name_of(const Domain* domain, const wchar_t* text);

// Null: the domain is not recorded (nvtx_marks.cpp), or there are too many.
Domain* make_domain(const char* name);
Domain* make_domain(const wchar_t* name);

void mark(const Name* name);
// The range's number, needed at its end, on whichever thread that is.
std::uint64_t start(const Name* name);
void end(std::uint64_t range);
void end(const Name* name);
// How many ranges the thread had pushed in the domain before; or that it is not tracked.
int push(const Domain* domain, const Name* name);
int pop(const Domain* domain);

// Forgets what was defined in the rings before these.
void forget_ids();
// Called in a child after fork().
void forget_lock();

}  // namespace hbmscope::inject::nvtx
