#include "analysis/judge/dry_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/units/format.h"

namespace hbmscope {
namespace {

ValueRead find_read(const device::ValueReads& reads, const Trace* trace) {
  if (trace == nullptr || reads.place == 0) return {};
  const std::string pid = std::to_string(reads.pid);
  for (const Stream& stream : trace->streams) {
    if (stream.definitions().job_fact("process") != pid) continue;
    if (auto place = find_read_place(stream, reads.place)) return {std::move(*place), 0, 0, {}};
  }
  return {};
}

// "120 to 135 of at most 512"
std::string text_from_assumed(const ValueRead::Assumed& size) {
  std::string text = text_from_count(size.least);
  if (size.most != size.least) text += " to " + text_from_count(size.most);
  return text + " of at most " + text_from_count(size.worst);
}

// "nonzero by route moe.py:41 (12 times, assumed 120 to 135 of at most 512)"
std::string text_from_read(const ValueRead& read) {
  std::string text = read.what.empty() && read.line.empty() ? "an unknown line" : read.what;
  if (!read.line.empty()) text += (text.empty() ? "" : " by ") + read.line;
  std::string more = read.count > 1 ? text_from_count(read.count) + " times" : "";
  if (read.assumed) more += (more.empty() ? "assumed " : ", assumed ") + text_from_assumed(*read.assumed);
  return more.empty() ? text : fmt::format("{} ({})", text, more);
}

std::string text_from_reads(std::span<const ValueRead> reads) {
  constexpr std::size_t shown_max = 4;
  std::string text;
  for (const ValueRead& read : reads.first(std::min(shown_max, reads.size())))
    text += (text.empty() ? "" : ", ") + text_from_read(read);
  if (reads.size() > shown_max) text += fmt::format(" and {} more", reads.size() - shown_max);
  return text;
}

std::span<const ValueRead> sizing_reads(std::span<const ValueRead> reads) {
  const auto end = std::find_if(reads.begin(), reads.end(), [](const ValueRead& read) { return !read.decides_size; });
  return reads.first(static_cast<std::size_t>(end - reads.begin()));
}

// What a program that has made an optimizer did not do. Empty if it has trained, or it is not known.
std::string text_from_training(const DryRunProof& proof) {
  const Training& training = proof.training;
  if (!training.has_optimizer || !training.steps) return {};
  if (*training.steps == 0)
    return fmt::format("No {}optimizer step was seen: the peak of a training step is not in this figure.\n",
                       training.has_backward == false ? "backward pass and no " : "");
  // The state that the first step makes is there from the second one on. A program without reads ends where it always
  // does.
  if (*training.steps == 1 && !proof.reads.empty())
    return "Only one optimizer step was seen: a second one begins with the optimizer's state and may need more.\n";
  return {};
}

}  // namespace

std::vector<ValueRead> value_reads_from(std::span<const device::ValueReads> reads, std::span<const AssumedSize> assumed,
                                        const Trace* trace) {
  std::vector<ValueRead> found;
  for (const device::ValueReads& one : reads) {
    ValueRead read = find_read(one, trace);
    const auto same = std::find_if(found.begin(), found.end(), [&](const ValueRead& other) {
      return static_cast<const ReadPlace&>(other) == read;
    });
    ValueRead& sum = same != found.end() ? *same : found.emplace_back(std::move(read));
    sum.count += one.count;
    sum.bytes_max = std::max(sum.bytes_max, one.bytes_max);
  }
  for (const AssumedSize& one : assumed) {
    auto same = std::find_if(found.begin(), found.end(),
                             [&](const ValueRead& other) { return other.what == one.what && other.line == one.line; });
    if (same == found.end()) same = found.insert(found.end(), {{true, one.what, one.line}, one.times, 0, {}});
    same->decides_size = true;
    if (!same->assumed) same->assumed = one.assumed;
    ValueRead::Assumed& size = *same->assumed;
    size = {std::min(size.least, one.assumed.least), std::max(size.most, one.assumed.most),
            std::max(size.worst, one.assumed.worst)};
  }
  std::stable_sort(found.begin(), found.end(), [](const ValueRead& a, const ValueRead& b) {
    return a.decides_size != b.decides_size ? a.decides_size : a.count > b.count;
  });
  return found;
}

Training training_from(std::span<const TrainingReport> reports, const Trace* trace) {
  Training training;
  for (const TrainingReport& report : reports) {
    training.has_optimizer |= report.has_optimizer;
    if (report.steps) training.steps = training.steps.value_or(0) + *report.steps;
  }
  if (trace == nullptr) return training;
  for (const Stream& stream : trace->streams) {
    if (stream.definitions().stack_count() <= 1) continue;
    training.has_backward = training.has_backward.value_or(false) || has_autograd_frames(stream.definitions());
  }
  return training;
}

std::string text_from_proof(const DryRunProof& proof) {
  const auto sizing = sizing_reads(proof.reads);
  const auto others = std::span(proof.reads).subspan(sizing.size());
  std::string text;
  if (!sizing.empty())
    text += fmt::format("Not proved: {} values that a dry run does not compute: {}.\n",
                        sizing.size() == 1 ? "a size depends on" : fmt::format("{} sizes depend on", sizing.size()),
                        text_from_reads(sizing));
  if (!others.empty())
    text += fmt::format(
        "The program {}reads {}: {}. If it branches on them, the figures may differ.\n", sizing.empty() ? "" : "also ",
        sizing.empty() ? "values that a dry run does not compute" : "others of these values", text_from_reads(others));
  return text + text_from_training(proof);
}

std::vector<std::string> doubts_of(const DryRunProof& proof) {
  std::vector<std::string> doubts;
  const auto sizing = sizing_reads(proof.reads);
  if (!sizing.empty()) doubts.emplace_back("sizes");
  if (sizing.size() < proof.reads.size()) doubts.emplace_back("values");
  if (!text_from_training(proof).empty()) doubts.emplace_back("training");
  return doubts;
}

}  // namespace hbmscope
