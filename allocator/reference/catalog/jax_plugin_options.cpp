#include "allocator/reference/catalog/jax_plugin_options.h"

#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace hbmscope::allocator {
namespace {

using Refusal = tl::unexpected<std::string>;

constexpr std::array<JaxlibRules, 5> rules_by_version = {{
    {"0.4.30", false, false, false, false},
    {"0.5.3", true, false, false, false},
    {"0.7.1", true, false, false, true},
    {"0.10.0", true, true, false, true},
    {"0.11.0", true, true, true, true},
}};

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// The part of a text that int() and float() parse: without surrounding white space and without single underscores
// between digits. No value if there is an underscore elsewhere.
std::optional<std::string> digits_of(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  const auto is_digit_at = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  std::string digits;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '_')
      digits += text[at];
    else if (at == 0 || !is_digit_at(at - 1) || !is_digit_at(at + 1))
      return {};
  }
  return digits;
}

// As Python's repr() quotes a text: in double quotes if it contains single ones.
std::string python_text(std::string_view text) {
  const bool has_single = text.find('\'') != text.npos, has_double = text.find('"') != text.npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string shown(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') shown += '\\';
    if (c == '\n')
      shown += "\\n";
    else if (c == '\t')
      shown += "\\t";
    else
      shown += c;
  }
  return shown + quote;
}

tl::expected<double, std::string> python_float(std::string_view text) {
  const auto fault = [&] { return Refusal("could not convert string to float: " + python_text(text)); };
  auto digits = digits_of(text);
  if (!digits || digits->empty()) return fault();
  std::string_view rest = *digits;
  const bool is_negative = rest.front() == '-';
  if (is_negative || rest.front() == '+') rest.remove_prefix(1);
  // from_chars accepts another sign and "nan(...)", which float() does not.
  if (rest.empty() || rest.front() == '-' || rest.find('(') != rest.npos) return fault();
  double value = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (parsed.ptr != rest.data() + rest.size() || parsed.ec == std::errc::invalid_argument) return fault();
  if (parsed.ec == std::errc::result_out_of_range) {
    // Too large or too small, depending on the exponent.
    const std::size_t e = rest.find_first_of("eE");
    value = e != rest.npos && rest.substr(e + 1).starts_with('-') ? 0 : std::numeric_limits<double>::infinity();
  }
  return is_negative ? -value : value;
}

tl::expected<std::int64_t, std::string> python_int(std::string_view text) {
  const auto fault = [&] { return Refusal("invalid literal for int() with base 10: " + python_text(text)); };
  const auto digits = digits_of(text);
  if (!digits || digits->empty()) return fault();
  std::string_view rest = *digits;
  if (rest.front() == '+') rest.remove_prefix(1);
  if (rest.starts_with('-') && digits->front() == '+') return fault();
  std::int64_t value = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (rest.empty() || parsed.ptr != rest.data() + rest.size() || parsed.ec == std::errc::invalid_argument)
    return fault();
  if (parsed.ec == std::errc::result_out_of_range) return Refusal(fmt::format("{} is beyond 64 bits", text));
  return value;
}

std::string allocator_fault(const std::string& allocator, const JaxlibRules& rules) {
  if (rules.has_address)
    return fmt::format(
        "XLA_PYTHON_CLIENT_ALLOCATOR env var must be one of \"default\", \"platform\", \"bfc\", \"cuda_async\", "
        "\"vmm\", "
        "\"address\", got \"{}\"",
        allocator);
  return fmt::format("XLA_PYTHON_CLIENT_ALLOCATOR env var must be \"default\", \"platform\", \"bfc\", {}, got \"{}\"",
                     rules.has_vmm ? "\"cuda_async\", or \"vmm\"" : "or \"cuda_async\"", allocator);
}

bool is_known(const std::string& allocator, const JaxlibRules& rules) {
  return allocator == "default" || allocator == "platform" || allocator == "bfc" || allocator == "cuda_async" ||
         (allocator == "vmm" && rules.has_vmm) || (allocator == "address" && rules.has_address);
}

tl::expected<std::string, std::string> fraction_text(std::span<const Setting> settings, const JaxlibRules& rules) {
  const std::string older(find_setting(settings, "XLA_PYTHON_CLIENT_MEM_FRACTION").value_or(""));
  if (!rules.has_client_mem_fraction) return older;
  const std::string fraction(find_setting(settings, "XLA_CLIENT_MEM_FRACTION").value_or(""));
  if (!fraction.empty() && !older.empty())
    return Refusal(
        "XLA_CLIENT_MEM_FRACTION is specified together with XLA_PYTHON_CLIENT_MEM_FRACTION. Remove the latter one, it "
        "is deprecated.");
  return older.empty() ? fraction : older;
}

}  // namespace

std::span<const JaxlibRules> all_jaxlib_rules() {
  return rules_by_version;
}

std::optional<std::string_view> find_setting(std::span<const Setting> settings, std::string_view name) {
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting)
    if (setting->name == name) return setting->value;
  return {};
}

tl::expected<PluginOptions, std::string> plugin_options(std::span<const Setting> settings, const JaxlibRules& rules) {
  PluginOptions options;
  options.allocator = find_setting(settings, "XLA_PYTHON_CLIENT_ALLOCATOR").value_or("default");
  for (char& c : options.allocator) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto fraction = fraction_text(settings, rules);
  if (!fraction) return Refusal(fraction.error());
  if (!is_known(options.allocator, rules)) return Refusal(allocator_fault(options.allocator, rules));
  if (!fraction->empty()) {
    const auto value = python_float(*fraction);
    if (!value) return Refusal(value.error());
    options.memory_fraction = *value;
  }
  const std::string_view preallocate = find_setting(settings, "XLA_PYTHON_CLIENT_PREALLOCATE").value_or("");
  if (!preallocate.empty())
    options.preallocate = preallocate != "false" && preallocate != "False" && preallocate != "0";
  const auto collective = find_setting(settings, "XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB").value_or("");
  if (!collective.empty()) {
    const auto mib = python_int(collective);
    if (!mib) return Refusal(mib.error());
    if (*mib > (std::int64_t{1} << 42) || *mib < -(std::int64_t{1} << 42))
      return Refusal(fmt::format("{} MiB are beyond 64 bits", *mib));
    options.collective_memory_bytes = *mib * (std::int64_t{1} << 20);
  }
  if (!rules.has_collective_abort) return options;
  const auto take_switch = [&](std::string_view name, std::optional<bool>& to) -> std::optional<std::string> {
    const auto number = python_int(find_setting(settings, name).value_or("0"));
    if (!number) return number.error();
    to = *number != 0;
    return {};
  };
  if (const auto fault =
          take_switch("XLA_PYTHON_CLIENT_ABORT_COLLECTIVES_ON_FAILURE", options.abort_collectives_on_failure))
    return Refusal(*fault);
  if (const auto fault = take_switch("XLA_PYTHON_CLIENT_USE_TFRT_GPU_CLIENT", options.use_tfrt_gpu_client))
    return Refusal(*fault);
  return options;
}

}  // namespace hbmscope::allocator
