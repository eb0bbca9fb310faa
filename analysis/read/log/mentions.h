// What a text says about memory besides failures and figures that a program prints: by its own words.
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/model/import_statistics.h"
#include "analysis/read/log/findings.h"

namespace hbmscope::log {

// The number at a place is part of a name: "GPU-0", "cuda:1", "memory_reserved(0)".
bool is_index(std::string_view text, std::size_t at);

// The file of "hbmscope: 23,268 events of 1 process (0 lost) saved in train.hbm (1.2 MiB). Open it with ...". Empty: it
// is another line.
std::string_view find_recording(std::string_view line);

// Adds a line that speaks of memory if it has a size, up to three of them.
void note_mention(Findings& findings, std::string_view text, std::uint64_t line);

// Adds what lines say in words about growth, from one size to a larger one, and the numbers that they print after words
// about memory. `first_line`: the number of the first.
void note_words(Findings& findings, std::string_view lines, std::uint64_t first_line);
// "\"memory_usage\": 996.91 in line 3, 998.57 in line 37 (+1.66 over 35 readings)". Empty if there are too few.
std::string text_from_readings(const ReadingsInText& readings);
bool changes(const ReadingsInText& readings);

// Adds them to the statistics where nothing is known to have failed, so that a person can see whether something was
// overlooked.
void note_mentions(const Findings& findings, ImportStatistics& import);

}  // namespace hbmscope::log
