// The names of C++ functions contain all their arguments and template arguments: four hundred characters where forty
// identify the function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hbmscope {

constexpr std::size_t short_name_max = 80;

// Returns names of up to short_name_max characters unmodified. In longer ones, the contents of brackets become "...":
// "at::detail::empty_cuda(...)", "c10::impl::wrap_kernel_functor_unboxed_<...>::call(...)". For display only: two
// functions may get the same name.
std::string short_name_of_function(std::string_view name);

// "foo::bar(int, (anonymous namespace)::X)" -> "foo::bar", as pprof does before matching drop_frames.
std::string_view without_arguments(std::string_view name);

}  // namespace hbmscope
