// Names of C++ functions have all their arguments in them, and those of their templates: four hundred letters where
// forty are enough to recognise the function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hbmscope {

constexpr std::size_t short_name_max = 80;

// A name of up to short_name_max letters as it is; of a longer one what stands in brackets becomes "...":
// "at::detail::empty_cuda(...)", "c10::impl::wrap_kernel_functor_unboxed_<...>::call(...)". For people only: two
// functions may be called alike then.
std::string short_name_of_function(std::string_view name);

// "foo::bar(int, (anonymous namespace)::X)" -> "foo::bar", as pprof does before it compares with drop_frames.
std::string_view without_arguments(std::string_view name);

}  // namespace hbmscope
