#include "analysis/read/pickle/document_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

namespace hbmscope::pickle {
namespace {

using Tag = Value::Tag;

constexpr std::uint32_t rows_max = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t shape_keys_max = 64;    // A larger dict is a table, not a record.
constexpr std::uint32_t small_run_max = 4'096;  // Longer lists lie outside of the chunks, so that they can grow.
constexpr std::uint32_t probes_max = 32;
constexpr std::uint32_t slab_chunks = 16;
constexpr std::size_t text_slab_bytes = std::size_t{64} << 10;

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9fb21c651e98df25;
  return hash ^ (hash >> 32);
}

// Keys, actions and contexts have a dozen bytes; long texts (paths, C++ names) occur once.
std::uint32_t hash_text(std::string_view text) {
  std::uint64_t hash = mix(0x2545f4914f6cdd1d, text.size());
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    hash = mix(hash, word);
  }
  if (at < text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, text.size() - at);
    hash = mix(hash, word);
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 29));
}

template <class Row>
std::uint32_t next_row(const std::vector<Row>& rows) {
  if (rows.size() >= rows_max) throw std::length_error("a pickle with more than 2^31 values of a kind");
  return static_cast<std::uint32_t>(rows.size());
}

}  // namespace

DocumentBuilder::DocumentBuilder(Document& document, std::uint64_t pickle_bytes)
    : document_(document), text_slots_(1024, 0), shape_slots_(256, 0) {
  // An estimate: snapshots have a dict every 70 to 300 bytes. Unused memory is never touched.
  document_.dicts_.reserve(static_cast<std::size_t>(pickle_bytes / 64));
  document_.shapes_.push_back({0, 0, false});  // Number 0: the empty dict.
  shape_hashes_.push_back(0);
  last_shapes_.fill(0);
}

Value DocumentBuilder::add_wide_integer(Integer integer) {
  const std::uint32_t number = next_row(document_.wide_integers_);
  document_.wide_integers_.push_back(integer);
  return Value::numbered(Tag::wide_integer, number);
}

Value DocumentBuilder::add_real(double value) {
  const std::uint32_t number = next_row(document_.reals_);
  document_.reals_.push_back(value);
  return Value::numbered(Tag::real, number);
}

Value DocumentBuilder::add_bytes(std::string_view bytes) {
  return Value::numbered(Tag::bytes, add_text_row(bytes, 0));
}

// Copied, because when a file is read piece by piece its bytes are not kept.
std::uint32_t DocumentBuilder::add_text_row(std::string_view text, std::uint32_t hash) {
  const std::uint32_t number = next_row(document_.texts_);
  if (text.size() > text_room_.size()) {
    const std::size_t bytes = std::max(text.size(), text_slab_bytes);
    document_.text_slabs_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    text_room_ = {document_.text_slabs_.back().get(), bytes};
  }
  std::copy(text.begin(), text.end(), text_room_.begin());
  document_.texts_.push_back({text_room_.data(), static_cast<std::uint32_t>(text.size()), hash});
  text_room_ = text_room_.subspan(text.size());
  return number;
}

Value DocumentBuilder::add_text(std::string_view text) {
  const std::uint32_t hash = hash_text(text);
  const std::size_t mask = text_slots_.size() - 1;
  std::size_t slot = hash & mask;
  std::uint32_t probes = 0;
  for (; text_slots_[slot] != 0 && probes < probes_max; slot = (slot + 1) & mask, ++probes) {
    const Document::Text& known = document_.texts_[text_slots_[slot] - 1];
    if (known.hash == hash && std::string_view(known.begin, known.size) == text)
      return Value::numbered(Tag::text, text_slots_[slot] - 1);
  }
  const std::uint32_t number = add_text_row(text, hash);
  if (probes < probes_max) text_slots_[slot] = number + 1;
  if (document_.texts_.size() * 2 > text_slots_.size()) rehash_texts();
  return Value::numbered(Tag::text, number);
}

void DocumentBuilder::rehash_texts() {
  std::vector<std::uint32_t> slots(text_slots_.size() * 4, 0);
  const std::size_t mask = slots.size() - 1;
  for (const std::uint32_t entry : text_slots_) {
    if (entry == 0) continue;
    std::size_t slot = document_.texts_[entry - 1].hash & mask;
    std::uint32_t probes = 0;
    while (slots[slot] != 0 && ++probes < probes_max) slot = (slot + 1) & mask;
    if (slots[slot] == 0) slots[slot] = entry;
  }
  text_slots_ = std::move(slots);
}

