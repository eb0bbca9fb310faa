// What blocks are. The framework and the collector's agent say it of allocations (attributes), and it follows for
// others like them:
//
//   array      "f32[8192,4096] output 3 of jit_train_step"
//   name       in the program: "params['dense']['kernel']"
//   held by    "local of main (train.py)"
//   category   what the block is for
//   autograd graph   "11 earlier steps": what PyTorch keeps to differentiate the tensor reaches so far back
//
// An allocation without a name or a holder has that of all others with the same array. Its category is the first of
// 1. what was said about it;
// 2. what was said about all others with the same array;
// 3. XLA: temporaries, if a program allocated it and it is no array; inputs, if the array came from the host;
// 4. what was said about all others of the same stack and size;
// 5. PyTorch: activations, if it was allocated in a module's forward() or in torch.nn.functional; temporaries, if
// autograd
//    or an optimizer allocated it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

enum class Category : std::uint8_t {
  unknown,
  parameters,
  gradients,
  optimizer_state,
  activations,
  inputs,
  temporaries,
};
inline constexpr std::size_t category_count = 7;
std::string_view text_from_category(Category category);  // "optimizer state"; "other" if unknown.

// The labels of one stream, found in one pass over its attributes. The stream must outlive it.
class BlockLabels {
 public:
  explicit BlockLabels(const Stream& stream);

  // Empty: unknown. `allocation` is the number of its event in the stream.
  std::string_view array(std::uint64_t allocation) const { return text(label_of(allocation).array); }
  std::string_view name(std::uint64_t allocation) const;
  std::string_view holder(std::uint64_t allocation) const;
  Category category(const LiveBlock& block) const;
  // How many earlier steps the tensor's autograd graph has operations of.
  std::uint64_t graph_steps(std::uint64_t allocation) const { return label_of(allocation).graph_steps; }

  // "params['w'] f32[8,4]", or what is known of it. Empty if there is nothing.
  std::string title(std::uint64_t allocation) const;

  // Whether anything was said about what blocks are for.
  bool has_categories() const { return has_categories_; }
  bool has_names() const { return has_names_; }

 private:
  struct Label {
    std::uint32_t array = 0, name = 0, holder = 0;  // Strings.
    Category category = Category::unknown;
    std::uint64_t graph_steps = 0;
  };
  struct Site {  // Where blocks are allocated.
    std::uint32_t stack = 0;
    std::uint64_t size = 0;
    friend bool operator==(const Site&, const Site&) = default;
  };
  struct HashOfSite {
    std::size_t operator()(const Site& site) const {
      return static_cast<std::size_t>((site.size ^ (std::uint64_t{site.stack} << 32)) * 0x9e3779b97f4a7c15U);
    }
  };
  // What all said the same of; `is_mixed`: they did not.
  template <class Value>
  struct Common {
    Value value = {};
    bool is_mixed = false;
    void add(Value other) {
      if (value == Value{}) value = other;
      is_mixed = is_mixed || value != other;
    }
    Value get() const { return is_mixed ? Value{} : value; }
  };

  const Label& label_of(std::uint64_t allocation) const;
  std::string_view text(std::uint32_t id) const { return id == 0 ? std::string_view() : definitions_.text(id); }
  void classify_stacks();
  void find_programs();

  const Definitions& definitions_;
  std::unordered_map<std::uint64_t, Label> labels_;  // By allocation.
  std::unordered_map<std::uint32_t, Common<std::uint32_t>> names_of_arrays_, holders_of_arrays_;
  std::unordered_map<std::uint32_t, Common<Category>> categories_of_arrays_;
  std::unordered_map<Site, Common<Category>, HashOfSite> categories_of_sites_;
  std::vector<Category> categories_of_stacks_;
  std::unordered_set<std::uint32_t> programs_;  // Tags that are names of programs.
  bool has_categories_ = false, has_names_ = false;
};

// One for each stream of a trace.
std::vector<BlockLabels> labels_of(const Trace& trace);

}  // namespace hbmscope
