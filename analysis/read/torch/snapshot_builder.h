// Converts the Document of a pickle to the columns of a TorchSnapshot. It walks to a fixed depth (segments, blocks,
// entries, frames), so a pickle that contains itself is harmless, and creates no more rows than the size of the pickle
// allows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/pickle/read_pickle.h"
#include "analysis/read/read_control.h"
#include "analysis/read/torch/field_reader.h"
#include "analysis/read/torch/shape_fields.h"
#include "analysis/read/torch/stack_builder.h"
#include "analysis/read/torch/text_builder.h"
#include "analysis/read/torch/torch_snapshot.h"

namespace hbmscope::torch {

class SnapshotBuilder final : public pickle::ItemTaker {
 public:
  // Adds to `snapshot`, whose pickle_bytes and file must be set. The document may be read afterwards, with this object
  // as its taker.
  SnapshotBuilder(const pickle::Document& document, TorchSnapshot& snapshot, ReadControl* control);

  // Call when the document is complete. Returns the reason if this is not a snapshot; meaningless if the taker has
  // given up.
  std::optional<Error> build();

 private:
  // read_segments.cpp
  void add_segments(pickle::Value segments);
  void add_segment(const ShapeFields::Record& record);
  void add_blocks(pickle::Value blocks, std::uint64_t segment_address);
  void add_block(const ShapeFields::Record& record, std::uint64_t& address);

  // read_traces.cpp
  bool wants(std::span<const pickle::Value> stack) override;
  bool take(std::span<const pickle::Value> stack, std::span<const pickle::Value> items) override;
  bool waits_for(pickle::Value container) const override { return container == root_ || container == traces_list_; }
  TorchTrace& begin_trace();
  bool add_traces(pickle::Value traces);
  void add_entries(std::span<const pickle::Value> entries, TorchTrace& trace);
  void add_entry(const ShapeFields::Record& record, TorchTrace& trace);
  TorchAction action(pickle::Value text);
  TorchPoolId pool(pickle::Value id);

  // read_annotations.cpp
  void add_annotations(pickle::Value annotations);
  void add_settings(pickle::Value settings, const std::string& prefix, unsigned depth);

  bool take_rows(std::uint64_t rows);  // False once there are more rows than the size of the pickle allows.
  std::optional<Error> no_snapshot() const;
  void add_statistics();

  const pickle::Document& document_;
  TorchSnapshot& snapshot_;
  ReadControl* const control_;
  ShapeFields fields_;
  TextBuilder texts_;
  StackBuilder stacks_;
  FieldReader numbers_;

  pickle::Value root_ = pickle::Value::missing(), traces_list_ = pickle::Value::missing();  // While reading.
  std::vector<pickle::Value> taken_lists_;  // By trace: the list whose entries were taken while reading; missing: none.

  bool has_taken_ = false;
  bool has_met_list_for_pool_ = false;  // Unlike a tuple, it may still grow.

  std::uint64_t rows_left_;
  bool too_many_rows_ = false, cancelled_ = false;
  std::array<std::pair<std::uint32_t, TorchAction>, 32> known_actions_;  // By text number, modulo.

  // Counted while walking; reported as statistics at the end.
  struct Odd {
    std::int64_t segments = 0, blocks = 0, entries = 0, traces = 0;  // Malformed and left out.
    std::int64_t segment_sums = 0, segment_types = 0, block_states = 0, actions = 0;
    std::int64_t entries_without_address = 0, without_size = 0, annotations = 0, settings = 0;
    std::string first_action, first_state;
  } odd_;
};

}  // namespace hbmscope::torch
