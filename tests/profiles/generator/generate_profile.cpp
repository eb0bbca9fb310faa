#include "tests/profiles/generator/generate_profile.h"

#include <libdeflate.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/profiles/generator/call_graph.h"
#include "tests/profiles/generator/random.h"
#include "tests/profiles/generator/wire_writer.h"

namespace hbmscope::test {
namespace {

// Fields of the messages, by their numbers in the public definition.
constexpr std::uint32_t profile_sample_type = 1, profile_sample = 2, profile_location = 4, profile_function = 5,
                        profile_string_table = 6;

class Writer {
 public:
  explicit Writer(const GeneratedProfile& request)
      : request_(request), random_(request.seed), graph_(random_), location_of_site_(graph_.sites().size(), 0) {}

  std::string write() {
    string_id("");
    put_value_type("allocations", "count");
    put_value_type("space", "bytes");
    const std::uint64_t kind = string_id("kind");
    buffer_label_ = label(kind, string_id("buffer"));
    executable_label_ = label(kind, string_id("executable"));
    const std::uint64_t device = string_id("device");
    for (std::uint32_t i = 0; i < request_.devices; ++i)
      device_labels_.push_back(label(device, string_id(device_name(i))));
    make_sizes();
    use_startup_sites();
    out_.reserve(out_.size() + request_.samples * 118);
    for (std::uint64_t i = 0; i < request_.samples; ++i) put_sample();
    put_locations();
    put_functions();
    for (const std::string& text : strings_) put_bytes(out_, profile_string_table, text);
    return std::move(out_);
  }

 private:
  std::string device_name(std::uint32_t i) const {
    const std::string id = std::to_string(i);
    if (request_.unknown_executables)
      return "TPU_" + id + "(process=0,(" + std::to_string(i / 2) + ",0,0," + std::to_string(i % 2) + "))";
    return "NVIDIA H100 80GB HBM3_" + id + "(process=0,(" + id + ",))";
  }

  void make_sizes() {
    for (int i = 0; i < 400; ++i) sizes_.push_back((std::uint64_t{2} << random_.below(16)) * random_.between(1, 1'000));
  }

  std::uint64_t string_id(const std::string& text) {
    const auto [place, is_new] = string_ids_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    return place->second;
  }

  static std::string label(std::uint64_t key, std::uint64_t text) {
    std::string body, field;
    put_integer(body, 1, key);
    put_integer(body, 2, text);
    put_bytes(field, 3, body);
    return field;
  }

  void put_value_type(const std::string& type, const std::string& unit) {
    std::string body;
    put_integer(body, 1, string_id(type));
    put_integer(body, 2, string_id(unit));
    put_bytes(out_, profile_sample_type, body);
  }

  std::uint64_t location_id(std::uint32_t site) {
    if (location_of_site_[site] == 0) {
      used_sites_.push_back(site);
      location_of_site_[site] = used_sites_.size();
    }
    return location_of_site_[site];
  }

  // Allocations before the training loop: a few hundred constants, each with its own site. They take the ids of one
  // byte, so that the loop's stacks have ids of two and three bytes.
  void use_startup_sites() {
    for (int i = 0; i < 300; ++i) location_id(random_.below(static_cast<std::uint32_t>(graph_.sites().size())));
  }

  void put_sample() {
    graph_.walk(random_, stack_);
    locations_.clear();
    for (const std::uint32_t site : stack_) put_varint(locations_, location_id(site));
    const bool executable = random_.one_in(32);
    const std::uint64_t count = random_.one_in(4) ? random_.between(2, 90) : 1;
    const std::uint64_t size = executable && request_.unknown_executables
                                   ? ~std::uint64_t{0}
                                   : sizes_[random_.skewed(static_cast<std::uint32_t>(sizes_.size()))];
    values_.clear();
    put_varint(values_, count);
    put_varint(values_, count * size);  // -1 times count for an executable of unknown size, as JAX does.
    sample_.clear();
    put_bytes(sample_, 1, locations_);
    put_bytes(sample_, 2, values_);
    sample_ += executable ? executable_label_ : buffer_label_;
    if (!executable) sample_ += device_labels_[random_.below(request_.devices)];
    put_bytes(out_, profile_sample, sample_);
  }

  void put_locations() {
    for (std::size_t i = 0; i < used_sites_.size(); ++i) {
      const GeneratedSite& site = graph_.sites()[used_sites_[i]];
      std::string line, body;
      put_integer(line, 1, function_id(site.function));
      put_integer(line, 2, site.line);
      put_integer(body, 1, i + 1);
      put_bytes(body, 4, line);
      put_bytes(out_, profile_location, body);
    }
  }

  std::uint64_t function_id(std::uint32_t function) {
    const auto [place, is_new] = function_ids_.try_emplace(function, used_functions_.size() + 1);
    if (is_new) used_functions_.push_back(function);
    return place->second;
  }

  void put_functions() {
    for (std::size_t i = 0; i < used_functions_.size(); ++i) {
      const GeneratedFunction& function = graph_.functions()[used_functions_[i]];
      std::string body;
      put_integer(body, 1, i + 1);
      put_integer(body, 2, string_id(function.name));
      put_integer(body, 3, string_id(function.name));
      put_integer(body, 4, string_id(function.file));
      put_integer(body, 5, function.first_line);
      put_bytes(out_, profile_function, body);
    }
  }

  const GeneratedProfile& request_;
  Random random_;
  CallGraph graph_;
  std::vector<std::string> strings_;
  std::unordered_map<std::string, std::uint64_t> string_ids_;
  std::vector<std::uint64_t> location_of_site_;  // Id of the site's location; 0: not used yet.
  std::vector<std::uint32_t> used_sites_;        // By location id - 1.
  std::unordered_map<std::uint32_t, std::uint64_t> function_ids_;
  std::vector<std::uint32_t> used_functions_;  // By function id - 1.
  std::vector<std::uint64_t> sizes_;
  std::string buffer_label_, executable_label_;
  std::vector<std::string> device_labels_;
  std::vector<std::uint32_t> stack_;
  std::string locations_, values_, sample_, out_;
};

}  // namespace

std::string generate_profile(const GeneratedProfile& request) {
  return Writer(request).write();
}

std::string gzip_text(const std::string& bytes) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor, bytes.data(), bytes.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

}  // namespace hbmscope::test
