#include "analysis/read/torch/json_document.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/read/json_fields.h"
#include "analysis/read/pickle/document_builder.h"

namespace hbmscope::torch {
namespace {

using pickle::Value;

constexpr std::size_t nesting_max = 4'096;  // As for pickles.

class Handler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(pickle::DocumentBuilder& builder, const ReadControl* control) : builder_(builder), control_(control) {}

  bool null() override { return add(Value::none()); }
  bool boolean(bool value) override { return add(Value::boolean(value)); }
  bool number_integer(number_integer_t number) override { return add(builder_.add_integer(number)); }
  bool number_unsigned(number_unsigned_t number) override {
    if (number > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return add(builder_.add_wide_integer({number, false, false}));
    return add(builder_.add_integer(static_cast<std::int64_t>(number)));
  }
  bool number_float(number_float_t number, const string_t&) override { return add(builder_.add_real(number)); }
  bool string(string_t& text) override { return add(builder_.add_text(text)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(builder_.add_dict()); }
  bool key(string_t& name) override { return add(builder_.add_text(name)); }
  bool end_object() override {
    builder_.set_items(open_.back().container, items_of_innermost());
    return close();
  }
  bool start_array(std::size_t) override { return open(builder_.add_list()); }
  bool end_array() override {
    builder_.append(open_.back().container, items_of_innermost());
    return close();
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    error_offset_ = position > 0 ? position - 1 : 0;
    error_ = reason_of_json_error(error.what());
    return false;
  }

  Value root() const { return waiting_.front(); }  // After everything was read.
  bool is_too_deep() const { return open_.size() > nesting_max; }
  const std::string& error() const { return error_; }
  std::uint64_t error_offset() const { return error_offset_; }

 private:
  // An object or array that has begun, and where its keys and values begin in waiting_.
  struct Open {
    Value container;
    std::size_t first;
  };

  bool add(Value value) {
    waiting_.push_back(value);
    return true;
  }
  bool open(Value container) {
    open_.push_back({container, waiting_.size()});
    return !is_too_deep() && (control_ == nullptr || !control_->cancelled);
  }
  std::span<const Value> items_of_innermost() const { return std::span(waiting_).subspan(open_.back().first); }
  bool close() {
    const Open closed = open_.back();
    open_.pop_back();
    waiting_.resize(closed.first);
    return add(closed.container);
  }

  pickle::DocumentBuilder& builder_;
  const ReadControl* control_;
  std::vector<Value> waiting_;  // Keys and values whose object or array is open.
  std::vector<Open> open_;
  std::string error_;
  std::uint64_t error_offset_ = 0;
};

std::string_view without_space(std::string_view text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
  return text;
}

template <std::size_t count>
bool begins_with_key(std::string_view text, const std::array<std::string_view, count>& keys) {
  if (!text.starts_with('{')) return false;
  text = without_space(text.substr(1));
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return text.starts_with(key); });
}

std::optional<Error> read(pickle::Document& document, std::span<const std::uint8_t> bytes, const std::string& name,
                          const ReadControl* control) {
  pickle::DocumentBuilder builder(document, bytes.size());
  Handler handler(builder, control);
  const char* const begin = reinterpret_cast<const char*>(bytes.data());
  if (nlohmann::json::sax_parse(begin, begin + bytes.size(), &handler)) {
    builder.finish(handler.root(), 0, bytes.size());
    return std::nullopt;
  }
  if (control != nullptr && control->cancelled) return refusal("reading was cancelled", {}, name);
  if (handler.is_too_deep())
    return refusal(fmt::format("this JSON nests more than {} levels deep", nesting_max),
                   "No snapshot does that; check that this is the right file.", name);
  return Error{fmt::format("this snapshot in JSON is incomplete: {}", handler.error()),
               "Was the file cut off? Save it again: json.dump(torch.cuda.memory._snapshot(), file).", name,
               std::min<std::uint64_t>(handler.error_offset(), bytes.size()), false};
}

}  // namespace

bool looks_like_json_snapshot(std::span<const std::uint8_t> bytes) {
  constexpr std::array<std::string_view, 4> of_snapshot = {"\"segments\"", "\"device_traces\"",
                                                           "\"allocator_settings\"", "\"external_annotations\""};
  constexpr std::array<std::string_view, 2> of_segment = {"\"device\"", "\"address\""};
  const std::string_view text = without_space({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!text.starts_with('[')) return begins_with_key(text, of_snapshot);
  return begins_with_key(without_space(text.substr(1)), of_segment);
}

std::optional<Error> read_json(pickle::Document& document, std::span<const std::uint8_t> bytes, const std::string& name,
                               const ReadControl* control) {
  try {
    return read(document, bytes, name, control);
  } catch (const std::bad_alloc&) {
    return refusal("there is not enough memory for what is in this JSON",
                   "Close other programs, or save the snapshot with torch.cuda.memory._dump_snapshot().", name);
  } catch (const std::length_error&) {
    return refusal("more than 2^31 values of one kind are in this JSON",
                   "No snapshot is that large; check that this is the right file.", name);
  }
}

}  // namespace hbmscope::torch
