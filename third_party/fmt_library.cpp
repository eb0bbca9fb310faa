// The functions of libfmt as an archive, since Debian has only a shared library. fmt's headers can contain all of it
// (FMT_HEADER_ONLY), and the compiler keeps their inline functions (-fkeep-inline-functions).
#define FMT_HEADER_ONLY 1
#include <locale>

#include <fmt/chrono.h>
#include <fmt/format.h>

template std::locale fmt::detail::locale_ref::get<std::locale>() const;
template fmt::detail::locale_ref::locale_ref(const std::locale&);
