#include "analysis/read/torch/field_reader.h"

#include <cmath>

#include "analysis/read/torch/text_builder.h"

namespace hbmscope::torch {

std::int64_t FieldReader::other_integer(pickle::Value value, std::int64_t absent) {
  if (const auto integer = document_.integer(value); integer && !integer->is_too_wide)
    return static_cast<std::int64_t>(integer->bits);
  // Snapshots converted by JSON or numpy may have integers as floats.
  if (const auto real = document_.real(value); real && std::abs(*real) < 0x1p63 && std::trunc(*real) == *real)
    return static_cast<std::int64_t>(*real);
  if (odd_numbers_++ == 0) first_odd_number_ = python_text(document_, value).substr(0, 100);
  return absent;
}

std::int64_t FieldReader::other_size(pickle::Value value, std::int64_t absent) {
  constexpr auto end = static_cast<double>(TorchSnapshot::size_bytes_max);
  if (const auto integer = document_.integer(value);
      integer && !integer->is_negative && !integer->is_too_wide && integer->bits < TorchSnapshot::size_bytes_max)
    return static_cast<std::int64_t>(integer->bits);
  if (const auto real = document_.real(value); real && *real >= 0 && *real < end && std::trunc(*real) == *real)
    return static_cast<std::int64_t>(*real);
  if (odd_sizes_++ == 0) first_odd_size_ = python_text(document_, value).substr(0, 100);
  return absent;
}

void FieldReader::add_statistics(ImportStatistics& import) const {
  if (odd_numbers_ > 0)
    import.add("odd_numbers", Severity::warning, odd_numbers_,
               "Invalid numbers, or numbers of more than 64 bits, were ignored. A program other than PyTorch wrote "
               "them, or the file is damaged.",
               first_odd_number_);
  if (odd_sizes_ > 0)
    import.add("odd_sizes", Severity::loss, odd_sizes_,
               "Sizes that are negative or larger than any device (2^48 bytes) count as 0 or as missing. A program "
               "other than PyTorch wrote them, or the file is damaged.",
               first_odd_size_);
}

}  // namespace hbmscope::torch
