// The smallest set of sites without whose allocations a heap stays below a given size.
//
// A set is large enough if it covers, at every time, what the heap has above that size. Of a million such times few
// matter. The search begins with the peak alone, finds the smallest set for it, looks for the time at which the heap
// without that set is highest, adds it, and repeats this until a set covers all times. Sets of up to about four sites
// are found so. If that takes too long, a set that grew time by time is the answer.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/diagnose/savings_curve.h"
#include "analysis/trace/pass_control.h"

namespace hbmscope {

// The times at which a heap is above a given size, with the live bytes of all sites. Filled by walk_sites().
class HighTimes {
 public:
  explicit HighTimes(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  void changed(std::uint32_t site, std::uint64_t bytes);
  void point(const UsePoint& point);

  std::uint64_t most_bytes() const { return most_bytes_; }
  std::size_t sites() const { return now_.size(); }
  std::size_t size() const { return times_.size() + changes_.size(); }  // What highest_without() looks at.

  // The highest point without these sites, or one as high, if that is above most_bytes(). Only the highest of a run of
  // allocations is kept: at the others the heap is no higher, whatever is left out.
  struct Highest {
    UsePoint point;                   // in_use_bytes without the sites.
    std::vector<std::uint64_t> live;  // By site, at that point.
  };
  // `without`: by site.
  Highest highest_without(const std::vector<bool>& without) const;

 private:
  struct Change {
    std::uint32_t site = 0;
    std::uint64_t bytes = 0;  // Live from then on.
  };
  struct Time {
    UsePoint point;
    std::size_t changes_end = 0;  // In changes_: those before it have happened.
  };
  std::uint64_t most_bytes_;
  std::vector<Change> changes_;
  std::vector<Time> times_;
  std::vector<std::uint64_t> now_;     // By site.
  std::vector<std::uint32_t> unkept_;  // Sites that changed since the last time that is kept.
  std::vector<bool> is_unkept_;
  bool has_fallen_ = false;  // One of them has fewer bytes than before.
};

struct SiteChoice {
  std::vector<std::uint32_t> sites;  // Ascending.
  bool is_reached = false;           // False: even without all candidates the heap is higher; `sites` are all of them.
  bool is_smallest = false;
};

// `bytes_at_peak` by site: of the sets with the fewest sites the one is chosen that holds the least at the peak. Sites
// that are no candidates stay. The search takes a second or two at most, and a few walks over the high times.
// Cancelled: any choice.
SiteChoice choose_sites(const HighTimes& times, const std::vector<bool>& is_candidate,
                        const std::vector<std::uint64_t>& bytes_at_peak, const PassControl* control);

}  // namespace hbmscope
