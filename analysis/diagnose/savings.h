// By how much would the peak of a heap fall without the allocations of one line of code?
//
// Removing the line that holds the most at the peak may save nothing, because another time then has the peak. Example:
// a forward pass peaks at 4.0 GiB, of which its activations are 3.4 GiB, and the optimizer's step later in the same
// iteration also reaches 4.0 GiB, without any activations. Without the line of the activations the peak is still 4.0
// GiB, at the optimizer's step. A line whose memory is live at both times saves all of it.
//
// The answer is exact for the bytes in use: it is the maximum over time of (in use - live bytes of the site). One pass
// computes it for all sites. While the live bytes of a site stay the same, the highest total of that stretch is what
// counts, and it is found in O(log events) (savings_curve.h). An allocator's pool may follow differently, because of
// fragmentation and rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/diagnose/savings_curve.h"
#include "analysis/diagnose/savings_sites.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct SiteSaving {
  Site site;
  std::uint64_t bytes_at_peak = 0;  // Live bytes of this site at the peak.
  std::uint64_t saves_bytes = 0;    // The peak minus the next peak; never more than bytes_at_peak.
  UsePoint next_peak;  // The peak without all allocations of this site; the first time if there are several.
};

// The sites to remove so that the peak falls by a given size.
struct SavingsSet {
  std::uint64_t wanted_bytes = 0;
  std::vector<SiteSaving> sites;  // Those that hold the most at the peak first. Each with what it saves alone.
  std::uint64_t saves_bytes = 0;  // By all of them together.
  UsePoint next_peak;             // Without all of them.
  // False: all sites that one can change together save less. `sites` is then empty, and the figures are those of all.
  bool is_reached = false;
  // No set has fewer sites, and none with as many holds less at the peak. False: it was found step by step, because a
  // complete search would take too long.
  bool is_smallest = false;
};

struct Savings {
  UsePoint peak;  // The most bytes in use, the first time if there are several; zero if the heap never held anything.
  bool is_inexact = false;        // As HeapPeak::is_inexact: events were lost, or sizes are unknown.
  std::vector<SiteSaving> sites;  // By savings, then by bytes at the peak, then by name.
  std::optional<SavingsSet> set;  // If it was requested, and the heap ever held anything.
};

struct SavingsRequest {
  SiteBy by = SiteBy::line;
  std::optional<std::uint64_t> lower_by_bytes;  // 1 or more.
};

// Looks at one heap of the trace; in a heap that the trace doesn't have, nothing is in use. One pass over its stream,
// three with lower_by_bytes. Nothing if it was cancelled.
std::optional<Savings> compute_savings(const Trace& trace, HeapKey heap, const SavingsRequest& request,
                                       PassControl* control);

}  // namespace hbmscope
