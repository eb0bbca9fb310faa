// Ranges and marks of NVTX as markers of the trace. NVTX names a range where it begins, a trace where it ends too; what
// lies in between is kept here: the ranges that a thread has pushed, and the names.
#pragma once

#include <cstdint>

namespace hbmscope::inject::nvtx {

struct Domain {
  char name[64];  // Empty: NVTX's own, which has none.
};

// A name as it is told, "domain: text", kept once for each text; for as long as the process lives.
struct Name;
const Name* name_of(const Domain* domain, const char* text);
const Name* name_of(const Domain* domain, const wchar_t* text);

// Null: it may be none that is told (nvtx_marks.cpp), or one too many.
Domain* make_domain(const char* name);
Domain* make_domain(const wchar_t* name);

void mark(const Name* name);
// The range's number, for its end: on whichever thread.
std::uint64_t start(const Name* name);
void end(std::uint64_t range);
void end(const Name* name);
// How many the thread had pushed in the domain before; or that it is not tracked.
int push(const Domain* domain, const Name* name);
int pop(const Domain* domain);

// What the rings before these knew is nothing to them.
void forget_ids();
// In a child after fork().
void forget_lock();

}  // namespace hbmscope::inject::nvtx
