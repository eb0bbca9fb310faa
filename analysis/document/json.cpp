#include "analysis/document/json.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/units/format.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

void add_place(Json& json, const Value& value) {
  const auto* place = std::get_if<CodeSite>(&value);
  json["name"] = place != nullptr ? text_or_null(place->function) : Json(nullptr);
  json["file"] = place != nullptr ? text_or_null(place->file) : Json(nullptr);
  json["line"] = place != nullptr && place->line != 0 ? Json(place->line) : Json(nullptr);
}

Json json_from_stack(const CodeStack& stack) {
  Json frames = Json::array();
  for (const CodeSite& frame : stack) add_place(frames.emplace_back(Json::object()), Value(frame));
  return frames;
}

class Writer {
 public:
  Writer(Json& json, Keys keys) : json_(json), keys_(keys) {}

  void write(const Document& document) {
    if (document.audience == Audience::readers) return;
    if (document.key.empty()) {
      for (const Part& part : document.parts) std::visit([this](const auto& one) { write(one); }, part.is);
    } else {
      Json inner = Json::object();
      Writer writer(inner, keys_);
      for (const Part& part : document.parts) std::visit([&](const auto& one) { writer.write(one); }, part.is);
      json_[document.key] = std::move(inner);
    }
  }
  void write(const Documents& documents) {
    if (documents.key.empty() || documents.audience == Audience::readers) return;
    Json list = Json::array();
    for (const Document& one : documents.list) list.push_back(json_from_document(one, keys_));
    json_[documents.key] = std::move(list);
  }
  void write(const Sentence& sentence) {
    if (!sentence.key.empty() && sentence.audience != Audience::readers)
      json_[sentence.key] = text_or_null(sentence.text);
  }
  void write(const Figures& fields) {
    for (const Figure& field : fields.fields) {
      json_[field.key] = json_from_value(field.value, field.unit);
      if (!field.old_key.empty() && keys_ == Keys::with_old_ones) json_[field.old_key] = json_[field.key];
    }
  }
  void write(const Texts& texts) {
    Json json = texts.is_object ? Json::object() : Json::array();
    for (const auto& [first, second] : texts.texts) {
      if (texts.is_object)
        json[first] = second;
      else
        json.push_back(first);
    }
    json_[texts.key] = std::move(json);
  }
  void write(const Numbers& numbers) { json_[numbers.key] = numbers.numbers; }
  void write(const Table& table) {
    const bool is_left_out = table.is_detail && keys_ == Keys::current;
    if (table.audience == Audience::readers || is_left_out) return;
    if (table.is_object)
      json_.update(json_from_table(table, 1, keys_).front());
    else if (!table.key.empty())
      json_[table.key] = json_from_table(table, table.rows.size(), keys_);
  }
  void write(const Absent& absent) { json_[absent.key] = nullptr; }
  void write(const Drawing&) {}

 private:
  Json& json_;
  Keys keys_;
};

bool is_all_null(const Json& object) {
  return std::all_of(object.begin(), object.end(), [](const Json& one) { return one.is_null(); });
}

// Without what is unknown.
Json known_of(const Json& json) {
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& one : json) list.push_back(known_of(one));
    return list;
  }
  if (!json.is_object()) return json;
  Json object = Json::object();
  for (const auto& [key, value] : json.items()) {
    Json known = known_of(value);
    const bool is_nothing = known.is_null() || ((known.is_object() || known.is_array()) && known.empty());
    if (!is_nothing) object[key] = std::move(known);
  }
  return object;
}

constexpr std::size_t rows_min = 3;

std::size_t size_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace).size();
}

// A row that stands for those that were cut: "and 12 more".
constexpr std::string_view cut_lead = "and ";
bool is_cut(const Json& list) {
  return !list.empty() && list.back().is_string() && list.back().get_ref<const std::string&>().starts_with(cut_lead) &&
         list.back().get_ref<const std::string&>().ends_with(" more");
}

void find_longest(Json& json, Json*& longest, std::size_t& bytes) {
  if (json.is_array() && json.size() > rows_min + (is_cut(json) ? 1 : 0)) {
    const std::size_t size = size_of(json);
    if (size > bytes) {
      bytes = size;
      longest = &json;
    }
  }
  if (json.is_structured())
    for (Json& one : json) find_longest(one, longest, bytes);
}

