#include "analysis/diagnose/savings.h"

#include <algorithm>
#include <tuple>

#include "analysis/diagnose/savings_set.h"
#include "analysis/diagnose/savings_walk.h"

namespace hbmscope {
namespace {

// The peak without each site, and the bytes of each at the peak.
class NextPeaks {
 public:
  NextPeaks() { point({}); }

  void changed(std::uint32_t site, std::uint64_t bytes) {
    if (site >= sites_.size()) sites_.resize(site + std::size_t{1});
    end_stretch(sites_[site]);
    sites_[site].live = bytes;
    sites_[site].since = curve_.size();
  }
  void point(const UsePoint& point) {
    if (curve_.size() == 0 || point.in_use_bytes > peak_.in_use_bytes) {
      peak_ = point;
      peak_number_ = curve_.size();
    }
    curve_.add(point);
  }

  Savings result(const SiteTable& table) {
    Savings savings;
    savings.peak = peak_;
    for (std::uint32_t number = 0; number < sites_.size(); ++number) {
      OneSite& site = sites_[number];
      end_stretch(site);
      SiteSaving& saving = savings.sites.emplace_back();
      saving.site = table[number];
      saving.bytes_at_peak = site.at_peak;
      saving.next_peak = site.next_peak;
      saving.saves_bytes = peak_.in_use_bytes - site.next_peak.in_use_bytes;
    }
    return savings;
  }

 private:
  struct OneSite {
    std::uint64_t live = 0;
    std::uint64_t since = 0;  // The number of the first point with so many live bytes.
    std::uint64_t at_peak = 0;
    UsePoint next_peak;
  };

  // The live bytes were the same from the point `since` up to the last one.
  void end_stretch(OneSite& site) {
    if (site.since >= curve_.size()) return;
    // The highest point so far may be a new one later; then a later stretch has it.
    if (peak_number_ >= site.since) site.at_peak = site.live;
    // Most stretches can't have the highest point, and need no search.
    if (peak_.in_use_bytes - std::min(site.live, peak_.in_use_bytes) <= site.next_peak.in_use_bytes) return;
    UsePoint highest = *curve_.highest_since(site.since);
    highest.in_use_bytes -= std::min(site.live, highest.in_use_bytes);
    if (highest.in_use_bytes > site.next_peak.in_use_bytes) site.next_peak = highest;
  }

  RisingCurve curve_;
  UsePoint peak_;
  std::uint64_t peak_number_ = 0;  // In the curve.
  std::vector<OneSite> sites_;
};

// The peak without all of these sites.
class PeakWithout {
 public:
  explicit PeakWithout(const std::vector<bool>& without) : without_(without), live_(without.size()) {}

  void changed(std::uint32_t site, std::uint64_t bytes) {
    if (!without_[site]) return;
    removed_ += bytes - live_[site];
    live_[site] = bytes;
  }
  void point(const UsePoint& point) {
    const std::uint64_t in_use = point.in_use_bytes - std::min(removed_, point.in_use_bytes);
    if (in_use <= peak_.in_use_bytes) return;
    peak_ = point;
    peak_.in_use_bytes = in_use;
  }
  const UsePoint& peak() const { return peak_; }

 private:
  const std::vector<bool>& without_;  // By site, as live_.
  std::vector<std::uint64_t> live_;
  std::uint64_t removed_ = 0;  // The sum of live_.
  UsePoint peak_;
};

bool holds_more_at_peak(const SiteSaving& a, const SiteSaving& b) {
  if (a.bytes_at_peak != b.bytes_at_peak) return a.bytes_at_peak > b.bytes_at_peak;
  return std::tie(a.site.name, a.site.file, a.site.line, a.site.function) <
         std::tie(b.site.name, b.site.file, b.site.line, b.site.function);
}
bool saves_more(const SiteSaving& a, const SiteSaving& b) {
  return a.saves_bytes != b.saves_bytes ? a.saves_bytes > b.saves_bytes : holds_more_at_peak(a, b);
}

struct SitePass {
  const Stream& stream;
  std::uint32_t heap;
  SiteTable& table;
  PassControl* control;

  template <class Visitor>
  bool run(Visitor& visitor) const {
    return walk_sites(stream, heap, table, visitor, control);
  }
};

// `savings.sites` are in the order of their numbers.
std::optional<SavingsSet> compute_set(const SitePass& pass, const Savings& savings, std::uint64_t wanted_bytes) {
  const std::uint64_t peak = savings.peak.in_use_bytes;
  HighTimes times(peak - std::min(wanted_bytes, peak));
  if (!pass.run(times)) return std::nullopt;
  std::vector<bool> is_candidate;
  std::vector<std::uint64_t> bytes_at_peak;
  for (const SiteSaving& saving : savings.sites) {
    is_candidate.push_back(saving.site.can_change);
    bytes_at_peak.push_back(saving.bytes_at_peak);
  }
  const SiteChoice choice = choose_sites(times, is_candidate, bytes_at_peak, pass.control);
  SavingsSet set;
  set.wanted_bytes = wanted_bytes;
  set.is_reached = choice.is_reached && wanted_bytes <= peak;
  set.is_smallest = set.is_reached && choice.is_smallest;
  std::vector<bool> without(savings.sites.size(), false);
  if (set.is_reached)
    for (const std::uint32_t site : choice.sites) {
      without[site] = true;
      set.sites.push_back(savings.sites[site]);
    }
  else
    without = is_candidate;
  std::sort(set.sites.begin(), set.sites.end(), holds_more_at_peak);
  // The times that `times` keeps are those above the wanted size: the next peak is at another one.
  PeakWithout next(without);
  if (!pass.run(next)) return std::nullopt;
  set.next_peak = next.peak();
  set.saves_bytes = peak - set.next_peak.in_use_bytes;
  return set;
}

}  // namespace

std::optional<Savings> compute_savings(const Trace& trace, HeapKey heap, const SavingsRequest& request,
                                       PassControl* control) {
  if (!has_heap(trace, heap)) return Savings{};
  const Stream& stream = trace.streams[heap.stream];
  SiteTable table(stream, request.by);
  const SitePass pass{stream, heap.heap, table, control};
  if (control != nullptr) control->total_events = stream.end_position() * (request.lower_by_bytes ? 3 : 1);
  NextPeaks peaks;
  if (!pass.run(peaks)) return std::nullopt;
  Savings savings = peaks.result(table);
  savings.is_inexact = stream.peak(heap.heap).is_inexact;
  if (request.lower_by_bytes && savings.peak.in_use_bytes > 0) {
    savings.set = compute_set(pass, savings, *request.lower_by_bytes);
    if (!savings.set) return std::nullopt;
  }
  std::sort(savings.sites.begin(), savings.sites.end(), saves_more);
  return savings;
}

}  // namespace hbmscope
