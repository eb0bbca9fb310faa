// Exports of a profile seen through a view. Each returns the whole file as text or bytes; the caller writes it to disk.
// Bytes that are not UTF-8 become replacement characters, except in pprof, which keeps the bytes.
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

// Gzipped. Without the samples and frames that the view leaves out.
std::string write_pprof(const ProfileView& view);
// "outer;inner 4096", one stack per line: flamegraph.pl, speedscope, inferno.
std::string write_folded(const ProfileView& view);
std::string write_svg(const ProfileView& view);   // a flame graph with one tooltip per box, no script
std::string write_csv(const ProfileView& view);   // the top table, RFC 4180
std::string write_html(const ProfileView& view);  // summary, top and flame graph in one self-contained page

}  // namespace hbmscope
