// Exports of a profile as seen through a view. Each returns the whole file as text or bytes; writing it to disk is the
// caller's business. Texts that are not UTF-8 come out with replacement signs, but for pprof, which keeps the bytes.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/profile_view.h"

namespace hbmscope {

enum class ExportFormat { pprof, folded, svg, csv, json, html };
Result<ExportFormat> parse_export_format(std::string_view name);

std::string write_profile(const ProfileView& view, ExportFormat format);
std::string write_json(const ProfileView& view, const nlohmann::ordered_json& more);  // `more`: keys to add or replace.

// Gzipped. What the view leaves out, samples and frames, is not in it.
std::string write_pprof(const ProfileView& view);
// "outer;inner 4096", one stack a line: flamegraph.pl, speedscope, inferno.
std::string write_folded(const ProfileView& view);
std::string write_svg(const ProfileView& view);   // a flame graph with a tooltip a box, no script
std::string write_csv(const ProfileView& view);   // the top table, RFC 4180
std::string write_html(const ProfileView& view);  // summary, top and flame graph in one page that needs nothing else

}  // namespace hbmscope
