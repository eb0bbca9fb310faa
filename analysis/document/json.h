// A document as JSON, whole for programs and shortened for agents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "analysis/document/document.h"

namespace hbmscope {

enum class Keys : std::uint8_t { with_old_ones, current };  // Current ones, for agents: without details, too.
// The object of the document's parts. What is unknown is null.
nlohmann::ordered_json json_from_document(const Document& document, Keys keys = Keys::with_old_ones);
nlohmann::ordered_json json_from_table(const Table& table, std::size_t rows_max = static_cast<std::size_t>(-1),
                                       Keys keys = Keys::with_old_ones);
nlohmann::ordered_json json_from_value(const Value& value, Unit unit);

// Adds the keys of another object. What both have is put together: objects by their keys, lists of objects row by row.
void merge_json(nlohmann::ordered_json& json, nlohmann::ordered_json more);

// What an agent reads in one go: without what is unknown, and at most `characters` long. The longest lists are cut
// first ("and 12 more"), down to three rows; then texts are shortened in their middle. Figures stay exact. Nothing if
// it is longer even then.
std::optional<nlohmann::ordered_json> brief_from_json(const nlohmann::ordered_json& json, std::size_t characters);

}  // namespace hbmscope