// Small documents grow by half a MiB, larger ones by eight: large enough for the system's large pages.
void DocumentBuilder::add_slab() {
  const std::uint32_t chunks = chunk_ < slab_chunks ? 1 : slab_chunks;
  if (chunk_ + chunks >= rows_max >> Document::chunk_bits) throw std::length_error("more than 2^31 values");
  document_.slabs_.push_back(std::make_unique_for_overwrite<Value[]>(std::size_t{chunks} * Document::chunk_values));
  for (std::uint32_t i = 0; i < chunks; ++i)
    document_.chunks_.push_back(document_.slabs_.back().get() + std::size_t{i} * Document::chunk_values);
}

DocumentBuilder::Run DocumentBuilder::allocate_run(std::uint32_t values) {
  if (values > Document::chunk_values - chunk_used_) {
    if (++chunk_ == document_.chunks_.size()) add_slab();
    chunk_used_ = 0;
  }
  const Run run{document_.chunks_[chunk_] + chunk_used_, (chunk_ << Document::chunk_bits) + chunk_used_};
  chunk_used_ += values;
  return run;
}

std::uint32_t DocumentBuilder::add_list_row(bool is_tuple) {
  const std::uint32_t number = next_row(document_.lists_);
  document_.lists_.push_back({nullptr, 0, 0, is_tuple});
  return number;
}

// Reserves exactly `size` the first time, since one opcode fills nearly every list; later doubles.
void DocumentBuilder::reserve(std::uint32_t number, std::uint64_t size) {
  Document::List& list = document_.lists_[number];
  if (size <= list.capacity) return;
  oldest_grown_ = std::min(oldest_grown_, number);
  if (size >= rows_max) throw std::length_error("a list with more than 2^31 items");
  const std::uint64_t wanted = list.capacity == 0 ? size : std::max<std::uint64_t>(size, list.capacity * 2ULL);
  const auto capacity = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, rows_max));
  if (capacity <= small_run_max) {
    const Run run = allocate_run(capacity);
    if (list.size > 0) std::memcpy(run.values, list.values, list.size * sizeof(Value));
    list.values = run.values;
    list.capacity = capacity & rows_max;
    return;
  }
  const bool was_large = list.capacity > small_run_max;
  std::size_t run = document_.large_runs_.size();
  if (was_large)  // Few lists are large, and the growing one is nearly always the newest.
    while (document_.large_runs_[--run].get() != list.values) {
    }
  else
    document_.large_runs_.emplace_back();
  void* memory = std::realloc(document_.large_runs_[run].get(), std::size_t{capacity} * sizeof(Value));
  if (memory == nullptr) throw std::bad_alloc();
  static_cast<void>(document_.large_runs_[run].release());  // realloc owns it now.
  document_.large_runs_[run].reset(static_cast<Value*>(memory));
  if (!was_large && list.size > 0) std::memcpy(memory, list.values, list.size * sizeof(Value));
  list.values = static_cast<Value*>(memory);
  list.capacity = capacity & rows_max;
}

Value DocumentBuilder::add_list() {
  return Value::numbered(Tag::list, add_list_row(false));
}

Value DocumentBuilder::add_tuple(std::span<const Value> items) {
  const Value tuple = Value::numbered(Tag::list, add_list_row(true));
  append(tuple, items);
  return tuple;
}

void DocumentBuilder::append(Value list, std::span<const Value> items) {
  if (items.empty()) return;
  const std::uint32_t number = list.number();
  reserve(number, std::uint64_t{document_.lists_[number].size} + items.size());
  Document::List& row = document_.lists_[number];
  std::memcpy(row.values + row.size, items.data(), items.size_bytes());
  row.size += static_cast<std::uint32_t>(items.size());
}

Value DocumentBuilder::add_dict() {
  const std::uint32_t number = next_row(document_.dicts_);
  document_.dicts_.push_back({0, 0});
  return Value::numbered(Tag::dict, number);
}

bool DocumentBuilder::shape_is(Document::ShapeNumber number, std::span<const Value> keys_and_values) const {
  const Document::Shape& shape = document_.shapes_[number];
  if (std::size_t{shape.keys} * 2 != keys_and_values.size()) return false;
  const Value* keys = document_.keys_.data() + shape.first_key;
  for (std::size_t i = 0; i < shape.keys; ++i)
    if (!(keys[i] == keys_and_values[2 * i])) return false;
  return true;
}

void DocumentBuilder::grow_shape_table() {
  std::vector<std::uint32_t> slots(shape_slots_.size() * 4, 0);
  const std::size_t mask = slots.size() - 1;
  for (std::uint32_t shape = 1; shape < shape_hashes_.size(); ++shape) {
    std::size_t slot = shape_hashes_[shape] & mask;
    std::uint32_t probes = 0;
    while (slots[slot] != 0 && ++probes < probes_max) slot = (slot + 1) & mask;
    if (slots[slot] == 0) slots[slot] = shape + 1;
  }
  shape_slots_ = std::move(slots);
}

