#include "app/cli/export/export_viewer.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "analysis/read/file_bytes.h"
#include "analysis/units/format.h"
#include "analysis/write/compress_gzip.h"
#include "analysis/document/html.h"
#include "app/cli/load.h"
#include "app/cli/export/output_file.h"
#include "app/cli/dry_run/program_files.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

// Chromium's longest string has 512 MiB (V8, String::kMaxLength).
constexpr std::uint64_t max_page_bytes = std::uint64_t{500} << 20;
// Where the files belong in the page (app/web/page.html).
constexpr std::string_view place_of_files = "<!-- files -->";

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? std::uint32_t{static_cast<std::uint8_t>(bytes[at])} : 0;
  };
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t three = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    for (std::size_t digit = 0; digit < 4; ++digit)
      text += at + digit > bytes.size() ? '=' : digits[three >> (18 - 6 * digit) & 63];
  }
  return text;
}

Result<std::string> read_text(const std::string& file) {
  const auto bytes = read_file(file, std::uint64_t{4} << 30);
  if (!bytes) return Failure(bytes.error());
  return std::string(reinterpret_cast<const char*>(bytes->bytes().data()), bytes->bytes().size());
}

// As page.html reads it: gzip, in base64.
Result<std::string> element_of(const std::string& file) {
  const auto bytes = read_text(file);
  if (!bytes) return bytes;
  return fmt::format("<script type=\"application/octet-stream\" data-name=\"{}\">{}</script>\n",
                     xml_escaped(std::filesystem::path(file).filename().string()), base64(compress_gzip(*bytes)));
}

Result<std::string> page_with(const std::vector<std::string>& files) {
  const auto viewer = find_viewer_page();
  if (!viewer)
    return Failure(
        refusal("the page for browsers is not installed with this program",
                "make web, in hbmscope's sources, makes it; make wheel and make deb then include it. Without "
                "--viewer a report is written."));
  auto page = read_text(viewer->string());
  if (!page) return page;
  const std::size_t place = page->find(place_of_files);
  if (place == std::string::npos)
    return Failure(refusal("the page for browsers is of another version", "Run make web again.", viewer->string()));
  std::string elements;
  for (const std::string& file : files) {
    const auto element = element_of(file);
    if (!element) return element;
    elements += *element;
  }
  return page->replace(place, place_of_files.size(), elements);
}

}  // namespace

int run_viewer_export(const ExportOptions& options) {
  if (auto allowed =
          options.used.refuse_all_but({"--to", "--viewer", "--output", "--max-size"},
                                      "does not apply to --viewer, whose page has everything that the files have");
      !allowed)
    return fail(allowed.error());
  for (const std::string& file : options.files)
    if (std::error_code ignored; file == "-" || std::filesystem::is_directory(file, ignored))
      return fail(
          refusal("a page can hold files, but neither folders nor the standard input", "Name the files.", file));
  // A file that can't be read is an error now, not when someone opens the page.
  for (const std::string& file : options.files)
    if (const auto source = load_merged({file}, load_options(options.view)); !source) return fail(source.error());
  const auto page = page_with(options.files);
  if (!page) return fail(page.error());
  if (page->size() > max_page_bytes)
    return fail(refusal(fmt::format("the page would have {}, more than a browser opens",
                                    text_from_bytes(static_cast<std::int64_t>(page->size()))),
                        "Make recordings of the files first (hbmscope convert), which are smaller."));
  if (options.output.empty()) return print_to_stdout(*page) ? exit_ok : exit_unreadable;
  const auto written = write_output(options.output, *page);
  return written ? exit_ok : fail(written.error());
}

}  // namespace hbmscope::cli