// Cuts a quarter of the rows, but keeps three.
void cut(Json& list, std::size_t& cut_before) {
  if (is_cut(list)) list.erase(list.size() - 1);
  const std::size_t kept = std::max(rows_min, list.size() * 3 / 4);
  cut_before += list.size() - kept;
  while (list.size() > kept) list.erase(list.size() - 1);
  list.push_back(fmt::format("{}{} more", cut_lead, text_from_count(cut_before)));
}

std::string shortened(const std::string& text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const auto is_inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  std::size_t head = limit / 3, tail = text.size() - (limit - head - 5);
  while (head > 0 && is_inside(head)) --head;
  while (tail < text.size() && is_inside(tail)) ++tail;
  return text.substr(0, head) + " ... " + text.substr(tail);
}

void shorten_texts(Json& json, std::size_t limit) {
  if (json.is_string()) json = shortened(json.get<std::string>(), limit);
  if (json.is_structured())
    for (Json& one : json) shorten_texts(one, limit);
}

}  // namespace

Json json_from_value(const Value& value, Unit unit) {
  if (std::holds_alternative<std::monostate>(value)) return nullptr;
  if (unit == Unit::address) return number_text_from_value(value, unit);
  return std::visit(
      [](const auto& known) -> Json {
        using T = std::decay_t<decltype(known)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return nullptr;
        else if constexpr (std::is_same_v<T, CodeSite>)
          return text_from_value(Value(known), Unit::code);
        else if constexpr (std::is_same_v<T, CodeStack>)
          return json_from_stack(known);
        else
          return known;
      },
      value);
}

Json json_from_table(const Table& table, std::size_t rows_max, Keys keys) {
  const auto is_left_out = [keys](const Column& column) { return column.is_detail && keys == Keys::current; };
  Json list = Json::array();
  for (std::size_t row = 0; row < std::min(rows_max, table.rows.size()); ++row) {
    Json json = Json::object();
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (table.columns[i].unit == Unit::code && table.columns[i].within.empty())
        add_place(json, table.rows.cell(row, i));
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      if (column.unit == Unit::code && !column.within.empty())
        add_place(json[std::string(column.within)], table.rows.cell(row, i));
      if (column.unit == Unit::code || column.key.empty() || is_left_out(column)) continue;
      Json value = json_from_value(table.rows.cell(row, i), column.unit);
      if (column.within.empty())
        json[std::string(column.key)] = std::move(value);
      else
        json[std::string(column.within)][std::string(column.key)] = std::move(value);
    }
    for (const Column& column : table.columns)
      if (!column.within.empty() && !is_left_out(column) && is_all_null(json[std::string(column.within)]))
        json[std::string(column.within)] = nullptr;
    list.push_back(std::move(json));
  }
  return list;
}

Json json_from_document(const Document& document, Keys keys) {
  Json json = Json::object();
  Writer writer(json, keys);
  if (document.key.empty()) {
    writer.write(document);
  } else {
    for (const Part& part : document.parts) std::visit([&](const auto& one) { writer.write(one); }, part.is);
  }
  return json;
}

void merge_json(Json& json, Json more) {
  if (json.is_object() && more.is_object()) {
    for (auto& [key, value] : more.items()) {
      if (json.contains(key))
        merge_json(json[key], std::move(value));
      else
        json[key] = std::move(value);
    }
    return;
  }
  const auto are_objects = [](const Json& list) {
    return list.is_array() && std::all_of(list.begin(), list.end(), [](const Json& one) { return one.is_object(); });
  };
  if (!are_objects(json) || !are_objects(more)) {
    json = std::move(more);
    return;
  }
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (i < json.size())
      merge_json(json[i], std::move(more[i]));
    else
      json.push_back(std::move(more[i]));
  }
}

std::optional<Json> brief_from_json(const Json& json, std::size_t characters) {
  for (const std::size_t limit : {400, 240, 120, 60, 30}) {
    Json brief = known_of(json);
    shorten_texts(brief, limit);
    std::map<const Json*, std::size_t> cut_rows;  // By list; lists stay where they are while only rows are cut.
    while (size_of(brief) > characters) {
      Json* longest = nullptr;
      std::size_t bytes = 0;
      find_longest(brief, longest, bytes);
      if (longest == nullptr) break;
      cut(*longest, cut_rows[longest]);
    }
    if (size_of(brief) <= characters) return brief;
  }
  return std::nullopt;
}

}  // namespace hbmscope