Document::ShapeNumber DocumentBuilder::find_or_add_shape(std::span<const Value> keys_and_values, std::uint64_t hash) {
  const std::size_t mask = shape_slots_.size() - 1;
  std::size_t slot = hash & mask;
  std::uint32_t probes = 0;
  for (; shape_slots_[slot] != 0 && probes < probes_max; slot = (slot + 1) & mask, ++probes)
    if (shape_is(shape_slots_[slot] - 1, keys_and_values)) return shape_slots_[slot] - 1;
  const std::uint32_t number = next_row(document_.shapes_);
  const std::uint32_t first_key = next_row(document_.keys_);
  for (std::size_t i = 0; i < keys_and_values.size(); i += 2) document_.keys_.push_back(keys_and_values[i]);
  document_.shapes_.push_back({first_key, static_cast<std::uint32_t>(keys_and_values.size() / 2), false});
  shape_hashes_.push_back(hash);
  if (probes < probes_max) shape_slots_[slot] = number + 1;
  if (document_.shapes_.size() * 2 > shape_slots_.size()) grow_shape_table();
  return number;
}

void DocumentBuilder::set_items(Value dict, std::span<const Value> keys_and_values) {
  if (keys_and_values.empty()) return;
  Document::Dict& row = document_.dicts_[dict.number()];
  const std::size_t keys = keys_and_values.size() / 2;
  if (row.shape != 0 || keys > shape_keys_max) {
    make_wide(row);
    append(Value::numbered(Tag::list, row.begin), keys_and_values);
    return;
  }
  Document::ShapeNumber& last = last_shapes_[(mix(keys, keys_and_values[0].bits()) >> 8) & 255];
  if (!shape_is(last, keys_and_values)) {
    std::uint64_t hash = keys;
    for (std::size_t i = 0; i < keys_and_values.size(); i += 2) hash = mix(hash, keys_and_values[i].bits());
    last = find_or_add_shape(keys_and_values, hash);
  }
  row.shape = last;
  const Run run = allocate_run(static_cast<std::uint32_t>(keys));
  row.begin = run.begin;
  for (std::size_t i = 0; i < keys; ++i) run.values[i] = keys_and_values[2 * i + 1];
}

// For a dict that several opcodes fill, or a large one: keys and values alternate in a list until finish() separates
// them.
void DocumentBuilder::make_wide(Document::Dict& dict) {
  if (dict.shape == Document::unfinished) return;
  has_unfinished_dicts_ = true;
  const std::uint32_t list = add_list_row(false);
  const Document::Shape shape = document_.shapes_[dict.shape];
  if (shape.keys > 0) {
    const Value* values =
        document_.chunks_[dict.begin >> Document::chunk_bits] + (dict.begin & (Document::chunk_values - 1));
    for (std::uint32_t i = 0; i < shape.keys; ++i) {
      const std::array<Value, 2> pair = {document_.keys_[shape.first_key + i], values[i]};
      append(Value::numbered(Tag::list, list), pair);
    }
  }
  dict = {Document::unfinished, list};
}

DocumentBuilder::Mark DocumentBuilder::mark() {
  oldest_grown_ = rows_max;
  return {document_.list_count(), document_.dict_count(), chunk_, chunk_used_, document_.keys_.size()};
}

bool DocumentBuilder::forget(const Mark& since, std::span<const Value> items) {
  if (document_.dict_count() != since.dicts + items.size() || document_.keys_.size() != since.keys ||
      oldest_grown_ < since.lists)
    return false;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!(items[i] == Value::numbered(Tag::dict, since.dicts + static_cast<std::uint32_t>(i)))) return false;
  const std::span<Document::List> lists = std::span(document_.lists_).subspan(since.lists);
  for (const Document::List& list : lists)
    if (list.is_tuple == 0 || list.capacity > small_run_max) return false;
  for (Document::List& list : lists) list = {nullptr, 0, 0, 1};
  for (Document::Dict& dict : std::span(document_.dicts_).subspan(since.dicts)) dict = {0, 0};
  chunk_ = since.chunk;
  chunk_used_ = since.chunk_used;
  return true;
}

void DocumentBuilder::finish(Value root, int protocol, std::uint64_t end_offset) {
  for (Document::Dict& dict : document_.dicts_) {
    if (dict.shape != Document::unfinished) continue;
    Document::List& pairs = document_.lists_[dict.begin];
    const std::uint32_t first_key = next_row(document_.keys_), keys = pairs.size / 2;
    for (std::size_t i = 0; i < keys; ++i) {
      document_.keys_.push_back(pairs.values[2 * i]);
      pairs.values[i] = pairs.values[2 * i + 1];
    }
    pairs.size = keys;
    dict.shape = next_row(document_.shapes_);
    document_.shapes_.push_back({first_key, keys, true});
  }
  document_.root_ = root;
  document_.protocol_ = protocol;
  document_.end_offset_ = end_offset;
}

}  // namespace hbmscope::pickle
