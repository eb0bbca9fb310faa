#include "analysis/diagnose/savings_set.h"

#include <algorithm>
#include <limits>

namespace hbmscope {
namespace {

bool is_cancelled(const PassControl* control) {
  return control != nullptr && control->cancelled;
}

// Limits the time of a search: numbers looked at, of which a processor manages a few hundred million a second.
class SearchBudget {
 public:
  void spend(std::uint64_t numbers) { left_ -= std::min(left_, numbers); }
  bool is_spent() const { return left_ == 0; }

 private:
  std::uint64_t left_ = 100'000'000;
};

// The smallest set that covers a few times, by trying. Each level takes a time that is not covered yet and branches
// over the sites that are live then; a site that was tried is not tried again below its siblings.
class SetSearch {
 public:
  SetSearch(const std::vector<std::uint64_t>& cost, SearchBudget& budget) : cost_(cost), budget_(budget) {}

  // At that time the chosen sites must have at least so many bytes. `live`: by site; 0 for sites that are no
  // candidates.
  void add_time(std::uint64_t needed, std::vector<std::uint64_t> live) {
    std::vector<std::uint32_t> largest;
    for (std::uint32_t site = 0; site < live.size(); ++site)
      if (live[site] > 0) largest.push_back(site);
    std::sort(largest.begin(), largest.end(),
              [&](std::uint32_t a, std::uint32_t b) { return live[a] != live[b] ? live[a] > live[b] : a < b; });
    times_.push_back({needed, std::move(live), std::move(largest)});
  }

  // The set with the fewest sites, then the least cost; at least `sites_min` sites, and at most `sites_max`. Empty:
  // there is none, or it takes too long.
  std::vector<std::uint32_t> find(std::size_t sites_min, std::size_t sites_max) {
    for (std::size_t sites = sites_min; sites <= sites_max && !budget_.is_spent(); ++sites) {
      best_.clear();
      best_cost_ = std::numeric_limits<std::uint64_t>::max();
      is_tried_.assign(cost_.size(), false);
      covered_.assign(times_.size(), 0);
      chosen_.clear();
      chosen_cost_ = 0;
      descend(sites);
      if (!best_.empty() && !budget_.is_spent()) return best_;
    }
    return {};
  }

 private:
  struct Time {
    std::uint64_t needed = 0;
    std::vector<std::uint64_t> live;
    std::vector<std::uint32_t> largest;  // Sites, those with the most bytes first.
  };

  bool is_covered(std::size_t time) const { return covered_[time] >= times_[time].needed; }
  // Whether so many more sites could be enough at that time.
  bool can_cover(std::size_t time, std::size_t sites_left) {
    std::uint64_t bytes = covered_[time], looked_at = 1;
    for (const std::uint32_t site : times_[time].largest) {
      ++looked_at;
      if (bytes >= times_[time].needed || sites_left == 0) break;
      if (is_tried_[site]) continue;
      bytes += times_[time].live[site];
      --sites_left;
    }
    budget_.spend(looked_at);
    return bytes >= times_[time].needed;
  }

  void descend(std::size_t sites_left) {
    budget_.spend(4 * times_.size());
    if (budget_.is_spent()) return;
    std::size_t open = times_.size();
    for (std::size_t time = 0; time < times_.size(); ++time) {
      if (is_covered(time)) continue;
      if (!can_cover(time, sites_left)) return;
      if (open == times_.size()) open = time;
    }
    if (open == times_.size()) {
      if (chosen_cost_ < best_cost_) {
        best_ = chosen_;
        best_cost_ = chosen_cost_;
      }
      return;
    }
    std::vector<std::uint32_t> tried;
    for (const std::uint32_t site : times_[open].largest) {
      if (is_tried_[site]) continue;
      // The others have less: with the last site, this is the end.
      if (sites_left == 1 && covered_[open] + times_[open].live[site] < times_[open].needed) break;
      is_tried_[site] = true;
      tried.push_back(site);
      if (chosen_cost_ + cost_[site] >= best_cost_) continue;
      take(site);
      descend(sites_left - 1);
      put_back(site);
    }
    for (const std::uint32_t site : tried) is_tried_[site] = false;
  }
  void take(std::uint32_t site) {
    chosen_.push_back(site);
    chosen_cost_ += cost_[site];
    for (std::size_t time = 0; time < times_.size(); ++time) covered_[time] += times_[time].live[site];
  }
  void put_back(std::uint32_t site) {
    chosen_.pop_back();
    chosen_cost_ -= cost_[site];
    for (std::size_t time = 0; time < times_.size(); ++time) covered_[time] -= times_[time].live[site];
  }

