#include "allocator/emulated/workload/workloads.h"

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace hbmscope::allocator::workload {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

// Stacks, innermost frame first. The files belong to an imaginary program; the flame graph shows these lines.
constexpr Frame init_frames[] = {
    {"init_layer", "model.py", 24}, {"init_params", "model.py", 41}, {"main", "train.py", 88}};
constexpr Frame adam_frames[] = {{"init_moments", "adam.py", 15}, {"main", "train.py", 90}};
constexpr Frame batch_frames[] = {
    {"next_batch", "data.py", 33}, {"train_step", "train.py", 51}, {"main", "train.py", 97}};
constexpr Frame qkv_frames[] = {{"qkv", "attention.py", 19},
                                {"block", "model.py", 57},
                                {"forward", "model.py", 72},
                                {"train_step", "train.py", 53},
                                {"main", "train.py", 97}};
constexpr Frame scores_frames[] = {{"scores", "attention.py", 26},
                                   {"block", "model.py", 57},
                                   {"forward", "model.py", 72},
                                   {"train_step", "train.py", 53},
                                   {"main", "train.py", 97}};
constexpr Frame mlp_frames[] = {{"mlp", "model.py", 63},
                                {"block", "model.py", 58},
                                {"forward", "model.py", 72},
                                {"train_step", "train.py", 53},
                                {"main", "train.py", 97}};
constexpr Frame residual_frames[] = {
    {"block", "model.py", 60}, {"forward", "model.py", 72}, {"train_step", "train.py", 53}, {"main", "train.py", 97}};
constexpr Frame gradient_frames[] = {
    {"backward", "model.py", 81}, {"train_step", "train.py", 55}, {"main", "train.py", 97}};
constexpr Frame update_frames[] = {{"update", "adam.py", 31}, {"train_step", "train.py", 58}, {"main", "train.py", 97}};
constexpr Frame metrics_frames[] = {
    {"keep", "metrics.py", 17}, {"train_step", "train.py", 60}, {"main", "train.py", 97}};
constexpr Frame load_frames[] = {{"load_weights", "serve.py", 29}, {"main", "serve.py", 102}};
constexpr Frame cache_frames[] = {
    {"new_cache", "kv_cache.py", 44}, {"begin_request", "serve.py", 61}, {"main", "serve.py", 110}};
constexpr Frame decode_frames[] = {{"decode", "serve.py", 77}, {"main", "serve.py", 110}};
constexpr Frame fill_frames[] = {{"load_table", "tables.py", 12}, {"main", "tables.py", 40}};
constexpr Frame index_frames[] = {{"build_index", "tables.py", 22}, {"main", "tables.py", 41}};
constexpr Frame join_frames[] = {{"join", "tables.py", 31}, {"main", "tables.py", 44}};

constexpr Site parameters{init_frames, "parameters"}, moments{adam_frames, "optimizer state"},
    batch{batch_frames, "inputs"};
constexpr Site qkv{qkv_frames, "activations"}, scores{scores_frames, "activations"}, mlp{mlp_frames, "activations"};
constexpr Site residual{residual_frames, "activations"}, gradients{gradient_frames, "gradients"};
constexpr Site update{update_frames, "temporaries"}, metrics{metrics_frames, nullptr};
constexpr Site weights{load_frames, "parameters"}, cache{cache_frames, "kv cache"},
    logits{decode_frames, "temporaries"};
constexpr Site table{fill_frames, "tables"}, index_site{index_frames, "indices"}, joined{join_frames, "tables"};

class Marked {
 public:
  Marked(Device& device, const char* name) : device_(device), name_(name) { device_.mark(name_, Phase::begins); }
  ~Marked() { device_.mark(name_, Phase::ends); }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;

 private:
  Device& device_;
  const char* name_;
};

// A transformer of 16 blocks with Adam: 4.6 GiB that stay, and activations of 0.5 GiB per block for 8 sequences.
class Training : public Workload {
 public:
  explicit Training(bool has_checkpoints) : has_checkpoints_(has_checkpoints) {}

  void step(Device& device) override {
    if (state_.empty()) begin(device);
    const Marked marked(device, "step");
    run(device, sequences_);
  }

 protected:
  static constexpr int blocks = 16;
  static constexpr std::uint64_t weight_bytes = 96 * mib;

  void begin(Device& device) {
    std::vector<Array> state;  // All or nothing: a program whose model does not fit has none.
    for (int i = 0; i < blocks; ++i) state.emplace_back(device, weight_bytes, parameters);
    for (int i = 0; i < 2 * blocks; ++i) state.emplace_back(device, weight_bytes, moments);
    state_ = std::move(state);
  }

  using Activations = std::vector<Array>;

  Activations forward(Device& device, std::uint64_t sequences) {
    Activations made;
    made.emplace_back(device, sequences * 12 * mib, qkv);
    made.emplace_back(device, sequences * 32 * mib + 4 * kib, scores);
    const Array hidden(device, sequences * 16 * mib, mlp);  // Not needed for the gradient.
    made.emplace_back(device, sequences * 12 * mib, mlp);
    return made;
  }

  void run(Device& device, std::uint64_t sequences) {
    const Array inputs(device, sequences * 2 * mib + 512, batch);
    std::vector<Array> residuals;
    std::vector<Activations> kept;
    for (int i = 0; i < blocks; ++i) {
      residuals.emplace_back(device, sequences * 8 * mib, residual);
      Activations made = forward(device, sequences);
      if (!has_checkpoints_) kept.push_back(std::move(made));
    }
    std::vector<Array> gradient;
    for (int i = blocks; i-- > 0;) {
      if (has_checkpoints_) kept.push_back(forward(device, sequences));  // Recomputed from the residual.
      const Array incoming(device, sequences * 8 * mib, gradients);
      gradient.emplace_back(device, weight_bytes, gradients);
      kept.pop_back();
      residuals.pop_back();
    }
    for (Array& one : gradient) {
      const Array scratch(device, weight_bytes / 2, update);
      one.reset();
    }
  }

  std::uint64_t sequences_ = 8;

 private:
  bool has_checkpoints_;
  std::vector<Array> state_;
};

class GrowingBatches final : public Training {
 public:
  GrowingBatches() : Training(false) { sequences_ = 2; }
  void step(Device& device) override {
    try {
      Training::step(device);
    } catch (const OutOfMemory&) {
      sequences_ = 2;  // As a person does who has found the limit.
      throw;
    }
    ++sequences_;
  }
};

class Leak final : public Training {
 public:
  Leak() : Training(true) {}
  void step(Device& device) override {
    try {
      Training::step(device);
      kept_.emplace_back(device, 192 * mib, metrics);  // Never needed again.
    } catch (const OutOfMemory&) {
      kept_.clear();  // The program was restarted.
      throw;
    }
  }

 private:
  std::vector<Array> kept_;
};

// Requests of all lengths come and go. Each has a cache for its maximum length.
class Inference final : public Workload {
 public:
  explicit Inference(std::uint64_t seed) : random_(seed) {}

  void step(Device& device) override {
    if (weights_.empty())
      for (int i = 0; i < 24; ++i) weights_.emplace_back(device, 192 * mib, weights);
    const Marked marked(device, "decode");
    // A few long ones among many short ones.
    const auto tokens =
        static_cast<std::uint64_t>(256.0 * std::exp2(6.0 * std::generate_canonical<double, 32>(random_)));
    while (!requests_.empty() && (requests_.size() >= 20 || random_() % 3 == 0)) end_one();
    try {
      requests_.emplace_back(device, tokens * 120 * kib + 4096, cache);
      const Array scratch(device, (16 + random_() % 48) * mib, logits);
    } catch (const OutOfMemory&) {
      for (int i = 0; i < 6 && !requests_.empty(); ++i) end_one();  // Some are rejected.
      throw;
    }
  }

 private:
  void end_one() {
    const std::size_t at = random_() % requests_.size();
    std::swap(requests_[at], requests_.back());
    requests_.pop_back();
  }

  std::mt19937_64 random_;
  std::vector<Array> weights_, requests_;
};

// Two models that are too large to be on one device together. Each leaves holes that the other one does not fill.
class TwoModels final : public Workload {
 public:
  void step(Device& device) override {
    const bool is_first = number_++ % 2 == 0;
    const Marked marked(device, is_first ? "model A" : "model B");
    std::vector<Array> model;
    for (int i = 0; i < (is_first ? 20 : 12); ++i) {
      model.emplace_back(device, is_first ? 400 * mib : 640 * mib, weights);
      // The compiler's data for each layer stays.
      if (number_ <= 2) kept_.emplace_back(device, is_first ? 24 * mib : 40 * mib, index_site);
    }
    for (int request = 0; request < 12; ++request) {
      const Array long_cache(device, static_cast<std::uint64_t>(request + 1) * 96 * mib, cache);
      const Array scratch(device, 64 * mib, logits);
    }
  }

 private:
  int number_ = 0;
  std::vector<Array> kept_;
};

// Eight tables, each followed by an index. The tables are freed, the indices stay, and a join as large as two tables
// does not fit into the holes that eight tables left.
class Fragments final : public Workload {
 public:
  void step(Device& device) override {
    const Marked marked(device, "load, index, join");
    std::vector<Array> tables, indices;
    for (int i = 0; i < 8; ++i) {
      device.rest(0.2);
      tables.emplace_back(device, 3 * gib / 2, table);
      indices.emplace_back(device, 3 * gib / 4 - 64 * kib, index_site);
    }
    for (Array& one : tables) {
      device.rest(0.1);
      one.reset();
    }
    try {
      const Array result(device, 3 * gib, joined);
      device.rest(2);
    } catch (const OutOfMemory&) {
      device.rest(4);  // Keep the state at the failure visible.
      throw;
    }
  }
};

constexpr Description descriptions[] = {
    {"training", "A training step, with Adam",
     "Activations grow in the forward pass and are freed in the backward pass."},
    {"checkpointing", "A training step with gradient checkpointing",
     "Activations are computed twice, and the peak is half as high."},
    {"growing", "Batches that grow until one fails", "How close the limit is, and which request fails at it."},
    {"inference", "A server with requests of all lengths", "Caches of all sizes leave gaps, so fragmentation rises."},
    {"two-models", "Two models in turn", "What remains of one model fragments the memory of the other."},
    {"leak", "Training that keeps too much", "A line of code whose bytes never fall, until a step fails."},
    {"fragments", "Why 3 GiB fail with 12 GiB free", "Enough is free, but in eight blocks that indices keep apart."},
};

}  // namespace

std::span<const Description> all_workloads() {
  return descriptions;
}

std::unique_ptr<Workload> make_workload(std::string_view name, std::uint64_t seed) {
  if (name == "training") return std::make_unique<Training>(false);
  if (name == "checkpointing") return std::make_unique<Training>(true);
  if (name == "growing") return std::make_unique<GrowingBatches>();
  if (name == "inference") return std::make_unique<Inference>(seed);
  if (name == "two-models") return std::make_unique<TwoModels>();
  if (name == "leak") return std::make_unique<Leak>();
  if (name == "fragments") return std::make_unique<Fragments>();
  return nullptr;
}

}  // namespace hbmscope::allocator::workload
