#include "analysis/query/short_name.h"

#include <gtest/gtest.h>

namespace hbmscope {
namespace {

// Long enough to be made shorter.
std::string long_name(const std::string& name) {
  return name + std::string(short_name_max, '_');
}
std::string short_name(const std::string& name) {
  const std::string text = short_name_of_function(long_name(name));
  return text.substr(0, text.find("____"));
}

TEST(ShortName, of_a_function_of_cpp_has_no_arguments) {
  EXPECT_EQ(short_name_of_function("at::detail::empty_cuda(c10::ArrayRef<long>, std::optional<c10::ScalarType>, "
                                   "std::optional<c10::Device>) const"),
            "at::detail::empty_cuda(...) const");
  EXPECT_EQ(
      short_name_of_function("c10::impl::wrap_kernel_functor_unboxed_<c10::impl::detail::WrapFunctionIntoFunctor_<"
                             "c10::CompileTimeFunctionPointer<at::Tensor (at::Tensor const&)> > >::call(int)"),
      "c10::impl::wrap_kernel_functor_unboxed_<...>::call(...)");
  EXPECT_EQ(short_name("at::(anonymous namespace)::create_out()"), "at::(anonymous namespace)::create_out()");
}

TEST(ShortName, what_is_short_or_no_name_of_cpp_stays) {
  EXPECT_EQ(short_name_of_function("f(int)"), "f(int)");
  EXPECT_EQ(short_name_of_function(std::string(300, 'x')), std::string(300, 'x'));
  EXPECT_EQ(short_name("never_closed(int, a<b"), "never_closed(int, a<b");
  EXPECT_EQ(short_name("<module>"), "<...>") << "Python's own are short";
}

TEST(ShortName, operators_keep_their_signs) {
  EXPECT_EQ(short_name("a::operator()(int)"), "a::operator()(...)");
  EXPECT_EQ(short_name("a::operator<<(std::ostream&)"), "a::operator<<(...)");
  EXPECT_EQ(short_name("a::operator->() const"), "a::operator->() const");
  EXPECT_EQ(short_name("f<&T::operator->, 2>(int)"), "f<...>(...)");
}

}  // namespace
}  // namespace hbmscope