  const std::vector<std::uint64_t>& cost_;  // By site.
  SearchBudget& budget_;
  std::vector<Time> times_;
  std::vector<std::uint64_t> covered_;  // By time: bytes of the chosen sites.
  std::vector<bool> is_tried_;          // By site.
  std::vector<std::uint32_t> chosen_, best_;
  std::uint64_t chosen_cost_ = 0, best_cost_ = 0;
};

std::vector<std::uint64_t> live_of_candidates(std::vector<std::uint64_t> live, const std::vector<bool>& is_candidate) {
  for (std::size_t site = 0; site < live.size(); ++site)
    if (!is_candidate[site]) live[site] = 0;
  return live;
}

// At the highest time, takes the sites with the most bytes until it is covered; and again at the time that is then the
// highest. Leaves out in the end what is not needed.
std::vector<std::uint32_t> grow_set(const HighTimes& times, const std::vector<bool>& is_candidate,
                                    const std::vector<std::uint64_t>& cost, const PassControl* control) {
  std::vector<bool> without(cost.size(), false);
  std::vector<std::uint32_t> sites;
  while (!is_cancelled(control)) {
    const HighTimes::Highest highest = times.highest_without(without);
    if (highest.point.in_use_bytes <= times.most_bytes()) break;
    std::vector<std::uint32_t> largest;
    for (std::uint32_t site = 0; site < cost.size(); ++site)
      if (is_candidate[site] && !without[site] && highest.live[site] > 0) largest.push_back(site);
    std::stable_sort(largest.begin(), largest.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return highest.live[a] > highest.live[b]; });
    std::uint64_t over = highest.point.in_use_bytes - times.most_bytes();
    if (largest.empty()) break;
    for (const std::uint32_t site : largest) {
      without[site] = true;
      sites.push_back(site);
      if (highest.live[site] >= over) break;
      over -= highest.live[site];
    }
  }
  constexpr std::size_t tried_max = 64;  // Each try walks over all high times.
  if (sites.size() > tried_max) return sites;
  std::stable_sort(sites.begin(), sites.end(), [&](std::uint32_t a, std::uint32_t b) { return cost[a] > cost[b]; });
  for (std::size_t i = 0; i < sites.size() && !is_cancelled(control);) {
    without[sites[i]] = false;
    if (times.highest_without(without).point.in_use_bytes <= times.most_bytes()) {
      sites.erase(sites.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      without[sites[i]] = true;
      ++i;
    }
  }
  return sites;
}

}  // namespace

void HighTimes::changed(std::uint32_t site, std::uint64_t bytes) {
  if (site >= now_.size()) {
    now_.resize(site + std::size_t{1});
    is_unkept_.resize(now_.size());
  }
  has_fallen_ = has_fallen_ || bytes < now_[site];
  now_[site] = bytes;
  if (is_unkept_[site]) return;
  is_unkept_[site] = true;
  unkept_.push_back(site);
}

void HighTimes::point(const UsePoint& point) {
  if (point.in_use_bytes <= most_bytes_) return;
  for (const std::uint32_t site : unkept_) {
    changes_.push_back({site, now_[site]});
    is_unkept_[site] = false;
  }
  unkept_.clear();
  if (has_fallen_ || times_.empty()) times_.emplace_back();
  times_.back() = {point, changes_.size()};
  has_fallen_ = false;
}

HighTimes::Highest HighTimes::highest_without(const std::vector<bool>& without) const {
  std::vector<std::uint64_t> live(now_.size());
  std::uint64_t removed = 0, highest = 0;
  std::size_t best = times_.size(), change = 0;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    for (; change < times_[i].changes_end; ++change) {
      const auto [site, bytes] = changes_[change];
      if (!without[site]) continue;
      removed += bytes - live[site];
      live[site] = bytes;
    }
    const std::uint64_t in_use = times_[i].point.in_use_bytes - std::min(removed, times_[i].point.in_use_bytes);
    if (best < times_.size() && in_use <= highest) continue;
    best = i;
    highest = in_use;
  }
  Highest result;
  result.live.assign(now_.size(), 0);
  if (best == times_.size()) return result;
  result.point = times_[best].point;
  result.point.in_use_bytes = highest;
  for (change = 0; change < times_[best].changes_end; ++change)
    result.live[changes_[change].site] = changes_[change].bytes;
  return result;
}

SiteChoice choose_sites(const HighTimes& times, const std::vector<bool>& is_candidate,
                        const std::vector<std::uint64_t>& bytes_at_peak, const PassControl* control) {
  const std::size_t count = times.sites();
  SiteChoice choice;
  for (std::uint32_t site = 0; site < count; ++site)
    if (is_candidate[site]) choice.sites.push_back(site);
  if (times.highest_without(is_candidate).point.in_use_bytes > times.most_bytes()) return choice;
  choice.is_reached = true;
  choice.sites = grow_set(times, is_candidate, bytes_at_peak, control);
  SearchBudget budget;
  SetSearch search(bytes_at_peak, budget);
  std::size_t least = 1;
  std::vector<bool> without(count, false);
  while (!budget.is_spent() && !is_cancelled(control)) {
    HighTimes::Highest highest = times.highest_without(without);
    budget.spend(times.size() + 2 * count);
    if (highest.point.in_use_bytes <= times.most_bytes()) {
      choice.is_smallest = true;
      choice.sites.clear();
      for (std::uint32_t site = 0; site < count; ++site)
        if (without[site]) choice.sites.push_back(site);
      break;
    }
    std::uint64_t removed = 0;
    for (std::size_t site = 0; site < count; ++site) removed += without[site] ? highest.live[site] : 0;
    search.add_time(highest.point.in_use_bytes + removed - times.most_bytes(),
                    live_of_candidates(std::move(highest.live), is_candidate));
    const auto found = search.find(least, choice.sites.size());
    if (found.empty()) break;
    // More times never need fewer sites.
    least = found.size();
    without.assign(count, false);
    for (const std::uint32_t site : found) without[site] = true;
  }
  std::sort(choice.sites.begin(), choice.sites.end());
  return choice;
}

}  // namespace hbmscope
