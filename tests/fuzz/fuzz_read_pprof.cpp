// Any bytes for the reader. If both it and protobuf accept them, the profile must be the same in every field, and
// queries on it must survive any oddities.

#include "analysis/query/groups.h"
#include "analysis/query/top.h"
#include "analysis/read/pprof/read_pprof.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/profiles/oracle.h"

namespace {

using namespace hbmscope;

Weight sum_of(const std::vector<GroupRow>& rows) {
  Weight sum;
  for (const GroupRow& row : rows) sum += row.weight;
  return sum;
}

void ask_queries(Profile profile) {
  const auto view = make_view(std::make_shared<const Profile>(std::move(profile)), {});
  if (!view) {  // A profile's own drop_frames may be an invalid regular expression.
    require(!view.error().what.empty() && !view.error().remedy.empty(), "an error without help");
    return;
  }
  Weight flat;
  for (const TopRow& row : compute_top(*view)) flat += row.flat;
  require(sum_of(compute_groups(*view, "device")) == view->total, "devices do not add up to the total");
  require(sum_of(compute_groups(*view, "kind")) == view->total, "kinds do not add up to the total");
}

}  // namespace

FUZZ_TARGET(fuzz_read_pprof, data, size) {
  ReadOptions options;
  options.max_inflated_bytes = std::uint64_t{4} << 20;
  options.threads = size % 2 == 0 ? 1 : 2;
  auto profile = read_pprof_bytes({data, size}, "fuzz", options);
  if (!profile) {
    require(!profile.error().what.empty() && profile.error().file == "fuzz", "an error without words or file");
    return 0;
  }
  const auto message = test::inflate_with_zlib({reinterpret_cast<const char*>(data), size});
  if (message && test::oracle_accepts(*message))
    for (const std::string& difference : test::compare_with_oracle(*message, *profile)) require(false, difference);
  ask_queries(std::move(*profile));
  return 0;
}
