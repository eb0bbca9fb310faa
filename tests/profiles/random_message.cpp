#include "tests/profiles/random_message.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/profiles/generator/wire_writer.h"

namespace hbmscope::test {
namespace {

using namespace std::string_view_literals;

class MessageWriter {
 public:
  explicit MessageWriter(Random& random) : random_(random) {}

  std::string write() {
    make_ids();
    make_strings();
    // Texts keep their order, everything else is shuffled among itself; the two streams are then dealt into one.
    value_type_count_ = random_.one_in(3) ? random_.between(1, 4) : 2;
    const bool device_memory = value_type_count_ == 2 && !random_.one_in(3);
    for (std::uint32_t i = 0; i < value_type_count_; ++i)
      ordered_.push_back(submessage(1, value_type(i, device_memory)));
    for (const std::uint64_t id : mapping_ids_) shuffled_.push_back(submessage(3, mapping(id)));
    for (const std::uint64_t id : function_ids_) shuffled_.push_back(submessage(5, function(id)));
    for (const std::uint64_t id : location_ids_) shuffled_.push_back(submessage(4, location(id)));
    for (std::uint32_t i = random_.below(40); i > 0; --i) shuffled_.push_back(submessage(2, sample()));
    add_header();
    return deal();
  }

 private:
  using Fields = std::vector<std::string>;

  static std::string submessage(std::uint32_t number, const std::string& body) {
    std::string out;
    put_bytes(out, number, body);
    return out;
  }
  // Unlike put_integer this also writes zeros, which a proto3 writer leaves out and a reader has to take.
  static std::string integer(std::uint32_t number, std::uint64_t value) {
    std::string out;
    put_tag(out, number, WireType::varint);
    put_varint(out, value);
    return out;
  }

