#include "app/gui/sources/jobs.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/read/json_fields.h"
#include "analysis/units/contains.h"

namespace hbmscope::gui {
namespace {

// A script passed on a command line has many lines.
std::string one_line(std::string text) {
  constexpr std::size_t length_max = 400;
  if (text.size() > length_max) text = text.substr(0, length_max) + "...";
  std::replace_if(
      text.begin(), text.end(), [](unsigned char letter) { return letter < ' '; }, ' ');
  return text;
}

std::optional<std::uint64_t> bytes_at(const nlohmann::json& json, const char* key) {
  const auto& bytes = json.at(key);
  return bytes.is_number_unsigned() ? std::optional(bytes.get<std::uint64_t>()) : std::nullopt;
}

JobRow row_from(const nlohmann::json& json) {
  JobRow row;
  row.process = json.at("pid").get<std::int64_t>();
  row.parent = json.value("parent", std::int64_t{0});  // Another machine's hbmscope may be older and not report it.
  row.user = text_at(json, "user");
  row.command = one_line(text_at(json, "command"));
  const auto add = [&](const std::string& word) { row.loaded += (row.loaded.empty() ? "" : ", ") + word; };
  for (const auto& framework : json.at("frameworks")) add(framework.get<std::string>());
  if (json.at("has_pjrt").get<bool>()) add("PJRT plugin");
  row.has_cuda = json.at("has_cuda").get<bool>();
  if (row.has_cuda) add("CUDA");
  if (json.at("is_annotated").get<bool>()) add("annotated allocator");
  row.visible = text_at(json, "visible");
  for (const auto& holding : json.at("devices")) {
    row.devices.push_back(holding.at("device").get<std::uint32_t>());
    if (holding.at("bytes").is_number_unsigned())
      row.bytes = row.bytes.value_or(0) + holding.at("bytes").get<std::uint64_t>();
  }
  if (json.at("observer").is_number_integer()) row.observer = json.at("observer").get<std::int64_t>();
  row.refusal = text_at(json, "refusal");
  row.remedy = text_at(json, "remedy");
  return row;
}

}  // namespace

Result<JobListing> job_listing_from(const std::string& text) {
  JobListing listing;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    for (const auto& device : json.at("devices"))
      listing.devices.push_back({text_at(device, "name"), bytes_at(device, "total_bytes"),
                                 bytes_at(device, "used_bytes"), text_at(device, "title")});
    for (const auto& job : json.at("jobs")) listing.jobs.push_back(row_from(job));
    listing.not_looked_at = json.value("not_looked_at", std::uint64_t{0});
  } catch (const nlohmann::json::exception&) {
    return Failure({text.empty() ? "the list of jobs is empty" : text.substr(0, 200), {}, {}, std::nullopt, false});
  }
  return listing;
}

std::size_t count_ranks(const JobListing& listing, const JobRow& job) {
  const auto is_helper = [&](const JobRow& one) {
    return one.devices.empty() && std::any_of(listing.jobs.begin(), listing.jobs.end(), [&](const JobRow& other) {
             return other.process == one.parent && other.command == one.command;
           });
  };
  return static_cast<std::size_t>(std::count_if(listing.jobs.begin(), listing.jobs.end(), [&](const JobRow& one) {
    return one.command == job.command && one.user == job.user && one.can_be_attached() &&
           (one.process == job.process || !is_helper(one));
  }));
}

std::uint32_t device_of(const JobRow& job) {
  return job.devices.empty() ? std::numeric_limits<std::uint32_t>::max()
                             : *std::min_element(job.devices.begin(), job.devices.end());
}

namespace {

std::string_view program_of(const JobRow& job) {
  const std::string_view command = job.command;
  const std::string_view program = command.substr(0, command.find(' '));
  return program.substr(program.rfind('/') + 1);
}

// A child of a listed job that holds no device memory itself, such as addr2line or a loader of data.
bool is_helper(const JobListing& listing, const JobRow& job) {
  if (!job.devices.empty() || job.observer) return false;
  return std::any_of(listing.jobs.begin(), listing.jobs.end(), [&](const JobRow& other) {
    return other.process == job.parent && (!other.devices.empty() || program_of(other) != program_of(job));
  });
}

}  // namespace

std::vector<const JobRow*> filter_jobs(const JobListing& listing, const std::string& filter) {
  std::vector<const JobRow*> found;
  for (const JobRow& row : listing.jobs) {
    if (is_helper(listing, row)) continue;
    const std::string all = std::to_string(row.process) + " " + row.user + " " + row.command + " " + row.loaded;
    std::istringstream words(filter);
    bool has_all = true;
    for (std::string word; words >> word;) has_all = has_all && contains_ignoring_case(all, word);
    if (has_all) found.push_back(&row);
  }
  std::stable_sort(found.begin(), found.end(), [](const JobRow* a, const JobRow* b) {
    return std::pair(device_of(*a), a->process) < std::pair(device_of(*b), b->process);
  });
  return found;
}

}  // namespace hbmscope::gui
