// The functions of libfmt, which Debian has as a shared library only, for the static program: fmt's headers can be all
// of it (FMT_HEADER_ONLY), and the compiler keeps their inline functions (-fkeep-inline-functions).
#define FMT_HEADER_ONLY 1
#include <locale>

#include <fmt/chrono.h>
#include <fmt/format.h>

template std::locale fmt::detail::locale_ref::get<std::locale>() const;
template fmt::detail::locale_ref::locale_ref(const std::locale&);
