#include "analysis/answers/top.h"
#include "analysis/document/csv.h"
#include "analysis/document/text.h"
#include "analysis/write/write.h"

namespace hbmscope {

std::string write_csv(const ProfileView& view) {
  return csv_from_table(describe_top(view, shared(compute_top(view)), whole_of(view)));
}

}  // namespace hbmscope
