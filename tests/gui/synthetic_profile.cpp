#include "tests/gui/synthetic_profile.h"

#include <pprof.pb.h>

#include <fstream>
#include <map>
#include <tuple>

namespace hbmscope::test {

namespace {

class ProfileWriter {
 public:
  ProfileWriter() {
    text("");
    add_value_type("allocations", "count");
    add_value_type("space", "bytes");
  }

  void add(const SyntheticSample& sample) {
    pprof::Sample* out = profile_.add_sample();
    for (std::size_t i = sample.stack.size(); i > 0; --i) out->add_location_id(location(sample.stack[i - 1]));
    out->add_value(sample.count);
    out->add_value(sample.bytes);
    add_label(out, "kind", sample.kind);
    add_label(out, "device", sample.device);
  }

  std::string bytes() const { return profile_.SerializeAsString(); }

 private:
  std::int64_t text(const std::string& value) {
    const auto [found, is_new] = texts_.try_emplace(value, profile_.string_table_size());
    if (is_new) profile_.add_string_table(value);
    return found->second;
  }

  void add_value_type(const std::string& type, const std::string& unit) {
    pprof::ValueType* out = profile_.add_sample_type();
    out->set_type(text(type));
    out->set_unit(text(unit));
  }

  void add_label(pprof::Sample* sample, const std::string& key, const std::string& value) {
    if (value.empty()) return;
    pprof::Label* label = sample->add_label();
    label->set_key(text(key));
    label->set_str(text(value));
  }

  std::uint64_t function(const SyntheticFrame& frame) {
    const auto [found, is_new] = functions_.try_emplace({frame.function, frame.file}, functions_.size() + 1);
    if (is_new) {
      pprof::Function* out = profile_.add_function();
      out->set_id(found->second);
      out->set_name(text(frame.function));
      out->set_system_name(text(frame.function));
      out->set_filename(text(frame.file));
    }
    return found->second;
  }

  std::uint64_t location(const SyntheticFrame& frame) {
    const auto [found, is_new] =
        locations_.try_emplace({frame.function, frame.file, frame.line}, locations_.size() + 1);
    if (is_new) {
      pprof::Location* out = profile_.add_location();
      out->set_id(found->second);
      pprof::Line* line = out->add_line();
      line->set_function_id(function(frame));
      line->set_line(frame.line);
    }
    return found->second;
  }

  pprof::Profile profile_;
  std::map<std::string, std::int64_t> texts_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> functions_;
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::uint64_t> locations_;
};

const std::vector<SyntheticFrame> in_main{{"<module>", "/home/ada/llm/train.py", 90},
                                          {"main", "/home/ada/llm/train.py", 71}};

std::vector<SyntheticFrame> below(std::vector<SyntheticFrame> outer, const std::vector<SyntheticFrame>& inner) {
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

constexpr const char* tpu_0 = "TPU_0(process=0,(0,0,0,0))";
constexpr const char* tpu_1 = "TPU_1(process=0,(1,0,0,0))";

}  // namespace

void write_synthetic_profile(const std::filesystem::path& file, const std::vector<SyntheticSample>& samples) {
  ProfileWriter writer;
  for (const SyntheticSample& sample : samples) writer.add(sample);
  std::ofstream(file, std::ios::binary) << writer.bytes();
}

std::vector<SyntheticSample> training_samples() {
  const SyntheticFrame train{"train", "/home/ada/llm/train.py", 52}, step{"step", "/home/ada/llm/train.py", 33};
  const auto init = below(in_main, {{"init_params", "/home/ada/llm/model.py", 18}});
  return {
      {init, tpu_0, "buffer", 256 * profile_mib, 8},
      {init, tpu_1, "buffer", 256 * profile_mib, 8},
      {below(in_main, {train, {"make_batch", "/home/ada/llm/data.py", 41}}), tpu_0, "buffer", 256 * profile_mib, 4},
      {below(in_main, {train, step, {"loss", "/home/ada/llm/model.py", 60}}), tpu_1, "buffer", 192 * profile_mib, 3},
      {below(in_main, {train, step, {"jit_step", "/usr/lib/python3/site-packages/jax/_src/pjit.py", 700}}), tpu_0,
       "executable", 64 * profile_mib, 1},
  };
}

std::vector<SyntheticSample> leaking_samples() {
  std::vector<SyntheticSample> samples = training_samples();
  samples[2].bytes = 128 * profile_mib;
  samples[2].count = 2;
  const SyntheticFrame train{"train", "/home/ada/llm/train.py", 52};
  samples.push_back(
      {below(in_main, {train, {"log_metrics", "/home/ada/llm/train.py", 47}}), tpu_0, "buffer", 256 * profile_mib, 32});
  return samples;
}

}  // namespace hbmscope::test
