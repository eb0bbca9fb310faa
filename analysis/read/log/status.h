// What a log prints about memory again and again: at each step, each second, each time that a program thinks of it.
//
// The sentences of frameworks are rows of wordings.cpp. Others are read too if they come often enough: "step 12 loss
// 3.1 gpu mem 5.21 GB". A size there is named by the words before it: "allocated", "reserved", "peak", "free", "total".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/read/log/findings.h"
#include "analysis/read/log/wording.h"

namespace hbmscope::log {

class StatusReader {
 public:
  // Looks whether a line says anything of that in other words than sentences, or continues what is open. Returns
  // whether it does.
  bool take(std::string_view text, std::uint32_t speaker, const Place& place);
  // A text of several lines is open, which the next line of that speaker continues.
  bool is_open(std::uint32_t speaker) const { return blocks_.count(speaker) != 0; }
  // Of a sentence of the kind `status`, which `text` has. `before`: the line before it of the same speaker.
  void add(const Sentence& sentence, std::string_view text, std::string_view before, std::uint32_t speaker,
           const Place& place);
  // So many of the following lines are to be read, whatever they contain.
  std::uint64_t lines_wanted() const { return lines_wanted_; }
  // Of the processes in nvidia-smi's table: "22914 (python), 7.79 GiB". Empty if it lists none.
  std::string largest_process() const;
  // In the order in which they began, without those that are no series.
  std::vector<Series> finish();

 private:
  // A text of several lines: a table, a dictionary that was printed with an entry per line.
  struct Block {
    std::string text, before;
    Place place;
    std::uint16_t lines = 0, lines_max = 0;
  };
  using Key = std::pair<std::string, std::uint32_t>;  // Its name, its speaker.

  bool take_process(std::string_view text);
  bool take_row(std::string_view text, std::uint32_t speaker, const Place& place);
  bool take_printed(std::string_view text, std::uint32_t speaker, const Place& place);
  void add_whole(const Sentence& sentence, std::string_view text, std::string_view before, std::uint32_t speaker,
                 const Place& place);
  void close(std::uint32_t speaker);
  Series* series_of(std::string name, std::uint32_t speaker, std::optional<std::uint32_t> device);
  void add_sample(Series& series, StatusSample sample, std::string_view folded);

  std::map<std::uint32_t, Block> blocks_;
  std::map<Key, std::size_t> numbers_;
  std::vector<Series> all_;
  std::uint64_t lines_wanted_ = 0;
  std::uint64_t rows_until_ = 0;      // Up to this line there may be rows of nvidia-smi.
  std::vector<std::string> columns_;  // Of nvidia-smi's lists.
  std::uint32_t row_device_ = 0;      // Of its table.
  std::string process_;               // The largest in it.
  std::uint64_t process_bytes_ = 0;
};

}  // namespace hbmscope::log