  std::uint64_t any_id() {
    switch (random_.below(4)) {
      case 0: return random_.next();
      case 1: return random_.below(1'000'000);
      default: return random_.between(1, 60);
    }
  }
  std::uint64_t any_number() {
    switch (random_.below(6)) {
      case 0: return 0;
      case 1: return ~std::uint64_t{0};  // -1
      case 2: return random_.next() >> random_.below(64);
      default: return random_.below(100'000);
    }
  }
  std::uint64_t any_text() { return random_.one_in(40) ? any_number() : random_.below(string_count_); }

  void make_ids() {
    const auto fill = [&](std::vector<std::uint64_t>& ids) {
      for (std::uint32_t i = random_.below(12); i > 0; --i)
        ids.push_back(random_.one_in(20) ? 0 : any_id());  // Zero and doubles are dirty, and must agree too.
    };
    fill(mapping_ids_);
    fill(function_ids_);
    fill(location_ids_);
  }
  std::uint64_t one_of(const std::vector<std::uint64_t>& ids) {
    if (ids.empty() || random_.one_in(15)) return any_id();
    return ids[random_.below(static_cast<std::uint32_t>(ids.size()))];
  }

  void make_strings() {
    constexpr std::array<std::string_view, 14> texts = {
        "",
        "allocations",
        "count",
        "space",
        "bytes",
        "kind",
        "executable",
        "buffer",
        "device",
        "pprof::base",
        "cpu:0",
        "\xff\xfe no UTF-8",
        "a name with a \0 inside"sv,
        "space"};  // Twice: not every producer looks whether it has a text already.
    for (const std::string_view text : texts) ordered_.push_back(submessage(6, std::string(text)));
    string_count_ = texts.size();
    for (std::uint32_t i = random_.below(10); i > 0; --i, ++string_count_)
      ordered_.push_back(submessage(6, std::string(random_.below(30), static_cast<char>('a' + i))));
  }

  std::string shuffle(Fields fields) {
    if (random_.one_in(3)) fields.push_back(unknown_field());
    for (std::size_t i = fields.size(); i > 1; --i)
      std::swap(fields[i - 1], fields[random_.below(static_cast<std::uint32_t>(i))]);
    std::string out;
    for (const std::string& field : fields) out += field;
    return out;
  }

  std::string unknown_field() {
    std::string out;
    const std::uint32_t number = random_.one_in(5) ? 536'870'911 : random_.between(16, 4'000);
    switch (random_.below(5)) {
      case 0: return integer(number, any_number());
      case 1: put_bytes(out, number, std::string(random_.below(20), '\x80')); break;
      case 2:
        put_tag(out, number, WireType::fixed32);
        out.append(4, '\x85');
        break;
      case 3:
        put_tag(out, number, WireType::fixed64);
        out.append(8, '\xff');
        break;
      case 4:  // A group, with a group and a text inside.
        put_varint(out, (std::uint64_t{number} << 3) | 3);
        put_varint(out, (2 << 3) | 3);
        out += submessage(1, "in a group");
        put_varint(out, (2 << 3) | 4);
        put_varint(out, (std::uint64_t{number} << 3) | 4);
        break;
    }
    return out;
  }

  std::string value_type(std::uint32_t i, bool device_memory) {
    // The texts 1 to 4 are what a device memory profile has.
    const std::uint64_t type = device_memory ? 1 + 2 * i : any_text(), unit = device_memory ? 2 + 2 * i : any_text();
    return shuffle({integer(1, type), integer(2, unit)});
  }

  std::string mapping(std::uint64_t id) {
    Fields fields = {integer(1, id)};
    for (std::uint32_t number = 2; number <= 10; ++number)
      if (!random_.one_in(3)) fields.push_back(integer(number, number == 5 || number == 6 ? any_text() : any_number()));
    return shuffle(fields);
  }
  std::string function(std::uint64_t id) {
    Fields fields = {integer(1, id), integer(2, any_text()), integer(4, any_text())};
    if (random_.one_in(2)) fields.push_back(integer(3, any_text()));
    if (random_.one_in(2)) fields.push_back(integer(5, any_number()));
    return shuffle(fields);
  }
  std::string location(std::uint64_t id) {
    Fields fields = {integer(1, id)};
    for (std::uint32_t i = random_.below(4); i > 0; --i) {
      Fields line = {integer(1, one_of(function_ids_)), integer(2, any_number())};
      if (random_.one_in(2)) line.push_back(integer(3, any_number()));
      fields.push_back(submessage(4, shuffle(line)));
    }
    if (random_.one_in(2)) fields.push_back(integer(2, one_of(mapping_ids_)));
    if (random_.one_in(2)) fields.push_back(integer(3, any_number()));
    if (random_.one_in(4)) fields.push_back(integer(5, any_number()));
    return shuffle(fields);
  }

  // Packed, unpacked, or some of each; all mean the same.
  void add_repeated(std::uint32_t number, const std::vector<std::uint64_t>& values, Fields& fields) {
    for (std::size_t i = 0; i < values.size();) {
      if (random_.one_in(3)) {
        fields.push_back(integer(number, values[i++]));
        continue;
      }
      std::string packed;
      for (std::size_t run = random_.between(1, 40); run > 0 && i < values.size(); --run)
        put_varint(packed, values[i++]);
      fields.push_back(submessage(number, packed));
    }
    if (random_.one_in(10)) fields.push_back(submessage(number, ""));  // An empty packed run is allowed.
  }

  std::string label() {
    Fields fields;
    if (random_.one_in(3)) {
      fields = {integer(1, 5), integer(2, 6)};  // kind=executable
    } else {
      fields = {integer(1, any_text())};
      if (random_.one_in(2)) fields.push_back(integer(2, any_text()));
      if (random_.one_in(2)) fields.push_back(integer(3, any_number()));
      if (random_.one_in(3)) fields.push_back(integer(4, any_text()));
    }
    return shuffle(fields);
  }

  std::string sample() {
    std::vector<std::uint64_t> stack(random_.below(70)), values(value_type_count_);
    for (std::uint64_t& id : stack) id = one_of(location_ids_);
    for (std::uint64_t& value : values) value = any_number();
    if (random_.one_in(30)) values.resize(random_.below(6));  // Too few or too many.
    Fields fields;
    add_repeated(1, stack, fields);
    add_repeated(2, values, fields);
    for (std::uint32_t i = random_.below(4); i > 0; --i) {
      fields.push_back(submessage(3, label()));
      if (random_.one_in(6)) fields.push_back(fields.back());  // The same label twice.
    }
    if (!random_.one_in(4)) {  // Mostly as producers write it: stack, values, labels.
      std::string out;
      for (const std::string& field : fields) out += field;
      return out;
    }
    return shuffle(std::move(fields));
  }

  void add_header() {
    const auto sometimes = [&](std::uint32_t number, std::uint64_t value) {
      for (std::uint32_t times = random_.below(3); times > 0; --times) ordered_.push_back(integer(number, value));
    };
    sometimes(7, any_text());
    sometimes(8, any_text());
    sometimes(9, any_number());
    sometimes(10, any_number());
    sometimes(12, any_number());
    sometimes(14, random_.one_in(2) ? 3 : any_text());
    sometimes(15, any_text());
    std::vector<std::uint64_t> comments(random_.below(5));
    for (std::uint64_t& comment : comments) comment = any_text();
    add_repeated(13, comments, ordered_);
    // A singular message that comes twice is merged: the second may bring only the unit.
    if (random_.one_in(2)) ordered_.push_back(submessage(11, integer(1, any_text()) + integer(2, any_text())));
    if (random_.one_in(3)) ordered_.push_back(submessage(11, integer(2, any_text())));
  }

  std::string deal() {
    for (std::uint32_t i = random_.below(4); i > 0; --i) shuffled_.push_back(unknown_field());
    for (std::size_t i = shuffled_.size(); i > 1; --i)
      std::swap(shuffled_[i - 1], shuffled_[random_.below(static_cast<std::uint32_t>(i))]);
    std::string out;
    std::size_t a = 0, b = 0;
    while (a < ordered_.size() || b < shuffled_.size()) {
      const auto left = static_cast<std::uint32_t>(ordered_.size() - a + shuffled_.size() - b);
      out += random_.below(left) < ordered_.size() - a ? ordered_[a++] : shuffled_[b++];
    }
    return out;
  }

  Random& random_;
  std::vector<std::uint64_t> mapping_ids_, function_ids_, location_ids_;
  std::uint32_t string_count_ = 0, value_type_count_ = 0;
  Fields ordered_, shuffled_;
};

}  // namespace

std::string random_message(Random& random) {
  return MessageWriter(random).write();
}

}  // namespace hbmscope::test
